"""What functions that fill in defaults are made of."""

from collections.abc import Callable, Mapping
from typing import Any

from lws.api.quantities import canonical_quantity, format_quantity, parse_quantity

JsonObject = dict[str, Any]
Setter = Callable[[JsonObject], None]

CORE = "io.k8s.api.core.v1."


def fill(obj: JsonObject, **values: Any) -> None:
    """Set the fields that are not there."""
    for name, value in values.items():
        obj.setdefault(name, value)


def filler(**values: str | int | bool) -> Setter:
    """A function that fills in scalars."""

    def set_defaults(obj: JsonObject) -> None:
        for name, value in values.items():
            if not obj.get(name) and not isinstance(obj.get(name), bool):
                obj[name] = value

    return set_defaults


def absent_filler(**values: str | int | bool) -> Setter:
    """A function that fills in scalars that Go holds by pointer: zero and empty are values."""

    def set_defaults(obj: JsonObject) -> None:
        for name, value in values.items():
            if obj.get(name) is None:
                obj[name] = value

    return set_defaults


def rounded_amounts(amounts: Mapping[str, str]) -> dict[str, str]:
    """Resource amounts to a thousandth, upwards; finer ones are not kept."""
    return {name: _rounded(amount) for name, amount in amounts.items()}


def _rounded(amount: str) -> str:
    if amount[-1:] not in ("n", "u") and "." not in amount and "-" not in amount:
        return amount
    thousandths = parse_quantity(amount) * 1000
    if thousandths.denominator == 1:
        return canonical_quantity(amount)
    whole = -(-thousandths.numerator // thousandths.denominator)
    return format_quantity((thousandths * 0 + whole) / 1000)


def amounts_rounder(*fields: str) -> Setter:
    """A function that rounds the amounts of some fields."""

    def set_defaults(obj: JsonObject) -> None:
        for name in fields:
            if obj.get(name):
                obj[name] = rounded_amounts(obj[name])

    return set_defaults
