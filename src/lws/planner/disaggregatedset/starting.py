"""Old replicas that are still starting serve nobody yet: a drain waits for them, for a while.

The planner counts replicas. Where an old revision was being scaled up when it was superseded, its
newest replicas are not ready, and a drain of others that relies on them would take users what they
have. So it waits until they are ready, or have not become so in SETTLING_SECONDS: what is broken
for good stops no update.
"""

from collections.abc import Iterable, Mapping

from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.times import parse_time
from lws.planner.disaggregatedset.snapshot import RoleSet, Waiting

SETTLING_SECONDS = 30.0
"""As long as a group may be unready before a LeaderWorkerSet heals it out of order."""

Drained = tuple[RoleSet, int]
"""An old LeaderWorkerSet, and how many replicas a step leaves it."""


def starting_old(
    drains: Iterable[Drained], *, sets: Iterable[RoleSet], floors: Mapping[str, int], now: float
) -> Waiting | None:
    """What a drain must wait for; `sets` are all of the slice, `floors` by role in ready ones."""
    serving: dict[str, int] = {}
    unready: dict[str, RoleSet] = {}
    for held in sets:
        role = held.place.role
        serving[role] = serving.get(role, 0) + min(held.ready, held.replicas)
        if _is_starting(held, now=now):
            unready[role] = held
    lost: dict[str, int] = {}
    for held, left in drains:
        taken = min(held.ready, held.replicas - left)
        lost[held.place.role] = lost.get(held.place.role, 0) + taken
    for role, taken in lost.items():
        if taken and serving[role] - taken < floors.get(role, 0) and role in unready:
            return _waiting(unready[role])
    return None


def unready_since(lws: LeaderWorkerSet) -> float | None:
    """Since when it says that it is not available, seconds since the epoch."""
    conditions = {one.type: one for one in lws.status.conditions}
    available = conditions.get("Available")
    progressing = conditions.get("Progressing")
    moment = lws.metadata.creation_timestamp
    if available is not None and available.status == "False":
        moment = available.last_transition_time
    elif progressing is not None and progressing.status == "True":
        moment = progressing.last_transition_time
    try:
        return parse_time(moment)
    except ValueError:
        return None


def _is_starting(held: RoleSet, *, now: float) -> bool:
    if held.ready >= held.replicas:
        return False
    if held.lws.status.observed_generation < held.lws.metadata.generation:
        return True  # it has not been looked at since it was scaled
    since = unready_since(held.lws)
    return since is not None and now - since < SETTLING_SECONDS


def _waiting(held: RoleSet) -> Waiting:
    text = (
        f"role {held.place.role} of old revision {held.place.revision}:"
        f" {held.ready} of {held.replicas} replicas ready"
    )
    return Waiting(text, unready_since(held.lws), SETTLING_SECONDS)
