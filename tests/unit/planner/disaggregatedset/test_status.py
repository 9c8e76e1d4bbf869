"""What a set says of itself."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from lws.api.kinds import Kind
from lws.base.ids import RevisionKey
from lws.base.times import format_time
from lws.planner.disaggregatedset.census import RoleTotals
from lws.planner.disaggregatedset.identity import read_wanted
from lws.planner.disaggregatedset.snapshot import (
    ScalerViews,
    SetSnapshot,
    SliceReport,
    Waiting,
)
from lws.planner.disaggregatedset.status import SetStatusPlan
from lws.planner.disaggregatedset.status import plan_set_status as plan_status_at
from lws.planner.timing import Timing
from tests.unit.planner.disaggregatedset.worlds import START, Json, a_ds, a_role, decoded

ROLES = [a_role("prefill", 2), a_role("decode", 1)]
READY = {"prefill": RoleTotals(1, 2, 2, 2, 2), "decode": RoleTotals(1, 1, 1, 1, 1)}


def a_snapshot(ds: Json | None = None, **changes: Any) -> SetSnapshot:
    read = decoded(ds or a_ds(ROLES))
    fields: dict[str, Any] = {
        "ds": read,
        "wanted": read_wanted(read),
        "key": RevisionKey("k"),
        "totals": READY,
        "own_scalers": (),
        "scalers": ScalerViews(replicas={}, conflicts=frozenset()),
        "reports": {},
        "now": START,
    }
    return SetSnapshot(**(fields | changes))


def plan_set_status(snapshot: SetSnapshot, *, age: float = 0.0) -> SetStatusPlan:
    return plan_status_at(snapshot, timing=Timing(age=age))


def written(snapshot: SetSnapshot) -> tuple[SetSnapshot, SetStatusPlan]:
    """The status is written; the snapshot with it."""
    planned = plan_set_status(snapshot)
    document = msgspec.json.decode(snapshot.ds.document)
    document["status"] = {**document.get("status", {}), **(planned.status or {})}
    return replace(snapshot, ds=decoded(document)), planned


def conditions(snapshot: SetSnapshot) -> dict[str, Json]:
    after, _ = written(snapshot)
    return {one.type: msgspec.to_builtins(one) for one in after.ds.status.conditions}


def states(snapshot: SetSnapshot) -> dict[str, str]:
    return {kind: one["status"] for kind, one in conditions(snapshot).items()}


def test_what_is_written_once_is_not_written_again() -> None:
    after, first = written(a_snapshot())
    assert first.status is not None
    assert plan_set_status(after).status is None


def test_roles_are_told_in_the_order_of_the_spec() -> None:
    after, _ = written(a_snapshot())
    assert [one.name for one in after.ds.status.role_statuses] == ["prefill", "decode"]
    assert after.ds.status.observed_generation == 1


def test_available_and_progressing_exclude_each_other() -> None:
    assert states(a_snapshot()) == {"Available": "True", "Progressing": "False"}
    assert {one["reason"] for one in conditions(a_snapshot()).values()} == {"AllRolesReady"}
    fewer = a_snapshot(totals={**READY, "decode": RoleTotals(1, 1, 1, 0, 1)})
    assert states(fewer) == {"Available": "False", "Progressing": "True"}
    assert {one["reason"] for one in conditions(fewer).values()} == {"RolloutInProgress"}


@pytest.mark.parametrize("field", ["replicas", "ready", "updated"])
def test_each_of_the_three_must_equal_target_times_slices(field: str) -> None:
    ds = a_ds(ROLES, slices=3)
    whole = {"prefill": RoleTotals(3, 6, 6, 6, 6), "decode": RoleTotals(3, 3, 3, 3, 3)}
    assert states(a_snapshot(ds, totals=whole))["Available"] == "True"
    for number in (2, 4):
        other = {**whole, "decode": whole["decode"]._replace(**{field: number})}
        assert states(a_snapshot(ds, totals=other))["Available"] == "False"


def test_an_external_role_is_measured_by_its_scaler() -> None:
    ds = a_ds([ROLES[0], a_role("decode", 9, scaling={"mode": "External"})])
    unknown = a_snapshot(ds)
    assert states(unknown)["Available"] == "False"
    followed = replace(unknown, scalers=ScalerViews(replicas={"decode": 1}, conflicts=frozenset()))
    assert states(followed)["Available"] == "True"
    taken = replace(unknown, scalers=ScalerViews(replicas={}, conflicts=frozenset({"decode"})))
    assert states(taken)["Available"] == "True"


def test_the_time_of_a_condition_moves_only_when_it_flips() -> None:
    after, _ = written(a_snapshot())
    later = replace(
        after, now=START + 60, totals={**READY, "decode": RoleTotals(2, 2, 2, 1, 1)}, reports={}
    )
    flipped, _ = written(later)
    moved = {one.last_transition_time for one in flipped.ds.status.conditions}
    assert moved == {format_time(START + 60)}
    again, planned = written(
        replace(
            flipped,
            now=START + 120,
            reports={0: SliceReport(Waiting("role decode: 1 of 2 replicas ready"))},
        )
    )
    assert planned.status is not None
    assert {one.last_transition_time for one in again.ds.status.conditions} == moved


# What is waited for


def waiting(since: float | None, *, now: float, slices: int = 1, others: int = 0) -> SetSnapshot:
    reports = {
        index: SliceReport(Waiting("role decode: 0 of 1 replicas ready", since))
        for index in range(1 + others)
    }
    totals = {**READY, "decode": RoleTotals()}
    return a_snapshot(a_ds(ROLES, slices=slices), totals=totals, reports=reports, now=now)


def message(snapshot: SetSnapshot) -> str:
    return str(conditions(snapshot)["Progressing"]["message"])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, ""),
        (12, ", for more than 10 s"),
        (130, ", for more than 2 min"),
        (7300, ", for more than 2 h"),
    ],
)
def test_how_long_something_is_waited_for_is_told_in_steps(seconds: int, words: str) -> None:
    told = message(waiting(START, now=START + seconds))
    assert told.endswith(f"; waiting for role decode: 0 of 1 replicas ready{words}")


def test_the_next_step_of_waiting_wakes_the_set() -> None:
    assert plan_set_status(waiting(START, now=START + 12)).wake_after == 18
    assert plan_set_status(waiting(None, now=START)).wake_after is None
    assert plan_set_status(a_snapshot()).wake_after is None


def test_the_first_slice_that_waits_speaks_for_the_others() -> None:
    told = message(waiting(None, now=START, slices=5, others=2))
    assert "; slice 0: waiting for role decode" in told
    assert told.endswith("(and 2 other slices)")


def test_what_the_server_refused_is_told() -> None:
    snapshot = replace(
        waiting(None, now=START), reports={0: SliceReport(None, ("LeaderWorkerSet x: no quota",))}
    )
    assert message(snapshot).endswith("; LeaderWorkerSet x: no quota")


def test_words_can_wait_and_a_flip_cannot() -> None:
    after, first = written(waiting(START, now=START))
    assert first.wait == 0
    assert plan_set_status(replace(after, now=START + 12), age=0.25).wait == 0.75
    assert plan_set_status(replace(after, totals=READY, reports={})).wait == 0


# Conflicts


def test_a_conflict_that_never_was_is_not_listed() -> None:
    assert "Conflict" not in states(a_snapshot())


def test_a_scaler_in_our_place_is_told_with_an_event_and_forgotten_when_it_goes() -> None:
    ds = a_ds([ROLES[0], a_role("decode", 1, scaling={"mode": "External"})])
    taken = ScalerViews(replicas={}, conflicts=frozenset({"decode"}))
    after, planned = written(a_snapshot(ds, scalers=taken))
    (event,) = planned.events
    assert (event.type.value, event.reason) == ("Warning", "ScalerConflict")
    assert "DisaggregatedSetRoleScaler pd-decode" in event.note
    assert conditions(after)["Conflict"]["reason"] == "ScalerConflict"
    assert plan_set_status(after).events == ()
    ours = ScalerViews(replicas={"decode": 1}, conflicts=frozenset())
    cleared, planned = written(replace(after, scalers=ours))
    assert planned.events == ()
    assert states(cleared)["Conflict"] == "False"


def test_every_foreign_object_is_named() -> None:
    foreign = frozenset({(Kind.SERVICE, "b"), (Kind.LEADER_WORKER_SET, "a")})
    told = conditions(a_snapshot(foreign=foreign))["Conflict"]
    assert told["reason"] == "ObjectConflict"
    assert told["message"] == (
        "LeaderWorkerSet a exists and is not ours; Service b exists and is not ours"
    )
