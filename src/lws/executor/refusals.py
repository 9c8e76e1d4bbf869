"""Writes that the API server refuses again and again: not sent anew at every event.

A refused write (an immutable field, quota, an admission plugin) is the same write at the next
pass. It is held back, for longer each time, until it differs or its time has come; meanwhile the
pass is told the same answer. This memory changes no decision, only how often the server is asked.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from lws.base.clock import Clock
from lws.client.errors import ClientError

FIRST_SECONDS = 1.0
LAST_SECONDS = 60.0
"""A freed quota or a repaired webhook is noticed within a minute."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last answer to a write, and the moment (monotonic) from which it may be tried again."""

    digest: int
    error: ClientError
    attempts: int
    not_before: float


class Refusals:
    """By target: what was refused there last."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_target: dict[Hashable, Refusal] = {}

    def standing(self, target: Hashable, digest: int) -> Refusal | None:
        """The refusal that holds this very write back now, if any."""
        refusal = self._by_target.get(target)
        if refusal is None or refusal.digest != digest:
            return None
        return refusal if self._clock.monotonic() < refusal.not_before else None

    def note(self, target: Hashable, digest: int, error: ClientError) -> Refusal:
        """Remember one more refusal."""
        last = self._by_target.get(target)
        attempts = last.attempts + 1 if last is not None and last.digest == digest else 1
        seconds = min(LAST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempts - 1, 10))
        refusal = Refusal(digest, error, attempts, self._clock.monotonic() + seconds)
        self._by_target[target] = refusal
        return refusal

    def forget(self, target: Hashable) -> None:
        """It went through."""
        self._by_target.pop(target, None)

    def seconds_left(self, refusal: Refusal) -> float:
        """Until the write may be tried again."""
        return max(0.0, refusal.not_before - self._clock.monotonic())
