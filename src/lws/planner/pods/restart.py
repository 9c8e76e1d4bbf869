"""Recreating groups that lost a member: backoff, budget, and who is deleted now.

A row of `status.groupRestarts` is written before the delete that it counts. It names the leader
that it is about, so that after a crash between the two the delete is repeated and not counted anew;
a time could not tell, since our clock and the one that stamps `creationTimestamp` may differ. It
names the revision too, and ends when its group is of another: a new revision starts the count anew
for a group that it has reached, while an old one stays as it is until the update takes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lws.api.kinds import Kind
from lws.api.leaderworkerset import GroupRestart, LeaderWorkerSet
from lws.base.times import format_micro_time
from lws.planner.actions import Delete, Propagation
from lws.planner.leaderworkerset.values import budgets_of, replicas_of
from lws.planner.pods import events
from lws.planner.pods.evidence import lenient_time
from lws.planner.pods.snapshot import GroupFacts, Loss

FIRST_BACKOFF_SECONDS = 10.0
BACKOFF_SECONDS_MAX = 300.0
READY_SECONDS = 600.0
"""So long a group must be ready until its next failure is a first one."""

# `creationTimestamp` is cut to whole seconds: the leader was made up to one second later.
_CREATION_SECONDS = 1.0
_REVISION_MARK = "; revision "
_LEADER_MARK = "; leader UID "
# 10 · 2^5 is above the most that we wait; a count is the user's to write, and may be huge.
_DOUBLINGS_MAX = 5
_COUNT_MAX = 2**31 - 1
# A time further ahead of our clock than this is garbage, not another controller's clock.
_CLOCK_SKEW_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPlan:
    """What a pass over the set does about lost members."""

    restarts: tuple[GroupRestart, ...] = ()
    """The whole of `status.groupRestarts`, by group; to be written before `deletes`."""
    deletes: tuple[Delete, ...] = ()
    failed_groups: tuple[int, ...] = ()
    """Groups that have lost a member and have no restart left."""
    wake_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of one group: its row (None: none), and what else there is to do."""

    row: GroupRestart | None
    recreate: bool = False
    failed: bool = False
    wake_after: float | None = None


def plan_restarts(*, lws: LeaderWorkerSet, facts: Sequence[GroupFacts], now: float) -> RestartPlan:
    """Which groups to recreate now."""
    if lws.metadata.deletion_timestamp is not None:
        return RestartPlan(restarts=lws.status.group_restarts)
    by_index = {one.index: one for one in facts}
    rows = _rows(lws, by_index)
    budget = lws.spec.leader_worker_template.max_group_restarts
    outcomes = {
        index: _outcome(one, rows.get(index), budget, now) for index, one in by_index.items()
    }
    kept = rows | {index: outcome.row for index, outcome in outcomes.items()}
    return RestartPlan(
        restarts=tuple(row for _, row in sorted(kept.items()) if row is not None),
        deletes=tuple(
            _delete(lws, by_index[index])
            for index, outcome in sorted(outcomes.items())
            if outcome.recreate
        ),
        failed_groups=tuple(sorted(i for i, outcome in outcomes.items() if outcome.failed)),
        wake_after=min(
            (one.wake_after for one in outcomes.values() if one.wake_after is not None),
            default=None,
        ),
    )


def backoff_seconds(number: int) -> float:
    """How long the recreation of that number in a row (from 1) waits after the one before."""
    if number < 2:
        return 0.0
    doublings = min(number - 2, _DOUBLINGS_MAX)
    return min(FIRST_BACKOFF_SECONDS * (1 << doublings), BACKOFF_SECONDS_MAX)


def _outcome(
    facts: GroupFacts, row: GroupRestart | None, budget: int | None, now: float
) -> _Outcome:
    if facts.loss is None or facts.leader_uid is None or facts.terminating:
        return _without_loss(facts, row, now)
    count = 0 if row is None else row.count
    last = 0.0 if row is None else _last_time(row, now)
    if row is not None and _is_counted(row, facts, last):
        return _Outcome(row, recreate=True)
    if budget is not None and count >= budget:
        return _Outcome(row, failed=True)
    due = last + backoff_seconds(count + 1)
    if now < due:
        return _Outcome(row, wake_after=due - now)
    return _Outcome(_next_row(facts, count, facts.loss, now), recreate=True)


def _without_loss(facts: GroupFacts, row: GroupRestart | None, now: float) -> _Outcome:
    """A row ends with ten minutes of being ready."""
    if row is None or not facts.ready or facts.ready_since is None:
        return _Outcome(row)
    left = facts.ready_since + READY_SECONDS - now
    return _Outcome(None) if left <= 0 else _Outcome(row, wake_after=left)


def _is_counted(row: GroupRestart, facts: GroupFacts, last: float) -> bool:
    """Whether a row counts this very leader already, whose delete was not sent.

    It names its leader. One that names none (it was written by hand, or cut) is told by its time.
    """
    _, mark, leader = row.reason.rpartition(_LEADER_MARK)
    if mark:
        return leader == f"{facts.leader_uid}"
    return last >= facts.leader_created + _CREATION_SECONDS


def _next_row(facts: GroupFacts, count: int, loss: Loss, now: float) -> GroupRestart:
    return GroupRestart(
        group=facts.index,
        count=min(count + 1, _COUNT_MAX),
        last_time=format_micro_time(now),
        reason=f"{loss.pod}: {loss.what}"
        f"{_REVISION_MARK}{facts.key}{_LEADER_MARK}{facts.leader_uid}",
    )


def _rows(lws: LeaderWorkerSet, present: Mapping[int, GroupFacts]) -> dict[int, GroupRestart]:
    """Rows that mean something: of a group that there is, or will be again, with a count."""
    if not lws.status.group_restarts:
        return {}
    groups = replicas_of(lws) + budgets_of(lws).surge
    return {
        row.group: row
        for row in lws.status.group_restarts
        if row.count > 0
        and (0 <= row.group < groups or row.group in present)
        and not _is_of_another_revision(row, present.get(row.group))
    }


def _is_of_another_revision(row: GroupRestart, facts: GroupFacts | None) -> bool:
    """Whether the group is of another now; a row that names none (written by hand) goes on."""
    head, _, _ = row.reason.rpartition(_LEADER_MARK)
    _, mark, key = head.rpartition(_REVISION_MARK)
    return bool(mark) and facts is not None and facts.key is not None and facts.key != key


def _last_time(row: GroupRestart, now: float) -> float:
    """Of the row; garbage is long ago, so that nothing waits for ever."""
    last = lenient_time(row.last_time)
    return 0.0 if last is None or last > now + _CLOCK_SKEW_SECONDS else last


def _delete(lws: LeaderWorkerSet, facts: GroupFacts) -> Delete:
    """Foreground, so that the worker StatefulSet and its pods go first."""
    assert facts.leader_uid is not None, "only a leader that stands is deleted"
    assert facts.loss is not None, "only a loss recreates a group"
    note = (
        f"Worker pod {facts.loss.pod} failed, deleted leader pod {facts.leader} "
        f"to recreate group {facts.index}; {facts.loss.what}"
    )
    return Delete(
        kind=Kind.POD,
        namespace=lws.metadata.namespace,
        name=facts.leader,
        uid=facts.leader_uid,
        propagation=Propagation.FOREGROUND,
        event=events.normal(lws, reason=events.RECREATE_GROUP, action=events.DELETE, note=note),
        failure=events.warning(
            lws,
            reason=events.FAILED_DELETE,
            action=events.DELETE,
            note=f"Failed to delete leader pod {facts.leader} to recreate group {facts.index}",
        ),
    )
