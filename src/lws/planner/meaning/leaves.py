"""The normal form of a single value: a string that no value of another meaning has."""

from __future__ import annotations

import json

from lws.api.quantities import parse_quantity
from lws.base.times import parse_time


def leaf(value: object, kind: str) -> str:
    """JSON, but for amounts and moments, which have many spellings in JSON."""
    if kind == "quantity" and isinstance(value, str | int | float):
        return _amount(value)
    if kind in ("time", "microtime") and isinstance(value, str):
        return _moment(value)
    return _json(value)


def is_zero(form: str, kind: str) -> bool:
    """Whether it is what Go has in a field of this kind that nobody set."""
    if kind == "quantity":
        return form == "quantity 0"
    if kind == "string":
        return form == '""'
    return kind in ("bool", "int32", "int64", "intorstring") and form in ("0", "false")


def zero(kind: str) -> str:
    """The normal form of null in a list or a map, which Go reads as zero."""
    zeroes = {"quantity": "quantity 0", "string": '""', "bool": "false", "time": "null"}
    return zeroes.get(kind, "0")


def _amount(value: str | float) -> str:
    try:
        return f"quantity {parse_quantity(value)}"
    except ValueError:
        return _json(value)


def _moment(value: str) -> str:
    try:
        return f"moment {parse_time(value)}"
    except ValueError:
        return _json(value)


def _json(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
