"""spec.progressDeadlineSeconds: has an update stopped moving? (leaderworkerset.md section 7)."""

from dataclasses import dataclass

from lws.base.ids import RevisionKey
from lws.base.times import parse_time
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot


@dataclass(frozen=True, slots=True)
class Deadline:
    """Whether it has passed, and if not when to look again (seconds from now)."""

    is_overdue: bool
    wake_after: float | None


def overdue(snapshot: LeaderWorkerSetSnapshot, *, wanted: RevisionKey) -> Deadline:
    """Progress is a group that becomes ready at the wanted revision, or the update's start.

    A paused update is not late, and one that nobody runs cannot be.
    """
    limit = snapshot.lws.spec.progress_deadline_seconds
    started = _started(snapshot)
    if not limit or limit < 0 or started is None or snapshot.lws.spec.paused:
        return Deadline(False, None)
    ready = [
        facts.ready_since
        for facts in snapshot.groups
        if facts.updated_key == wanted and facts.ready_since is not None
    ]
    left = max([started, *ready]) + limit - snapshot.now
    return Deadline(left <= 0, max(left, 0.001) if left > 0 else None)


def _started(snapshot: LeaderWorkerSetSnapshot) -> float | None:
    """When UpdateInProgress became true; None while no update runs."""
    for condition in snapshot.lws.status.conditions:
        if condition.type == "UpdateInProgress" and condition.status == "True":
            try:
                return parse_time(condition.last_transition_time)
            except ValueError:
                return snapshot.now
    return None
