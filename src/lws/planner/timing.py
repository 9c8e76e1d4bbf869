"""When a status that says something else than what stands is written (docs/decisions/0010).

A status is late by LATEST_SECONDS at most, whatever happens meanwhile; and what settles, fails or
is lost is told at once. In between, it is told the less often the more is still to come.
"""

import math
from dataclasses import dataclass

SOONEST_SECONDS = 1.0
"""Counters that move are written at most this often,"""

LATEST_SECONDS = 5.0
"""and at least this often."""

CHANGES_A_SECOND = 10
"""So many changes still to come make them a second later."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How old a status is, in seconds."""

    age: float = math.inf
    """Since this process wrote it last."""
    unsaid: float = 0.0
    """Since it should say something else than it does."""


JUST_BEGUN = Timing()


def paced(timing: Timing, *, to_come: int, soonest: float = SOONEST_SECONDS) -> float:
    """Seconds until counters that moved are written; `to_come`: changes before it is at rest."""
    if to_come <= 0:
        return 0.0
    interval = min(LATEST_SECONDS, max(soonest, to_come / CHANGES_A_SECOND))
    return _left(timing, interval - timing.age)


def folded(timing: Timing, *, seconds: float) -> float:
    """Seconds until a change is written that will probably be overtaken by another soon."""
    return _left(timing, seconds - timing.unsaid)


_MOMENT = 0.001
"""Less than this is no time: what rounding leaves of a wait must not be waited for again."""


def _left(timing: Timing, seconds: float) -> float:
    left = min(seconds, LATEST_SECONDS - timing.unsaid)
    return left if left > _MOMENT else 0.0
