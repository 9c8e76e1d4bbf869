"""What is wrong with an object, in the API server's words, and where."""

from dataclasses import dataclass
from typing import Any

import orjson

from lws.base.errors import LwsError

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
TYPE_INVALID = "FieldValueTypeInvalid"
NOT_FOUND = "FieldValueNotFound"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One fault; `message` begins with its kind ("Required value: …") and leaves the path out."""

    field: str
    reason: str
    message: str
    value: Any = None


class DecodeError(LwsError):
    """The body does not fit the kind's types; the server answers 400 with this message."""


class UnsupportedError(LwsError):
    """A real API server knows this, the sandbox does not: 501, naming `what`."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def required(field: str, detail: str = "") -> FieldError:
    """Nothing is there."""
    return FieldError(field, REQUIRED, _with_detail("Required value", detail))


def invalid(field: str, value: object, detail: str = "") -> FieldError:
    """The value is of the right type, and wrong."""
    return FieldError(field, INVALID, _with_detail(f"Invalid value: {shown(value)}", detail), value)


def type_invalid(field: str, value: object, detail: str = "") -> FieldError:
    """The value is of another type."""
    message = _with_detail(f"Invalid value: {shown(value)}", detail)
    return FieldError(field, TYPE_INVALID, message, value)


def not_supported(field: str, value: object, supported: tuple[object, ...]) -> FieldError:
    """The value is none of a few."""
    message = f"Unsupported value: {shown(value)}"
    if supported:
        message += ": supported values: " + ", ".join(shown(one) for one in supported)
    return FieldError(field, NOT_SUPPORTED, message, value)


def duplicate(field: str, value: object, detail: str = "") -> FieldError:
    """The value is there twice."""
    message = _with_detail(f"Duplicate value: {shown(value)}", detail)
    return FieldError(field, DUPLICATE, message, value)


def forbidden(field: str, detail: str) -> FieldError:
    """The field may not be set, or not be changed."""
    return FieldError(field, FORBIDDEN, f"Forbidden: {detail}")


def too_long(field: str, limit: int) -> FieldError:
    """More bytes than allowed; the value is not repeated."""
    unit = "byte" if limit == 1 else "bytes"
    return FieldError(field, TOO_LONG, f"Too long: may not be more than {limit} {unit}")


def too_many(field: str, count: int, limit: int) -> FieldError:
    """More items than allowed."""
    unit = "item" if limit == 1 else "items"
    message = f"Too many: {count}: must have at most {limit} {unit}"
    return FieldError(field, TOO_MANY, message, count)


def not_found(field: str, value: object) -> FieldError:
    """The value names something that is not there."""
    return FieldError(field, NOT_FOUND, f"Not found: {shown(value)}", value)


def shown(value: object) -> str:
    """A value as messages have it: strings quoted, the rest as JSON."""
    if value is None:
        return "null"
    return orjson.dumps(value).decode()


def _with_detail(head: str, detail: str) -> str:
    return f"{head}: {detail}" if detail else head


def omitted_invalid(field: str, detail: str) -> FieldError:
    """The value is wrong, and too large to repeat."""
    return FieldError(field, INVALID, _with_detail("Invalid value", detail))
