"""The planner's contract on every small update, and that the judge can say no.

All updates of three roles take minutes: `python -m benchmarks.planner_check` judges those.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from lws.planner.disaggregatedset import next_step, position, rules, steps
from lws.planner.disaggregatedset.position import Step
from tests.property.disaggregatedset.contract import (
    Counts,
    Planner,
    Update,
    small_updates,
    tally,
    unordered_updates,
    verdict,
)


def test_every_update_of_two_roles_keeps_the_contract() -> None:
    found = tally(small_updates(roles=2, most=5), next_step)
    assert found.updates == 82_944
    assert found.faults == {}
    assert found.longest == 15


def test_updates_of_three_roles_keep_the_contract() -> None:
    budgets = ((1, 0), (0, 1), (2, 0), (1, 2))
    found = tally(unordered_updates(roles=3, most=3, budgets=budgets), next_step)
    assert found.updates == 45_760
    assert found.faults == {}


def test_two_roles_from_anywhere_keep_the_contract() -> None:
    starts = 0
    for update in small_updates(roles=2, most=1):
        for old, new in pairs(roles=2, most=2):
            starts += 1
            assert not verdict(update, next_step, old=old, new=new).faults, (update, old, new)
    assert starts == 82_944


def pairs(*, roles: int, most: int) -> Iterator[tuple[Counts, Counts]]:
    """Every (old, new) of some roles with 0 to `most` replicas."""
    for update in small_updates(roles=roles, most=most, budgets=((0, 0),)):
        yield update.initial_old, update.target


def test_a_planner_without_floors_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "floors", lambda at: (0,) * len(at.old))
    assert faults_of(next_step)["floor"] > 0


def test_a_planner_that_takes_too_much_room_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position, "rooms", lambda at: tuple(t + 3 for t in at.target))
    assert faults_of(next_step)["surge"] > 0


def test_a_planner_without_orphan_prevention_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "orphan_prevention", lambda *, wanted, **_: wanted)
    assert faults_of(next_step)["half"] > 0


@pytest.mark.parametrize(
    ("rule", "update"),
    [
        (rules.run_ahead, Update((1, 2), (1, 2), (0, 1), (1, 0))),
        (rules.drain_a_batch, Update((1, 3), (1, 4), (0, 1), (2, 0))),
    ],
)
def test_a_planner_that_knows_no_way_around_a_blocked_role_is_caught(
    monkeypatch: pytest.MonkeyPatch, rule: rules.Rule, update: Update
) -> None:
    monkeypatch.setattr(steps, "MOVES", tuple(move for move in rules.MOVES if move is not rule))
    assert verdict(update, next_step).faults == {"end"}


def test_a_step_on_both_sides_is_caught() -> None:
    def planner(**arguments: Counts) -> Step | None:
        step = next_step(**arguments)
        return step and (tuple(max(0, old - 1) for old in step[0]), step[1])

    assert faults_of(planner)["not one side"] > 0


def test_a_step_back_is_caught() -> None:
    def planner(**arguments: Counts) -> Step | None:
        step = next_step(**arguments)
        return step and (step[0], tuple(max(0, new - 1) for new in step[1]))

    assert faults_of(planner)["back"] > 0


def test_a_planner_that_never_ends_is_caught() -> None:
    def planner(*, old: Counts, new: Counts, **_: Counts) -> Step | None:
        return old, new

    assert faults_of(planner, most=1)["long"] > 0


def test_a_planner_that_gives_up_is_caught() -> None:
    def planner(**_: Counts) -> Step | None:
        return None

    assert faults_of(planner, most=1)["end"] > 0


def faults_of(planner: Planner, *, most: int = 2) -> Mapping[str, int]:
    return Counter(tally(small_updates(roles=2, most=most), planner).faults)
