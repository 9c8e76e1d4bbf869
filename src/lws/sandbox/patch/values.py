"""JSON values: equality as JSON has it, and how the API server prints them in messages."""

import json
import re
from typing import Any, Final

Json = Any


class Missing:
    """The type of MISSING."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""Not there; None is a null that is there."""


def same(left: Json, right: Json) -> bool:
    """Equality where a number is no boolean; 1 and 1.0 are one number."""
    if left is right:
        return True
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[name]) for name, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def identical(left: Json, right: Json) -> bool:
    """Equality of two texts of JSON, but for order and blanks: 1 and 1.0 differ."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(identical(value, right[name]) for name, value in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list) and len(left) == len(right) and all(map(identical, left, right))
        )
    return type(left) is type(right) and bool(left == right)


_TYPE_NAMES: Final = {
    "dict": "map[string]interface {}",
    "list": "[]interface {}",
    "str": "string",
    "bool": "bool",
    "int": "int64",
    "float": "float64",
    "NoneType": "%!s(<nil>)",
}


def type_name(value: Json) -> str:
    """The server's name of a decoded value's type."""
    return _TYPE_NAMES[type(value).__name__]


def json_kind(value: Json) -> str:
    """What a decoder calls the value: object, array, string, number, bool."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return {"dict": "object", "list": "array", "str": "string"}[type(value).__name__]


def plain(value: Json) -> str:
    """The value as the server's messages print it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{plain(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value)
    return str(value)


def spelled(value: Json) -> str:
    """The value where the server's message expects a text."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{_inside(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_inside, value))}]"
    if isinstance(value, str):
        return value
    return "%!s(<nil>)" if value is None else f"%!s({type_name(value)}={plain(value)})"


def _inside(value: Json) -> str:
    return "<nil>" if value is None else spelled(value)


def number(value: float) -> str:
    """The shortest text of a number; an exponent below 1e-4 and from 1e21 on."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text if abs(value) >= 1e-4 else _exponent(value)
    return _exponent(value)


def _exponent(value: float) -> str:
    digits, _, power = repr(value).partition("e")
    if not power:
        digits, _, power = f"{value:.17e}".partition("e")
        digits = f"{float(digits):g}"
    sign = "-" if power.startswith("-") else "+"
    return f"{digits.removesuffix('.0')}e{sign}{power.lstrip('+-').zfill(2)}"


_PLAIN_TEXT = re.compile(r'[^"\\\x00-\x1f\x7f-\U0010ffff]*')


def quoted(text: str) -> str:
    """The text in double quotes, as messages have it."""
    if _PLAIN_TEXT.fullmatch(text):
        return f'"{text}"'
    escaped = json.dumps(text, ensure_ascii=False)
    return escaped.replace("\\b", "\\b").replace("\x7f", "\\x7f")


def shown(value: Json) -> str:
    """A key's value in a field path: a text in quotes, all else plain."""
    if value is None:
        return "null"
    return quoted(value) if isinstance(value, str) else plain(value)
