"""Figures, with their method. Nothing here is a test, and nothing fails on a time."""
