"""Limits of numbers."""

from fractions import Fraction

from lws.sandbox.schema.errors import FieldError, invalid
from lws.sandbox.schema.model import Schema

Number = int | float


def number_faults(value: Number, schema: Schema, *, path: str, name: str) -> list[FieldError]:
    """Range of the format, multiple, minimum, maximum."""
    faults = _range_faults(value, schema, path)
    if schema.multiple_of is not None and not _is_multiple(value, schema.multiple_of):
        message = f"{path} in body should be a multiple of {_shown(schema.multiple_of)}"
        faults.append(invalid(name, value, message))
    if schema.minimum is not None and _is_below(value, schema.minimum, schema.exclusive_minimum):
        word = "greater than" if schema.exclusive_minimum else "greater than or equal to"
        faults.append(
            invalid(name, value, f"{path} in body should be {word} {_shown(schema.minimum)}")
        )
    if schema.maximum is not None and _is_below(schema.maximum, value, schema.exclusive_maximum):
        word = "less than" if schema.exclusive_maximum else "less than or equal to"
        faults.append(
            invalid(name, value, f"{path} in body should be {word} {_shown(schema.maximum)}")
        )
    return faults


def _is_below(value: Number, limit: Number, is_exclusive: bool) -> bool:
    return value <= limit if is_exclusive else value < limit


def _is_multiple(value: Number, factor: Number) -> bool:
    return (Fraction(str(value)) / Fraction(str(factor))).denominator == 1


def _shown(limit: Number) -> str:
    is_whole = isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e21
    return str(int(limit)) if is_whole else str(limit)


_BITS = {"int32": 31, "int64": 63}


def _range_faults(value: Number, schema: Schema, path: str) -> list[FieldError]:
    bits = _BITS.get(schema.format)
    if schema.type != "integer" or schema.int_or_string or bits is None:
        return []
    if -(2**bits) <= value < 2**bits:
        return []
    message = f"Checked value must be of type integer with format {schema.format} in {path}"
    return [invalid("<nil>", "", message)]
