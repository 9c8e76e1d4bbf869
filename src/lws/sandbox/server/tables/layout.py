"""Columns, cells, and how old something is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.base.times import parse_time
from lws.sandbox.server.kinds import Column

JsonObject = dict[str, Any]
Cells = list[Any]

NONE, UNKNOWN, UNSET = "<none>", "<unknown>", "<unset>"
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400

NAME = Column(
    "Name",
    "string",
    "name",
    description="Name must be unique within a namespace.",
)
AGE = Column(
    "Age",
    description="CreationTimestamp is a timestamp representing the server time when this object"
    " was created.",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a kind, and how an object fills them at a time."""

    columns: tuple[Column, ...]
    cells: Callable[[JsonObject, float], Cells]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table without its objects."""

    columns: tuple[Column, ...]
    cells: Sequence[Cells]


def age_layout() -> Layout:
    """Name and age."""
    return Layout((NAME, AGE), lambda obj, now: [name_of(obj), age_of(obj, now)])


def name_of(obj: Mapping[str, Any]) -> str:
    """The object's name."""
    return str(obj["metadata"].get("name", ""))


def age_of(obj: Mapping[str, Any], now: float) -> str:
    """How long ago the object was made."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def since(time: str | None, now: float) -> str:
    """How long ago a moment was, in one or two units."""
    if not time:
        return UNKNOWN
    try:
        return duration_words(now - parse_time(time))
    except ValueError:
        return UNKNOWN


def duration_words(seconds: float) -> str:
    """As kubectl shows durations: exact when short, coarse when long."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _two_units(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    return _days_words(whole)


def _days_words(whole: int) -> str:
    if whole < 8 * _DAY:
        return _two_units(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two_units(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two_units(whole: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = whole % large // small
    head = f"{whole // large}{large_name}"
    return f"{head}{rest}{small_name}" if rest else head
