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
"""How long the answer to a changed spec waits for its outcome, which may come soon;"""

ROLE_ASKED_SECONDS = LATEST_SECONDS
"""for a set that is a role's, whom a DisaggregatedSet asks and nobody else waits for."""

NO_GROUPS_SECONDS = 1.0
"""An update makes such a set with no groups, and scales it up at once."""


def seconds_to_write(lws: LeaderWorkerSet, status: LeaderWorkerSetStatus, timing: Timing) -> float:
    """Seconds until `status` takes the place of the one that stands, which is another; 0: now."""
    standing = lws.status
    if status.group_restarts != standing.group_restarts or _has_news(standing, status):
        return 0.0
    to_come = _to_come(lws, status)
    if status.observed_generation != standing.observed_generation:
        return _seconds_to_answer(lws, status, timing, to_come=to_come)
    if _flips(standing, status):
        return 0.0
    if status.replicas != standing.replicas and _is_scaled(lws, status):
        to_come = min(to_come, 1)
    return paced(timing, to_come=to_come)


def _is_scaled(lws: LeaderWorkerSet, status: LeaderWorkerSetStatus) -> bool:
    """Whether the number of its groups is something that an autoscaler waits for."""
    return not is_role(lws) and not _is_true(status.conditions, UPDATE_IN_PROGRESS)


def _seconds_to_answer(
    lws: LeaderWorkerSet, status: LeaderWorkerSetStatus, timing: Timing, *, to_come: int
) -> float:
    """The spec has changed: what that brings about is under way, and told when it is there."""
    replicas = replicas_of(lws)
    if not is_role(lws):
        is_first = not lws.status.observed_generation
        return 0.0 if is_first or not to_come else folded(timing, seconds=ASKED_SECONDS)
    if not to_come:
        return 0.0 if replicas else folded(timing, seconds=NO_GROUPS_SECONDS)
    if status.ready_replicas < min(lws.status.ready_replicas, replicas):
        return paced(timing, to_come=1)  # nobody asked for that: it is a loss
    return folded(timing, seconds=ROLE_ASKED_SECONDS)


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


def _flips(standing: LeaderWorkerSetStatus, status: LeaderWorkerSetStatus) -> bool:
    return _states(standing.conditions) != _states(status.conditions)


def _states(conditions: Iterable[Condition]) -> set[tuple[str, str, str]]:
    return {(one.type, one.status, one.reason) for one in conditions}
