"""Limits of strings."""

import re
from functools import cache

from lws.sandbox.schema.errors import FieldError, invalid, too_long
from lws.sandbox.schema.model import Schema


def string_fault(value: str, schema: Schema, *, path: str, name: str) -> FieldError | None:
    """The first of: too long, too short, does not match."""
    if schema.max_length is not None and len(value) > schema.max_length:
        return too_long(name, schema.max_length)
    if schema.min_length is not None and len(value) < schema.min_length:
        message = f"{path} in body should be at least {schema.min_length} chars long"
        return invalid(name, value, message)
    if schema.pattern and not matches(schema.pattern, value):
        return invalid(name, value, f"{path} in body should match '{schema.pattern}'")
    return None


def matches(pattern: str, value: str) -> bool:
    """Does Go's regexp find the pattern in the value?"""
    return compiled(pattern).search(value) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Go's syntax in Python's: `$` is the very end, `\\z` too, \\d and its like are ASCII."""
    text = re.sub(r"(?<!\\)((?:\\\\)*)\$", r"\1\\Z", pattern).replace(r"\z", r"\Z")
    for name, members in _POSIX.items():
        text = text.replace(f"[:{name}:]", members)
    return re.compile(text, re.ASCII)


_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "space": r"\t\n\v\f\r ",
    "xdigit": "0-9A-Fa-f",
    "punct": r"!-/:-@\[-`{-~",
}
