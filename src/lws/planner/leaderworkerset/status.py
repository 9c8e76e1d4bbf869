"""The status of a LeaderWorkerSet, and the events that its changes are (leaderworkerset.md 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api import names
from lws.api.leaderworkerset import GroupRestart, LeaderWorkerSetStatus
from lws.api.meta import Condition
from lws.base.ids import RevisionKey
from lws.planner.actions import Emit, EventType
from lws.planner.conditions import Wish, merged
from lws.planner.leaderworkerset.progress import PAUSED, overdue
from lws.planner.leaderworkerset.revisions import reference
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status_timing import (
    AVAILABLE,
    PROGRESSING,
    UPDATE_IN_PROGRESS,
    seconds_to_write,
)
from lws.planner.leaderworkerset.values import partition_of, replicas_of
from lws.planner.timing import JUST_BEGUN, Timing

FAILED = "Failed"
CONFLICT = "Conflict"
APPLY_FAILED = "ApplyFailed"

_MEANING = {
    AVAILABLE: ("AllGroupsReady", "All replicas are ready"),
    PROGRESSING: ("GroupsProgressing", "Replicas are progressing"),
    UPDATE_IN_PROGRESS: ("GroupsUpdating", "Rolling Upgrade is in progress"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What this pass ran into, for the status to tell."""

    apply_failure: str | None = None
    """The server's message on a write of ours to the StatefulSet or a revision."""
    apply_undecided: bool = False
    """Such a write was due and got no verdict (a conflict, a server away): the last one stands."""
    failed_groups: tuple[int, ...] = ()
    """Groups whose restart budget is used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPlan:
    """The status to write, if it is another, and the events that tell of it."""

    status: Mapping[str, Any] | None
    """Fields that differ, for a merge patch; None: nothing to write."""
    wait: float
    """Seconds until it is to be written; 0: now."""
    events: tuple[Emit, ...]
    """For when it is written."""
    wake_after: float | None
    """When time alone changes what is told."""


def plan_status(
    snapshot: LeaderWorkerSetSnapshot,
    *,
    wanted: RevisionKey,
    restarts: Sequence[GroupRestart],
    trouble: Trouble,
    timing: Timing = JUST_BEGUN,
) -> StatusPlan:
    """The whole status, compared with what stands."""
    lws = snapshot.lws
    deadline = overdue(snapshot, wanted=wanted)
    wishes = _wishes(snapshot, wanted, trouble, is_overdue=deadline.is_overdue)
    conditions = merged(
        lws.status.conditions, wishes, generation=lws.metadata.generation, now=snapshot.now
    )
    ready = sum(facts.ready for facts in snapshot.groups)
    statefulset = snapshot.statefulset
    status = LeaderWorkerSetStatus(
        conditions=conditions,
        ready_replicas=ready,
        updated_replicas=sum(facts.updated_key == wanted for facts in snapshot.groups),
        replicas=0 if statefulset is None else statefulset.status.replicas,
        hpa_pod_selector=names.hpa_pod_selector(lws.metadata.name),
        observed_generation=lws.metadata.generation,
        group_restarts=tuple(restarts),
    )
    if status == lws.status:
        return StatusPlan(status=None, wait=0.0, events=(), wake_after=deadline.wake_after)
    before, after = msgspec.to_builtins(lws.status), msgspec.to_builtins(status)
    fields = {key: value for key, value in after.items() if before[key] != value}
    return StatusPlan(
        status=fields,
        wait=seconds_to_write(lws, status, timing),
        events=_events(snapshot, conditions, ready),
        wake_after=deadline.wake_after,
    )


def _wishes(
    snapshot: LeaderWorkerSetSnapshot,
    wanted: RevisionKey,
    trouble: Trouble,
    *,
    is_overdue: bool,
) -> list[Wish]:
    wishes = _main_wishes(snapshot, wanted)
    stopped = _stopped(snapshot, trouble, is_overdue=is_overdue)
    if stopped is not None:
        wishes = [wish for wish in wishes if wish.type != PROGRESSING] + [stopped]
    return [*wishes, _paused(snapshot), _failed(trouble), _conflict(snapshot)]


def _main_wishes(snapshot: LeaderWorkerSetSnapshot, wanted: RevisionKey) -> list[Wish]:
    """Which of the three conditions of the wire hold, over groups that are not surge."""
    replicas, partition = replicas_of(snapshot.lws), partition_of(snapshot.lws)
    groups = [facts for facts in snapshot.groups if facts.index < replicas]
    in_range = [facts for facts in groups if facts.index >= partition]
    if any(facts.complete and facts.updated_key != wanted for facts in in_range):
        return [_true(UPDATE_IN_PROGRESS), _true(PROGRESSING), Wish(AVAILABLE, False)]
    all_ready = len(groups) == replicas and all(facts.ready for facts in groups)
    if all_ready and not _is_foreign_statefulset(snapshot) and snapshot.statefulset is not None:
        return [_true(AVAILABLE), Wish(PROGRESSING, False), Wish(UPDATE_IN_PROGRESS, False)]
    return [_true(PROGRESSING), Wish(AVAILABLE, False)]


def _true(type_: str) -> Wish:
    reason, message = _MEANING[type_]
    return Wish(type_, True, reason, message)


def _stopped(
    snapshot: LeaderWorkerSetSnapshot, trouble: Trouble, *, is_overdue: bool
) -> Wish | None:
    """Why nothing moves though it should, if so."""
    failure = trouble.apply_failure
    if failure is None and trouble.apply_undecided:
        failure = _standing_failure(snapshot)
    if failure is not None:
        return Wish(PROGRESSING, False, APPLY_FAILED, failure, True)
    if _is_foreign_statefulset(snapshot):
        return Wish(PROGRESSING, False, "StatefulSetConflict", _conflict_message(snapshot), True)
    if is_overdue:
        limit = snapshot.lws.spec.progress_deadline_seconds
        message = f"No group became ready at the new revision for {limit} seconds"
        return Wish(PROGRESSING, False, "ProgressDeadlineExceeded", message, True)
    return None


def _standing_failure(snapshot: LeaderWorkerSetSnapshot) -> str | None:
    """What was told of the last refused apply, if nothing was told since."""
    for condition in snapshot.lws.status.conditions:
        if (condition.type, condition.status) == (PROGRESSING, "False"):
            return condition.message if condition.reason == APPLY_FAILED else None
    return None


def _paused(snapshot: LeaderWorkerSetSnapshot) -> Wish:
    message = "spec.paused is set: a running update takes no further group"
    return Wish(PAUSED, snapshot.lws.spec.paused, "Paused", message)


def _failed(trouble: Trouble) -> Wish:
    groups = ", ".join(str(group) for group in trouble.failed_groups)
    message = f"Restarted maxGroupRestarts times and left as they are, groups: {groups}"
    return Wish(FAILED, bool(trouble.failed_groups), "MaxGroupRestartsExceeded", message)


def _conflict(snapshot: LeaderWorkerSetSnapshot) -> Wish:
    reason = "StatefulSetConflict" if _is_foreign_statefulset(snapshot) else "ObjectConflict"
    return Wish(CONFLICT, bool(_foreign(snapshot)), reason, _conflict_message(snapshot))


def _conflict_message(snapshot: LeaderWorkerSetSnapshot) -> str:
    return (
        f"Not controlled by this LeaderWorkerSet and left alone: {', '.join(_foreign(snapshot))}; "
        "delete or rename it, and the set goes on by itself"
    )


def _foreign(snapshot: LeaderWorkerSetSnapshot) -> list[str]:
    """Kind and name of each object in the place of one of ours, the groups' own too."""
    found = [f"{item.kind.kind} {item.name}" for item in snapshot.foreign]
    found += [words for facts in snapshot.groups for words in facts.foreign]
    return sorted(set(found))


def _is_foreign_statefulset(snapshot: LeaderWorkerSetSnapshot) -> bool:
    name = snapshot.lws.metadata.name
    return any(item.name == name and item.kind.kind == "StatefulSet" for item in snapshot.foreign)


def _events(
    snapshot: LeaderWorkerSetSnapshot, conditions: Sequence[Condition], ready: int
) -> tuple[Emit, ...]:
    """One for each condition that has become true, or says something new while false."""
    before = {condition.type: condition for condition in snapshot.lws.status.conditions}
    total = replicas_of(snapshot.lws)
    suffix = f", with {ready} groups ready of total {total} groups"
    events = []
    for condition in conditions:
        old = before.get(condition.type)
        told = old is not None and (old.status, old.reason, old.message) == (
            condition.status,
            condition.reason,
            condition.message,
        )
        if told or not _is_news(condition, old):
            continue
        warns = condition.type in (FAILED, CONFLICT) or condition.status == "False"
        kind = EventType.WARNING if warns else EventType.NORMAL
        note = condition.message + suffix
        event = Emit(reference(snapshot.lws), kind, condition.reason, "Update", note)
        events.append(event)
    return tuple(events)


def _is_news(condition: Condition, old: Condition | None) -> bool:
    if condition.status == "True":
        return True
    return old is None or (old.reason, old.message) != (condition.reason, condition.message)
