"""spec.progressDeadlineSeconds: has an update stopped moving? (leaderworkerset.md section 7)."""

from dataclasses import dataclass

from lws.base.ids import RevisionKey
from lws.base.times import parse_time
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.statefulset import applied_at

PAUSED = "Paused"


@dataclass(frozen=True, slots=True)
class Deadline:
    """Whether it has passed, and if not when to look again (seconds from now)."""

    is_overdue: bool
    wake_after: float | None


def overdue(snapshot: LeaderWorkerSetSnapshot, *, wanted: RevisionKey) -> Deadline:
    """Progress is a group that becomes ready at the wanted revision, a step that we take, and the
    start: of this update, not of the one that it overtook, and anew once it is resumed.

    A paused update is not late, and one that nobody runs cannot be.
    """
    limit = snapshot.lws.spec.progress_deadline_seconds
    started = _since(snapshot, "UpdateInProgress", "True")
    if not limit or limit < 0 or started is None or _is_still(snapshot, wanted):
        return Deadline(False, None)
    ready = [
        facts.ready_since
        for facts in snapshot.groups
        if facts.updated_key == wanted and facts.ready_since is not None
    ]
    others = (applied_at(snapshot), _since(snapshot, PAUSED, "False"))
    latest = max([started, *ready, *(moment for moment in others if moment is not None)])
    left = latest + limit - snapshot.now
    return Deadline(left <= 0, max(left, 0.001) if left > 0 else None)


def _is_still(snapshot: LeaderWorkerSetSnapshot, wanted: RevisionKey) -> bool:
    """Whether it is paused, was until this pass, or begins with what this pass writes."""
    if snapshot.lws.spec.paused or _since(snapshot, PAUSED, "True") is not None:
        return True
    return snapshot.statefulset is not None and snapshot.statefulset.revision_key != wanted


def _since(snapshot: LeaderWorkerSetSnapshot, kind: str, status: str) -> float | None:
    """When a condition took the status that it has; None if it has another."""
    for condition in snapshot.lws.status.conditions:
        if (condition.type, condition.status) == (kind, status):
            try:
                return parse_time(condition.last_transition_time)
            except ValueError:
                return snapshot.now
    return None
