"""Thinks: snapshots in, actions out.

Law: pure. No I/O, no clock, no randomness, no logging; imports only api and base.
"""
