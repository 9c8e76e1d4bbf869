"""What rules are made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lws.api.quantities import parse_quantity
from lws.sandbox.schema.errors import FieldError, forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import label_value, port_name, port_number, qualified_name
from lws.sandbox.schema.rules.metadata import label_errors

Object = Mapping[str, Any]
Faults = Iterator[FieldError]

NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"


def named(rule: Callable[[str], Sequence[str]], value: str, path: str) -> Faults:
    """Each fault that a rule of names finds."""
    for fault in rule(value):
        yield invalid(path, value, fault)


def not_negative(obj: Object, path: str, *fields: str) -> Faults:
    """Numbers that may be zero."""
    for field in fields:
        if (obj.get(field) or 0) < 0:
            yield invalid(f"{path}.{field}", obj[field], NEGATIVE)


def one_of(value: str | None, supported: tuple[str, ...], path: str) -> Faults:
    """A word that must be there and be one of a few."""
    if not value:
        yield required(path)
    elif value not in supported:
        yield not_supported(path, value, supported)


def needed(obj: Object, path: str, *fields: str) -> Faults:
    """Fields that may not be empty."""
    for field in fields:
        if not obj.get(field):
            yield required(f"{path}.{field}")


def unchanged(new: Object, old: Object, *fields: str, prefix: str = "") -> Faults:
    """Fields that an update may not change."""
    for field in fields:
        if (new.get(field) or None) != (old.get(field) or None):
            yield invalid(f"{prefix}{field}", new.get(field), IMMUTABLE)


def port(value: int | str, path: str) -> Faults:
    """A number or a name."""
    for fault in port_name(value) if isinstance(value, str) else port_number(value):
        yield invalid(path, value, fault)


def selector(value: Object | None, path: str) -> Faults:
    """A label selector."""
    if value is None:
        return
    yield from label_errors(value.get("matchLabels"), f"{path}.matchLabels")
    for index, one in enumerate(value.get("matchExpressions") or ()):
        yield from _requirement(one, f"{path}.matchExpressions[{index}]")


def _requirement(one: Object, path: str) -> Faults:
    values = one.get("values") or []
    match one.get("operator"):
        case "In" | "NotIn":
            if not values:
                yield required(
                    f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"
                )
        case "Exists" | "DoesNotExist":
            if values:
                yield forbidden(
                    f"{path}.values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                )
        case other:
            yield invalid(f"{path}.operator", other or "", "not a valid selector operator")
    yield from named(qualified_name, one.get("key") or "", f"{path}.key")
    for index, value in enumerate(values):
        yield from named(label_value, value, f"{path}.values[{index}]")


def selects(wanted: Object, labels: Mapping[str, str]) -> bool:
    """Does the selector take an object with the labels? An empty one takes all."""
    pairs = (wanted.get("matchLabels") or {}).items()
    if any(labels.get(key) != value for key, value in pairs):
        return False
    return all(_meets(one, labels) for one in wanted.get("matchExpressions") or ())


def _meets(one: Object, labels: Mapping[str, str]) -> bool:
    key, values = one.get("key") or "", one.get("values") or []
    match one.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def is_below(amount: str, limit: str = "0") -> bool:
    """Is one quantity less than another?"""
    return parse_quantity(amount) < parse_quantity(limit)
