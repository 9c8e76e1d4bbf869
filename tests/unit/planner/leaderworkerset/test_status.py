"""Conditions, counters and the events of their changes."""

from typing import Any

import msgspec
import pytest

from lws.api.kinds import Kind
from lws.api.leaderworkerset import GroupRestart
from lws.base.times import format_time
from lws.planner.actions import EventType
from lws.planner.leaderworkerset.snapshot import Foreign, LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.planner.timing import Timing
from tests.unit.planner.leaderworkerset.worlds import (
    KEY,
    NAME,
    NOW,
    OLD_KEY,
    a_set,
    at_rest,
    facts,
    rolling,
    statefulset_document,
)

BEFORE = format_time(NOW - 500)


def planned(snapshot: LeaderWorkerSetSnapshot, **more: Any) -> StatusPlan:
    return plan_status(
        snapshot,
        wanted=more.pop("wanted", KEY),
        restarts=more.pop("restarts", ()),
        trouble=more.pop("trouble", Trouble()),
        timing=more.pop("timing", Timing()),
    )


def conditions(snapshot: LeaderWorkerSetSnapshot, **more: Any) -> dict[str, dict[str, Any]]:
    status = planned(snapshot, **more).status
    assert status is not None
    return {one["type"]: one for one in status["conditions"]}


def true(snapshot: LeaderWorkerSetSnapshot, **more: Any) -> set[str]:
    found = conditions(snapshot, **more)
    return {kind for kind, one in found.items() if one["status"] == "True"}


def a_condition(kind: str, status: str, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": "R",
        "message": "m",
        "lastTransitionTime": BEFORE,
        "observedGeneration": 3,
        **more,
    }


def with_status(*standing: dict[str, Any], **spec: Any) -> LeaderWorkerSetSnapshot:
    return at_rest(a_set(status={"conditions": list(standing)}, **spec))


def test_a_set_whose_groups_are_all_ready_is_available() -> None:
    status = planned(at_rest()).status
    assert status is not None
    assert status["readyReplicas"] == status["updatedReplicas"] == status["replicas"] == 3
    assert status["observedGeneration"] == 4
    assert status["hpaPodSelector"] == (
        f"leaderworkerset.sigs.k8s.io/name={NAME},leaderworkerset.sigs.k8s.io/worker-index=0"
    )
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"]) == ("Available", "True")
    assert condition["message"] == "All replicas are ready"
    assert condition["reason"] == "AllGroupsReady"


def test_a_status_that_says_it_all_is_not_written_again() -> None:
    status = msgspec.to_builtins(planned(at_rest()).status)
    assert planned(at_rest(a_set(status=status))).status is None


@pytest.mark.parametrize(
    ("groups", "wanted"),
    [
        ([], {"Progressing"}),
        ([facts(0), facts(1)], {"Progressing"}),
        ([facts(0), facts(1), facts(2, ready=False)], {"Progressing"}),
        ([facts(0), facts(1), facts(2, key=OLD_KEY)], {"Progressing", "UpdateInProgress"}),
        ([facts(0), facts(1), facts(2, updated_key=None)], {"Progressing", "UpdateInProgress"}),
        (
            [facts(0), facts(1), facts(2, complete=False, ready=False, updated_key=None)],
            {"Progressing"},
        ),
        ([facts(0), facts(1), facts(2), facts(3, key=OLD_KEY)], {"Available"}),
    ],
    ids=["none", "too few", "one unready", "one old", "half old", "half made", "old surge"],
)
def test_which_conditions_hold(groups: list[Any], wanted: set[str]) -> None:
    assert true(at_rest(groups=groups)) == wanted


def test_groups_below_the_partition_need_not_be_updated() -> None:
    lws = a_set(rolloutStrategy=rolling(partition=2))
    groups = [facts(0, key=OLD_KEY), facts(1, key=OLD_KEY), facts(2)]
    assert true(at_rest(lws, groups=groups)) == {"Available"}


def test_surge_groups_count_in_the_counters() -> None:
    status = planned(at_rest(groups=[facts(index) for index in range(5)])).status
    assert status is not None
    assert status["readyReplicas"] == 5


def test_no_groups_at_all_is_available_when_none_are_asked_for() -> None:
    assert true(at_rest(a_set(replicas=0), groups=[])) == {"Available"}


def test_available_excludes_the_other_two_and_they_keep_what_they_said() -> None:
    snapshot = with_status(
        a_condition("Progressing", "True"), a_condition("UpdateInProgress", "True")
    )
    found = conditions(snapshot)
    assert found["Progressing"]["status"] == found["UpdateInProgress"]["status"] == "False"
    assert found["Progressing"]["reason"] == "R"
    assert found["Progressing"]["lastTransitionTime"] == format_time(NOW)
    assert {one["observedGeneration"] for one in found.values()} == {4}


def test_a_condition_that_does_not_flip_keeps_its_time() -> None:
    found = conditions(with_status(a_condition("Available", "True")))
    assert found["Available"]["lastTransitionTime"] == BEFORE
    assert found["Available"]["message"] == "All replicas are ready"


def test_progressing_does_not_end_an_update_that_is_not_yet_ready() -> None:
    lws = a_set(status={"conditions": [a_condition("UpdateInProgress", "True")]})
    groups = [facts(0), facts(1), facts(2, ready=False)]
    assert true(at_rest(lws, groups=groups)) == {"Progressing", "UpdateInProgress"}


def test_a_refused_apply_is_told_with_the_servers_words() -> None:
    trouble = Trouble(apply_failure="exceeded quota: pods=3")
    found = conditions(with_status(a_condition("Progressing", "True")), trouble=trouble)
    assert found["Progressing"]["status"] == "False"
    assert found["Progressing"]["reason"] == "ApplyFailed"
    assert found["Progressing"]["message"] == "exceeded quota: pods=3"
    first = planned(at_rest(), trouble=trouble)
    assert [e.type for e in first.events if e.reason == "ApplyFailed"] == [EventType.WARNING]


def test_the_same_refusal_is_told_once() -> None:
    trouble = Trouble(apply_failure="no")
    status = msgspec.to_builtins(planned(at_rest(), trouble=trouble).status)
    assert planned(at_rest(a_set(status=status)), trouble=trouble).status is None


def test_a_refusal_stands_while_an_apply_gets_no_verdict() -> None:
    refused = a_condition("Progressing", "False", reason="ApplyFailed", message="no")
    found = conditions(with_status(refused), trouble=Trouble(apply_undecided=True))
    assert {found["Progressing"][key] for key in ("status", "reason", "message")} == {
        "False",
        "ApplyFailed",
        "no",
    }
    settled = conditions(with_status(refused))
    assert settled["Available"]["status"] == "True"


def test_an_apply_without_a_verdict_is_no_refusal_by_itself() -> None:
    late = a_condition("Progressing", "False", reason="ProgressDeadlineExceeded")
    for standing in ([], [late], [a_condition("Progressing", "True")]):
        found = conditions(with_status(*standing), trouble=Trouble(apply_undecided=True))
        assert found.get("Progressing", {}).get("reason") != "ApplyFailed"


def test_a_foreign_statefulset_is_named() -> None:
    foreign = [Foreign(Kind.STATEFUL_SET, NAME)]
    snapshot = at_rest(document={}, groups=[], foreign=foreign)
    found = conditions(snapshot, wanted="")
    assert found["Conflict"]["status"] == "True"
    assert f"StatefulSet {NAME}" in found["Conflict"]["message"]
    assert (found["Progressing"]["status"], found["Progressing"]["reason"]) == (
        "False",
        "StatefulSetConflict",
    )


def test_a_foreign_service_is_named_and_says_nothing_of_the_groups() -> None:
    groups = [facts(0, foreign=("Service vllm-0",)), facts(1), facts(2)]
    snapshot = at_rest(groups=groups, foreign=[Foreign(Kind.SERVICE, NAME)])
    assert true(snapshot) == {"Available", "Conflict"}
    message = conditions(snapshot)["Conflict"]["message"]
    assert "Service vllm, Service vllm-0" in message


def test_paused_and_failed_are_conditions() -> None:
    assert "Paused" in true(at_rest(a_set(paused=True)))
    found = conditions(at_rest(), trouble=Trouble(failed_groups=(1, 2)))
    assert found["Failed"]["reason"] == "MaxGroupRestartsExceeded"
    assert found["Failed"]["message"].endswith("groups: 1, 2")


def test_rows_of_restarts_are_written_at_once() -> None:
    status = msgspec.to_builtins(planned(at_rest()).status)
    row = GroupRestart(group=1, count=1, last_time="2026-01-01T00:00:00Z", reason="x")
    written = planned(at_rest(a_set(status=status)), restarts=[row])
    assert written.wait == 0
    assert written.status is not None
    assert list(written.status) == ["groupRestarts"]
    assert list(written.status["groupRestarts"]) == [
        {"group": 1, "count": 1, "lastTime": "2026-01-01T00:00:00Z", "reason": "x"}
    ]


def test_counters_alone_are_told_once_a_second() -> None:
    groups = [facts(0), facts(1, ready=False), facts(2, ready=False)]
    status = msgspec.to_builtins(planned(at_rest(groups=groups)).status)
    more = [facts(0), facts(1), facts(2, ready=False)]
    written = planned(at_rest(a_set(status=status), groups=more), timing=Timing(age=0.25))
    assert written.status == {"readyReplicas": 2}
    assert written.wait == 0.75
    assert written.events == ()


def test_each_change_is_an_event_with_the_groups_that_are_ready() -> None:
    (event,) = planned(at_rest()).events
    assert event.reason == "AllGroupsReady"
    assert event.action == "Update"
    assert event.note == "All replicas are ready, with 3 groups ready of total 3 groups"
    assert event.type is EventType.NORMAL


def late(seconds: float, **more: Any) -> LeaderWorkerSetSnapshot:
    """An update that began `seconds` ago, with no group ready since."""
    began = a_condition("UpdateInProgress", "True", lastTransitionTime=format_time(NOW - seconds))
    lws = a_set(progressDeadlineSeconds=60, status={"conditions": [began]}, **more)
    groups = [facts(0, key=OLD_KEY), facts(1, key=OLD_KEY), facts(2, ready=False)]
    return at_rest(lws, groups=groups)


def test_an_update_without_progress_for_too_long_says_so() -> None:
    found = conditions(late(61))
    assert (found["Progressing"]["status"], found["Progressing"]["reason"]) == (
        "False",
        "ProgressDeadlineExceeded",
    )


def test_an_update_in_time_is_looked_at_when_its_time_is_over() -> None:
    waiting = planned(late(20))
    assert waiting.wake_after == pytest.approx(40, abs=1)
    assert "Progressing" in true(late(20))


def test_a_paused_update_is_not_late() -> None:
    assert conditions(late(61, paused=True))["Progressing"]["status"] == "True"


def test_a_group_that_became_ready_is_progress() -> None:
    snapshot = late(61)
    groups = [*snapshot.groups[:2], facts(2, since=NOW - 5)]
    moved = at_rest(snapshot.lws, groups=groups)
    assert conditions(moved)["Progressing"]["status"] == "True"
    assert planned(moved).wake_after == pytest.approx(55)


def test_an_update_that_overtakes_another_is_not_late_from_the_start() -> None:
    """The condition has been true since the first began; the second begins with this very pass."""
    assert conditions(late(600), wanted=OLD_KEY)["Progressing"]["status"] == "True"


def test_a_step_that_we_took_is_progress() -> None:
    snapshot = late(600)
    document = statefulset_document()
    applied = {"manager": "lws", "operation": "Apply", "time": format_time(NOW - 20)}
    document["metadata"]["managedFields"] = [applied]
    stepped = at_rest(snapshot.lws, groups=snapshot.groups, document=document)
    assert conditions(stepped)["Progressing"]["status"] == "True"
    assert planned(stepped).wake_after == pytest.approx(40)


@pytest.mark.parametrize(("status", "left"), [("True", None), ("False", 50)])
def test_an_update_that_was_resumed_has_its_whole_time_again(
    status: str, left: float | None
) -> None:
    snapshot = late(600)
    before = msgspec.to_builtins(snapshot.lws.status.conditions)
    paused = a_condition("Paused", status, lastTransitionTime=format_time(NOW - 10))
    lws = a_set(progressDeadlineSeconds=60, status={"conditions": [*before, paused]})
    resumed = at_rest(lws, groups=snapshot.groups)
    assert conditions(resumed)["Progressing"]["status"] == "True"
    assert planned(resumed).wake_after == (left if left is None else pytest.approx(left))
