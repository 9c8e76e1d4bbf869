"""Quantities that are counted together, and how the sum is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from lws.api.quantities import format_quantity, parse_quantity

_NANOS = 10**9  # no quantity is finer


class Amount(NamedTuple):
    """A quantity in billionths; `is_binary` says with which suffixes it is written."""

    nanos: int
    is_binary: bool = False

    def plus(self, other: Amount) -> Amount:
        """The sum, written as the first, unless that is nothing."""
        return Amount(self.nanos + other.nanos, (self if self.nanos else other).is_binary)

    def minus(self, other: Amount) -> Amount:
        """The difference, written as the first."""
        return Amount(self.nanos - other.nanos, self.is_binary)

    def __str__(self) -> str:
        """As the server writes it."""
        return format_quantity(Fraction(self.nanos, _NANOS), binary=self.is_binary)


Amounts = Mapping[str, Amount]
"""By the name of a resource."""

NOTHING = Amount(0)
ONE = Amount(_NANOS)


def whole(number: int) -> Amount:
    """So many things."""
    return Amount(number * _NANOS)


@lru_cache(maxsize=4096)
def amount(text: str) -> Amount:
    """What is written; nothing, if that is no quantity."""
    try:
        return Amount(int(parse_quantity(text) * _NANOS), text.endswith("i"))
    except ValueError:
        return NOTHING


def amounts(written: Mapping[str, Any] | None) -> dict[str, Amount]:
    """What a list of resources says."""
    return {name: amount(str(value)) for name, value in (written or {}).items()}


def total(parts: Iterable[Amounts]) -> dict[str, Amount]:
    """All together."""
    together: dict[str, Amount] = {}
    for part in parts:
        for name, value in part.items():
            together[name] = together[name].plus(value) if name in together else value
    return together


def most(parts: Iterable[Amounts]) -> dict[str, Amount]:
    """Of each resource the most that one part has."""
    largest: dict[str, Amount] = {}
    for part in parts:
        for name, value in part.items():
            if name not in largest or largest[name].nanos < value.nanos:
                largest[name] = value
    return largest
