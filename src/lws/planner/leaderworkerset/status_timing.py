"""When the status of a LeaderWorkerSet is written: what is told at once, and what can wait."""

from collections.abc import Iterable

from lws.api.leaderworkerset import LeaderWorkerSet, LeaderWorkerSetStatus
from lws.api.meta import Condition
from lws.planner.leaderworkerset.values import partition_of, replicas_of
from lws.planner.roles import is_role
from lws.planner.timing import LATEST_SECONDS, Timing, folded, paced

AVAILABLE = "Available"
PROGRESSING = "Progressing"
UPDATE_IN_PROGRESS = "UpdateInProgress"

ASKED_SECONDS = 0.5
"""How long the answer to a changed spec waits for its outcome, which may come soon."""

ROLE_SECONDS = LATEST_SECONDS
"""The same of a set that is a role's, whom a DisaggregatedSet asks and nobody else waits for."""

NO_GROUPS_SECONDS = 1.0
"""An update makes such a set with no groups, and scales it up at once."""


def seconds_to_write(lws: LeaderWorkerSet, status: LeaderWorkerSetStatus, timing: Timing) -> float:
    """Seconds until `status` takes the place of the one that stands, which is another; 0: now."""
    standing = lws.status
    if status.group_restarts != standing.group_restarts or _has_news(standing, status):
        return 0.0
    is_asked = status.observed_generation != standing.observed_generation
    if not is_asked and _states(standing.conditions) != _states(status.conditions):
        return 0.0
    to_come = _to_come(lws, status)
    if is_role(lws):
        return _seconds_of_role(lws, status, timing, to_come=to_come)
    if is_asked:
        is_first = not standing.observed_generation
        return 0.0 if is_first or not to_come else folded(timing, seconds=ASKED_SECONDS)
    if status.replicas != standing.replicas and not _is_true(status.conditions, UPDATE_IN_PROGRESS):
        to_come = min(to_come, 1)  # it is scaled: an autoscaler may wait for it
    return paced(timing, to_come=to_come)


def _seconds_of_role(
    lws: LeaderWorkerSet, status: LeaderWorkerSetStatus, timing: Timing, *, to_come: int
) -> float:
    """What is on its way can be told with its outcome; a loss that nobody asked for cannot."""
    replicas, standing = replicas_of(lws), lws.status
    if not to_come:
        return 0.0 if replicas else folded(timing, seconds=NO_GROUPS_SECONDS)
    if status.ready_replicas < min(standing.ready_replicas, replicas):
        return paced(timing, to_come=1)
    if status.observed_generation != standing.observed_generation:
        return folded(timing, seconds=ROLE_SECONDS)
    return paced(timing, to_come=to_come, soonest=ROLE_SECONDS)


def _to_come(lws: LeaderWorkerSet, status: LeaderWorkerSetStatus) -> int:
    """How many groups are still to change before it is at rest."""
    replicas = replicas_of(lws)
    return max(
        abs(status.replicas - replicas),
        replicas - status.ready_replicas,
        replicas - partition_of(lws) - status.updated_replicas,
        0 if _is_true(status.conditions, AVAILABLE) else 1,
    )


def _is_true(conditions: Iterable[Condition], kind: str) -> bool:
    return any(one.type == kind and one.status == "True" for one in conditions)


def _has_news(standing: LeaderWorkerSetStatus, status: LeaderWorkerSetStatus) -> bool:
    """Whether it says of a failure, a conflict or a pause, or of an end, what it did not say."""
    return bool(_news(status.conditions) - _news(standing.conditions))


def _news(conditions: Iterable[Condition]) -> set[tuple[str, str, str, str]]:
    return {
        (one.type, one.status, one.reason, one.message)
        for one in conditions
        if one.type not in _MAIN or (one.type, one.status) == (PROGRESSING, "False")
    }


_MAIN = (AVAILABLE, PROGRESSING, UPDATE_IN_PROGRESS)


def _states(conditions: Iterable[Condition]) -> set[tuple[str, str, str]]:
    return {(one.type, one.status, one.reason) for one in conditions}
