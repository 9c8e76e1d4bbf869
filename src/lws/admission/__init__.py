"""Defaulting, validation and pod mutation, and the JSON Patch that says so.

Law: pure; objects in, objects and errors out.
"""
