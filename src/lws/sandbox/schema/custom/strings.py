"""Limits of strings."""

import re
from functools import cache

from lws.sandbox.schema.errors import FieldError, UnsupportedError, invalid, too_long
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
    """Go's syntax in Python's: `$` is the very end, `\\z` too, \\d and its like are ASCII.

    re.error if it is no pattern; UnsupportedError if Go knows it and Python may not.
    """
    text = _ENDS.sub(lambda found: found[1] or r"\Z", pattern)
    for name, members in _POSIX.items():
        text = text.replace(f"[:{name}:]", members)
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        if _GO_ONLY.search(pattern):
            raise UnsupportedError(f"the pattern {pattern!r}") from error
        raise


# What may hold a dollar that is no end (an escape, a class), or an end.
_ENDS = re.compile(r"(\\[^z]|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\$|\\z", re.DOTALL)
_GO_ONLY = re.compile(r"\\[pPQCX]|\(\?[a-zA-Z-]+[:)]|\[\[:")


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
