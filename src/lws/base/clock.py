"""Time and chance, as every layer asks for them."""

from typing import Protocol


class Clock(Protocol):
    """Time and chance from outside, so that a test or a simulation can own both."""

    def now(self) -> float:
        """Wall time, seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass; zero or less only gives other tasks a turn."""
        ...

    def random(self) -> float:
        """A number in [0, 1)."""
        ...
