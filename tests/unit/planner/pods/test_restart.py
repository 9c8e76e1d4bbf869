"""Recreating groups: backoff, budget, one failure one recreation (pods.md section 2)."""

from typing import Any

import pytest

from lws.api.kinds import Kind
from lws.api.leaderworkerset import GroupRestart, LeaderWorkerSet
from lws.base.ids import UID, ResourceVersion
from lws.base.times import format_micro_time
from lws.planner.actions import EventType, Propagation
from lws.planner.pods.restart import RestartPlan, backoff_seconds, plan_restarts
from lws.planner.pods.snapshot import GroupFacts, Loss
from tests.unit.planner.pods.worlds import a_set

NOW = 1_800_000_000.0
LOSS = Loss(pod="lws-0-1", uid=UID("pod"), what="container serve exited with code 137 (OOMKilled)")
REASON = (
    "lws-0-1: container serve exited with code 137 (OOMKilled); revision k; leader UID leader-0"
)


def a_group(index: int = 0, *, loss: Loss | None = LOSS, **changes: Any) -> GroupFacts:
    parts: dict[str, Any] = {
        "index": index,
        "leader": f"lws-{index}",
        "leader_uid": UID(f"leader-{index}"),
        "leader_resource_version": ResourceVersion("1"),
        "leader_created": NOW - 100,
        "terminating": False,
        "key": "k",
        "complete": True,
        "updated_key": "k",
        "ready": False,
        "ready_since": None,
        "unready_since": NOW - 1,
        "keys": frozenset({"k"}),
        "loss": loss,
    } | changes
    return GroupFacts(**parts)


def a_row(
    group: int = 0,
    *,
    count: int = 1,
    ago: float = 200,
    reason: str = "x; leader UID earlier",
) -> dict[str, Any]:
    """A row of the status, whose last recreation is so many seconds ago."""
    time = format_micro_time(NOW - ago)
    return {"group": group, "count": count, "lastTime": time, "reason": reason}


def a_set_with(*rows: dict[str, Any], budget: int | None = None) -> LeaderWorkerSet:
    template = {} if budget is None else {"maxGroupRestarts": budget}
    return a_set(template=template, status={"groupRestarts": list(rows)})


def planned(lws: LeaderWorkerSet, *groups: GroupFacts, now: float = NOW) -> RestartPlan:
    return plan_restarts(lws=lws, facts=groups, now=now)


def test_groups_that_lost_nobody_are_let_be() -> None:
    assert planned(a_set(), a_group(loss=None), a_group(1, loss=None)) == RestartPlan()


def test_the_first_recreation_of_a_group_is_immediate() -> None:
    plan = planned(a_set(), a_group(), a_group(1, loss=None))
    assert plan.restarts == (
        GroupRestart(group=0, count=1, last_time=format_micro_time(NOW), reason=REASON),
    )
    [delete] = plan.deletes
    assert (delete.kind, delete.namespace, delete.name) == (Kind.POD, "default", "lws-0")
    assert delete.uid == "leader-0"
    assert delete.resource_version is None
    assert delete.propagation is Propagation.FOREGROUND
    assert (plan.failed_groups, plan.wake_after) == ((), None)


def test_the_event_says_which_pod_failed_and_how() -> None:
    [delete] = planned(a_set(), a_group()).deletes
    assert delete.event is not None
    assert delete.event.type is EventType.NORMAL
    assert delete.event.reason == "RecreateGroup"
    assert delete.event.regarding.kind is Kind.LEADER_WORKER_SET
    assert delete.event.note == (
        "Worker pod lws-0-1 failed, deleted leader pod lws-0 to recreate group 0; "
        "container serve exited with code 137 (OOMKilled)"
    )


@pytest.mark.parametrize(
    ("number", "seconds"),
    [(0, 0), (1, 0), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 300), (2**31, 300)],
)
def test_the_backoff_doubles_up_to_five_minutes(number: int, seconds: float) -> None:
    assert backoff_seconds(number) == seconds


@pytest.mark.parametrize(("count", "wait"), [(1, 10), (2, 20), (5, 160), (6, 300), (99, 300)])
def test_a_group_waits_in_its_row_with_its_pods_left_as_they_are(count: int, wait: float) -> None:
    early = planned(a_set_with(a_row(count=count, ago=wait - 1)), a_group())
    assert early.deletes == ()
    assert [row.count for row in early.restarts] == [count]
    assert early.wake_after == pytest.approx(1)
    due = planned(a_set_with(a_row(count=count, ago=wait)), a_group())
    assert len(due.deletes) == 1
    assert [row.count for row in due.restarts] == [count + 1]


def test_groups_count_each_for_itself() -> None:
    lws = a_set_with(a_row(0, count=3, ago=1), a_row(1, count=1, ago=4))
    plan = planned(lws, a_group(0), a_group(1))
    assert plan.deletes == ()
    assert plan.wake_after == pytest.approx(6)
    assert [delete.name for delete in planned(lws, a_group(0), a_group(2)).deletes] == ["lws-2"]


def test_ten_minutes_of_being_ready_end_the_row() -> None:
    lws = a_set_with(a_row(count=4, ago=900))
    young = a_group(loss=None, ready=True, ready_since=NOW - 599)
    plan = planned(lws, young)
    assert ([row.count for row in plan.restarts], plan.wake_after) == ([4], 1.0)
    old = a_group(loss=None, ready=True, ready_since=NOW - 600)
    assert planned(lws, old) == RestartPlan()


def test_the_row_of_a_group_that_is_not_ready_stays() -> None:
    lws = a_set_with(a_row(count=4, ago=9000))
    for group in (
        a_group(loss=None),
        a_group(loss=None, leader_uid=None, key=None),
        a_group(loss=None, ready=True, ready_since=None),
    ):
        assert [row.count for row in planned(lws, group).restarts] == [4]
    assert [row.count for row in planned(lws).restarts] == [4]


def test_a_group_with_its_budget_spent_is_left_for_inspection() -> None:
    lws = a_set_with(a_row(count=2), budget=2)
    plan = planned(lws, a_group(), a_group(1))
    assert plan.failed_groups == (0,)
    assert [delete.name for delete in plan.deletes] == ["lws-1"]
    assert [row.count for row in plan.restarts] == [2, 1]
    assert planned(a_set_with(budget=0), a_group()).failed_groups == (0,)
    raised = a_set_with(a_row(count=2), budget=3)
    assert planned(raised, a_group()).failed_groups == ()


def test_a_spent_group_that_runs_again_is_still_not_made_anew() -> None:
    lws = a_set_with(a_row(count=1, ago=9000), budget=1)
    plan = planned(lws, a_group(ready=True, ready_since=NOW - 8000))
    assert (plan.failed_groups, plan.deletes) == ((0,), ())
    assert planned(lws, a_group(loss=None)).failed_groups == ()


def test_a_crash_between_both_writes_repeats_the_delete_and_counts_nothing_anew() -> None:
    first = planned(a_set(), a_group())
    [row] = first.restarts
    written = a_set_with(
        {"group": 0, "count": row.count, "lastTime": row.last_time, "reason": row.reason}, budget=1
    )
    again = planned(written, a_group(), now=NOW + 1)
    assert again.restarts == first.restarts
    assert again.deletes == first.deletes
    assert again.failed_groups == ()


def test_a_row_that_counts_this_leader_is_told_by_name_whatever_the_clocks_say() -> None:
    ahead = a_row(reason="x; leader UID leader-before", ago=0)
    plan = planned(a_set_with(ahead), a_group(leader_created=NOW - 60))
    assert plan.deletes == ()
    behind = a_row(reason=REASON, ago=500)
    assert len(planned(a_set_with(behind), a_group()).deletes) == 1


@pytest.mark.parametrize(("ago", "counted"), [(98.9, True), (99.0, True), (99.1, False)])
def test_a_row_that_names_no_leader_is_told_by_its_time(ago: float, counted: bool) -> None:
    plan = planned(
        a_set_with(a_row(count=3, ago=ago, reason="")), a_group(leader_created=NOW - 100)
    )
    assert len(plan.deletes) == 1
    assert [row.count for row in plan.restarts] == [3 if counted else 4]


def test_the_count_starts_anew_in_a_group_that_is_of_a_new_revision() -> None:
    old = "x; revision before; leader UID earlier"
    lws = a_set_with(a_row(count=9, ago=1, reason=old), a_row(1, count=9, ago=1, reason=old))
    plan = planned(lws, a_group(), a_group(1, loss=None))
    assert [(row.group, row.count) for row in plan.restarts] == [(0, 1)]
    assert len(plan.deletes) == 1


def test_a_spent_group_stays_as_it_is_until_the_update_takes_it() -> None:
    spent = a_row(count=1, ago=9000, reason="x; revision k; leader UID earlier")
    lws = a_set_with(spent, budget=1)
    for group in (a_group(), a_group(key=None, leader_uid=None, loss=None)):
        plan = planned(lws, group)
        assert plan.deletes == ()
        assert [row.count for row in plan.restarts] == [1]
    assert planned(lws, a_group(key="new", loss=None)).restarts == ()


@pytest.mark.parametrize(
    "row",
    [
        {"group": 0, "count": -3, "lastTime": "never"},
        {"group": 0, "count": 0},
        {"group": -1, "count": 2, "lastTime": format_micro_time(NOW)},
        {"group": 7, "count": 2, "lastTime": format_micro_time(NOW)},
        {"group": 0, "count": 2, "lastTime": "yesterday"},
        {"group": 0, "count": 2, "lastTime": "9999-01-01T00:00:00Z"},
        {"group": 0, "count": 2, "lastTime": "2026-01-01T00:00:00"},
        {"group": 0, "count": 2},
        {"group": 0, "count": 2**31 - 1, "lastTime": "2026-01-01T00:00:00Z"},
    ],
)
def test_garbage_in_a_row_holds_nothing_up(row: dict[str, Any]) -> None:
    plan = planned(a_set_with(row), a_group())
    [new] = plan.restarts
    assert len(plan.deletes) == 1
    assert (new.group, new.last_time) == (0, format_micro_time(NOW))
    assert 1 <= new.count < 2**31


def test_a_group_beyond_the_replicas_that_is_still_there_has_its_row() -> None:
    lws = a_set_with(a_row(7, count=1, ago=1))
    assert [row.group for row in planned(lws, a_group(7)).restarts] == [7]
    assert planned(lws).restarts == ()


def test_nothing_is_recreated_in_a_set_that_is_being_deleted() -> None:
    lws = a_set(
        metadata={"deletionTimestamp": "2026-08-01T10:00:00Z"},
        status={"groupRestarts": [a_row(5)]},
    )
    assert planned(lws, a_group()) == RestartPlan(restarts=lws.status.group_restarts)


def test_a_leader_that_is_going_or_gone_is_not_deleted() -> None:
    assert planned(a_set(), a_group(terminating=True)).deletes == ()
    assert planned(a_set(), a_group(leader_uid=None)).deletes == ()
