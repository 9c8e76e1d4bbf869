"""Plain JSON as it comes over the wire: nothing about it is certain, so every read says what it
takes a wrong type for."""

from typing import Any

JsonObject = dict[str, Any]


def child(parent: object, key: str) -> JsonObject:
    """The object under `key`; an empty one if there is none or it is something else."""
    value = parent.get(key) if isinstance(parent, dict) else None
    return value if isinstance(value, dict) else {}


def items(parent: object, key: str) -> list[Any]:
    """The list under `key`; an empty one if there is none or it is something else."""
    value = parent.get(key) if isinstance(parent, dict) else None
    return value if isinstance(value, list) else []


def text(parent: object, key: str) -> str:
    """The string under `key`; empty if there is none or it is something else."""
    value = parent.get(key) if isinstance(parent, dict) else None
    return value if isinstance(value, str) else ""


def is_being_deleted(document: object) -> bool:
    """Whether only finalizers keep the object."""
    return bool(text(child(document, "metadata"), "deletionTimestamp"))


def integer(digits: str) -> int | None:
    """The number that an annotation or a label spells; None for anything but its digits."""
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_MAX:
        return int(digits)
    return None


# An int32 has ten at most; Python itself refuses to read thousands of them.
_DIGITS_MAX = 10
