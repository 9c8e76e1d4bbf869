"""Limits of numbers."""

from fractions import Fraction

from lws.sandbox.schema.errors import FieldError, invalid
from lws.sandbox.schema.model import Schema

Number = int | float


def number_faults(value: Number, schema: Schema, *, path: str, name: str) -> list[FieldError]:
    """Range of the format, multiple, minimum, maximum."""
    faults = _range_faults(value, schema, path)
    faults += _multiple_faults(value, schema.multiple_of, path=path, name=name)
    low, high = _as(value, schema.minimum), _as(value, schema.maximum)
    if low is not None and _is_below(value, low, schema.exclusive_minimum):
        word = "greater than" if schema.exclusive_minimum else "greater than or equal to"
        faults.append(invalid(name, value, f"{path} in body should be {word} {_shown(low)}"))
    if high is not None and _is_below(high, value, schema.exclusive_maximum):
        word = "less than" if schema.exclusive_maximum else "less than or equal to"
        faults.append(invalid(name, value, f"{path} in body should be {word} {_shown(high)}"))
    return faults


def _as(value: Number, limit: Number | None) -> Number | None:
    """The limit in the value's own type: an integer is compared with the limit's whole part."""
    return int(limit) if limit is not None and isinstance(value, int) else limit


def _multiple_faults(
    value: Number, declared: Number | None, *, path: str, name: str
) -> list[FieldError]:
    factor = _as(value, declared)
    if factor is None:
        return []
    if factor <= 0:
        words = f"factor MultipleOf declared for {path} must be positive: {_shown(factor)}"
        return [invalid(name, factor, words)]
    if _is_multiple(value, factor):
        return []
    return [invalid(name, value, f"{path} in body should be a multiple of {_shown(factor)}")]


def _is_below(value: Number, limit: Number, is_exclusive: bool) -> bool:
    return value <= limit if is_exclusive else value < limit


def _is_multiple(value: Number, factor: Number) -> bool:
    return (Fraction(str(value)) / Fraction(str(factor))).denominator == 1


def _shown(limit: Number) -> str:
    is_whole = isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e21
    return str(int(limit)) if is_whole else str(limit)


_BITS = {"int32": 31, "int64": 63}


def _range_faults(value: Number, schema: Schema, path: str) -> list[FieldError]:
    if schema.type != "integer" or schema.int_or_string:
        return []
    bits = _BITS.get(schema.format, 63)
    is_whole = isinstance(value, int) or value.is_integer()
    if is_whole and -(2**bits) <= value < 2**bits:
        return []
    form = f"with format {schema.format}" if schema.format in _BITS else "(default format)"
    message = f"Checked value must be of type integer {form} in {path}"
    return [invalid("<nil>", "", message)]
