"""Writes that the API server refuses again and again: not sent anew at every event.

A refused write (an immutable field, quota, an admission plugin) is the same write at the next
pass. It is held back, for longer each time, until it differs or its time has come; meanwhile the
pass is told the same answer. This memory changes no decision, only how often the server is asked.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice

from lws.base.clock import Clock
from lws.client.errors import ClientError

FIRST_SECONDS = 1.0
LAST_SECONDS = 60.0
"""A freed quota or a repaired webhook is noticed within a minute."""
FORGOTTEN_SECONDS = 600.0
"""Who still wants a refused write has tried it again by then; the others have gone."""
BODIES_MAX = 64
"""Of one target: more partitions than an update that cannot begin goes through."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last answer to a write, and the moment (monotonic) from which it may be tried again."""

    digest: int
    error: ClientError
    attempts: int
    not_before: float


class Refusals:
    """By target: what was refused there, and how often.

    Several bodies can take turns: while a group flaps, so does the partition that a refused update
    would be applied with. Each waits by itself; a body that was never refused is sent at once,
    since it may be the user's repair.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_target: dict[Hashable, dict[int, Refusal]] = {}

    def __len__(self) -> int:
        """How many targets are remembered."""
        return len(self._by_target)

    def standing(self, target: Hashable, digest: int) -> Refusal | None:
        """The refusal that holds this very write back now, if any."""
        refusal = self._by_target.get(target, {}).get(digest)
        if refusal is None:
            return None
        return refusal if self._clock.monotonic() < refusal.not_before else None

    def note(self, target: Hashable, digest: int, error: ClientError) -> Refusal:
        """Remember one more refusal."""
        known = self._by_target.pop(target, {})
        self._by_target[target] = known  # at the end: the first is the one not noted for longest
        last = known.pop(digest, None)
        attempts = 1 if last is None else last.attempts + 1
        seconds = min(LAST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempts - 1, 10))
        refusal = Refusal(digest, error, attempts, self._clock.monotonic() + seconds)
        known[digest] = refusal  # at the end: the longest not seen is the first to be forgotten
        if len(known) > BODIES_MAX:
            del known[next(iter(known))]
        self._forget_old()
        return refusal

    def _forget_old(self) -> None:
        now = self._clock.monotonic()
        for target, known in list(islice(self._by_target.items(), 2)):
            if all(now - one.not_before >= FORGOTTEN_SECONDS for one in known.values()):
                del self._by_target[target]

    def forget(self, target: Hashable) -> None:
        """A write went through: whatever was wrong there may be right now."""
        self._by_target.pop(target, None)

    def seconds_left(self, refusal: Refusal) -> float:
        """Until the write may be tried again."""
        return max(0.0, refusal.not_before - self._clock.monotonic())
