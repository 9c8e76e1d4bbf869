"""What validation answers."""

import json
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """`status.details.causes[].reason` of the answer: what is wrong with a field."""

    INVALID = "FieldValueInvalid"
    REQUIRED = "FieldValueRequired"
    FORBIDDEN = "FieldValueForbidden"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    WRONG_TYPE = "FieldValueTypeInvalid"


_HEADINGS = {
    Cause.INVALID: "Invalid value",
    Cause.REQUIRED: "Required value",
    Cause.FORBIDDEN: "Forbidden",
    Cause.NOT_SUPPORTED: "Unsupported value",
    Cause.DUPLICATE: "Duplicate value",
    Cause.WRONG_TYPE: "Invalid value",
}
_WITHOUT_VALUE = frozenset({Cause.REQUIRED, Cause.FORBIDDEN})
# The API server cuts a warning after 256 characters; a value is quoted only to be recognised.
_VALUE_LENGTH_MAX = 60


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong, and what to do about it."""

    path: str
    value: object
    kind: Cause
    message: str

    @property
    def explanation(self) -> str:
        """All but the path: `Invalid value: -1: must be …`."""
        heading = _HEADINGS[self.kind]
        if self.kind in _WITHOUT_VALUE:
            return f"{heading}: {self.message}"
        return f"{heading}: {_quoted(self.value)}: {self.message}"

    def __str__(self) -> str:
        return f"{self.path}: {self.explanation}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that is wrong with an object, and everything worth telling."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_allowed(self) -> bool:
        """Whether the object may be stored."""
        return not self.errors


def _quoted(value: object) -> str:
    quoted = json.dumps(value, default=str, ensure_ascii=False)
    if len(quoted) <= _VALUE_LENGTH_MAX:
        return quoted
    ending = '…"' if isinstance(value, str) else "…"
    return quoted[:_VALUE_LENGTH_MAX] + ending
