"""Chance, in the words of whoever draws."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Draws from one stream of numbers in [0, 1); the same stream, the same draws."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self._draw = draw

    def happens(self, share: float) -> bool:
        """In this share of all cases."""
        return self._draw() < share

    def between(self, low: float, high: float) -> float:
        """Any number from `low` on and below `high`."""
        return low + (high - low) * self._draw()

    def integer(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int(self._draw() * (high - low + 1))

    def one_of(self, things: Sequence[T]) -> T:
        """Each as likely as any other."""
        return things[int(self._draw() * len(things))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Each as often as its weight says."""
        left = self._draw() * sum(weights.values())
        for thing, weight in weights.items():
            left -= weight
            if left < 0:
                return thing
        return next(reversed(list(weights)))
