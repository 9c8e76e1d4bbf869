"""How long a Job waits with the next pod after failures."""

from collections.abc import Iterable
from dataclasses import dataclass

from lws.base.times import parse_time
from lws.sandbox.cluster.objects import status_of
from lws.sandbox.server.verbs import JsonObject

_FIRST, _LAST = 10.0, 600.0


@dataclass(slots=True)
class Backoff:
    """Of one Job: failures in a row, and when the last one was."""

    failures: int = 0
    since: float = 0.0

    def note(
        self, succeeded: Iterable[JsonObject], failed: Iterable[JsonObject], now: float
    ) -> None:
        """What has ended since the last time; a success ends the row."""
        ends = [(_end_of(pod, now), True) for pod in succeeded]
        ends += [(_end_of(pod, now), False) for pod in failed]
        for end, is_good in sorted(ends):
            self.failures = 0 if is_good else self.failures + 1
            self.since = end

    def left(self, now: float) -> float:
        """For how many seconds no pod is made."""
        if not self.failures:
            return 0.0
        return max(0.0, self.since + min(_FIRST * 2.0 ** (self.failures - 1), _LAST) - now)


def _end_of(pod: JsonObject, now: float) -> float:
    ends = [
        ((one.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for one in status_of(pod).get("containerStatuses") or ()
    ]
    end: float = max((parse_time(one) for one in ends if one), default=now)
    return end
