"""What was so in the last seconds."""

from typing import Generic, TypeVar

T = TypeVar("T")
KEPT_SECONDS = 900.0


class Past(Generic[T]):
    """The values of one thing, each with the moment from which on it held."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, T]] = []

    def note(self, now: float, value: T) -> None:
        """So it is from now on."""
        if self._entries and self._entries[-1][1] == value:
            return
        self._entries.append((now, value))
        if len(self._entries) > 2 and self._entries[1][0] < now - KEPT_SECONDS:
            del self._entries[0]

    def since(self, start: float) -> list[T]:
        """Every value that held at some moment from `start` on."""
        later = [value for since, value in self._entries if since > start]
        before = [value for since, value in self._entries if since <= start]
        return before[-1:] + later

    def ever(self) -> list[T]:
        """Every value that is remembered."""
        return [value for _, value in self._entries]
