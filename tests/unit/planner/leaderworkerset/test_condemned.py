"""A surge group in the room that a missing one needs (a quota that fits exactly)."""

from typing import Any

from lws.api import names
from lws.base.times import format_time
from lws.planner.actions import Propagation
from lws.planner.leaderworkerset.plan import plan
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.pods.snapshot import GroupFacts
from tests.unit.planner.leaderworkerset.worlds import (
    NAME,
    NOW,
    actions,
    at_rest,
    deletes,
    facts,
    notes,
    statefulset_document,
)


def crowded(
    groups: list[GroupFacts], *, applied: float | None = NOW - 6, **changes: Any
) -> LeaderWorkerSetSnapshot:
    """Three replicas, applied so long ago, and these groups."""
    entry = {"manager": names.FIELD_MANAGER, "operation": "Apply", "fieldsV1": {}}
    if applied is not None:
        entry["time"] = format_time(applied)
    document = statefulset_document(metadata={"managedFields": [entry]}, **changes)
    return at_rest(document=document, groups=groups)


def test_a_leader_beyond_the_replicas_goes_while_a_group_below_has_none() -> None:
    planned = plan(crowded([facts(0), facts(2), facts(3), facts(4)]))
    removed = deletes(planned)
    assert [one.name for one in removed] == [f"{NAME}-3", f"{NAME}-4"]
    assert removed[0].uid == f"{NAME}-3-uid"
    assert removed[0].propagation is Propagation.FOREGROUND
    assert notes(planned)[0] == "Deleting replica 3, whose room a missing replica needs"


def test_it_is_left_to_the_statefulset_controller_at_first() -> None:
    planned = plan(crowded([facts(0), facts(2), facts(3)], applied=NOW - 2))
    assert actions(planned) == []
    assert planned.wake_after == 3.0


def test_an_apply_of_unknown_time_gives_no_respite() -> None:
    assert len(deletes(plan(crowded([facts(0), facts(2), facts(3)], applied=None)))) == 1


def test_it_is_left_to_the_statefulset_controller_if_no_group_below_is_missing() -> None:
    planned = plan(crowded([facts(0), facts(1), facts(2), facts(3)]))
    assert actions(planned) == []
    assert planned.wake_after is None


def test_a_leader_below_that_is_going_needs_no_room_yet() -> None:
    going = facts(1, key=None, terminating=True, ready=False)
    assert actions(plan(crowded([facts(0), going, facts(2), facts(3)]))) == []


def test_a_leader_beyond_that_is_going_is_not_deleted_again() -> None:
    going = facts(3, key=None, terminating=True, ready=False)
    assert actions(plan(crowded([facts(0), facts(2), going]))) == []


def test_nothing_is_removed_while_its_controller_has_not_seen_the_spec() -> None:
    groups = [facts(0), facts(2), facts(3)]
    assert actions(plan(crowded(groups, status={"observedGeneration": 1}))) == []
