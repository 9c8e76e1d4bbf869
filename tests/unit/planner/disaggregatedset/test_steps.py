"""The sequence of steps from old replicas to new ones."""

from collections.abc import Sequence

import pytest

from lws.planner.disaggregatedset import all_steps, is_done, next_step, rules
from lws.planner.disaggregatedset.position import Position, outlook

Pair = tuple[int, ...]


def written(text: str) -> list[tuple[Pair, Pair]]:
    """Steps as people write them: `old,old/new,new · …`."""
    sides = [step.split("/") for step in text.split(" · ")]
    return [(numbers(old), numbers(new)) for old, new in sides]


def numbers(text: str) -> Pair:
    return tuple(map(int, text.split(",")))


def test_an_update_that_shrinks_one_role_and_grows_the_other() -> None:
    steps = all_steps(initial_old=[10, 2], target=[6, 8], surge=[2, 2], unavailable=[0, 0])
    assert list(steps) == written(
        "10,2/0,0 · 8,2/0,0 · 6,2/0,0 · 6,2/2,2 · 4,1/2,2 · 4,1/3,4 · 4,1/4,5 · 2,1/4,5"
        " · 2,1/5,7 · 2,1/6,8 · 0,0/6,8"
    )


def test_an_update_of_unequal_roles_with_unavailability() -> None:
    steps = all_steps(initial_old=[5, 2], target=[5, 2], surge=[2, 2], unavailable=[1, 1])
    assert list(steps) == written(
        "5,2/0,0 · 5,2/2,1 · 4,2/2,1 · 3,2/2,1 · 3,2/4,2 · 2,1/4,2 · 2,1/5,2 · 0,0/5,2"
    )


@pytest.mark.parametrize(
    ("before", "after", "update"),
    [
        ("0,0/6,8", None, "10,2 6,8 2,2 0,0"),
        ("0,0/9,9", None, "10,2 6,8 2,2 0,0"),
        ("12,2/0,0", "10,2/0,0", "10,2 6,8 2,2 0,0"),
        ("4,2/6,9", "0,0/6,9", "10,2 6,8 2,2 0,0"),
    ],
)
def test_rules_that_need_no_path(before: str, after: str | None, update: str) -> None:
    (at,) = written(before)
    assert next_step(**position(at, update)._asdict()) == (after and written(after)[0])


@pytest.mark.parametrize(
    ("rule", "before", "after", "update"),
    [
        (rules.scale_up_in_step, "6,2/0,0", "6,2/2,2", "10,2 6,8 2,2 0,0"),
        (rules.proportional_drain, "4,1/4,5", "2,1/4,5", "10,2 6,8 2,2 0,0"),
        (rules.forced_drain, "4,2/2,1", "3,2/2,1", "5,2 5,2 2,2 1,1"),
        # The first role has no surge, and its only old one waits for its partner's.
        (rules.scale_up_in_part, "1,3/0,0", "1,3/0,1", "1,3 1,4 0,1 2,0"),
        (rules.run_ahead, "1,3/0,1", "1,3/0,2", "1,3 1,4 0,1 2,0"),
        (rules.drain_a_batch, "1,3/0,2", "1,2/0,2", "1,3 1,4 0,1 2,0"),
        # The partner may go now, so all go together.
        (rules.forced_drain, "1,2/0,3", "0,0/0,3", "1,3 1,4 0,1 2,0"),
    ],
)
def test_each_rule_of_the_path(rule: rules.Rule, before: str, after: str, update: str) -> None:
    (at,) = written(before)
    where = position(at, update)
    ahead = outlook(where)
    assert next(move for move in rules.MOVES if move(where, ahead)) is rule
    assert rule(where, ahead) == written(after)[0] == next_step(**where._asdict())


def position(at: tuple[Pair, Pair], update: str) -> Position:
    """Where an update stands; `update`: initial old, target, surge, unavailable."""
    initial_old, target, surge, unavailable = map(numbers, update.split())
    return Position(initial_old, *at, target, surge, unavailable)


def test_a_removed_role_does_not_keep_the_others_from_growing() -> None:
    where = position(((4, 9), (0, 0)), "4,9 4,0 1,1 0,0")
    assert next_step(**where._asdict()) == ((4, 9), (1, 0))


def test_an_added_role_grows_in_step_with_the_others() -> None:
    steps = all_steps(initial_old=(4, 0), target=(4, 4), surge=(1, 1), unavailable=(0, 0))
    assert [new for _, new in steps if new[0] != new[1]] == []


def test_nothing_to_update_is_done() -> None:
    empty: tuple[int, ...] = ()
    assert is_done(old=empty, new=empty, target=empty)
    assert all_steps(initial_old=empty, target=empty, surge=empty, unavailable=empty) == (((), ()),)


def test_no_step_without_a_budget_is_not_taken_for_completion() -> None:
    assert next_step(**position(((1,), (0,)), "1 1 0 0")._asdict()) is None
    assert not is_done(old=[1], new=[0], target=[1])


@pytest.mark.parametrize("name", ["initial_old", "old", "new", "target", "surge", "unavailable"])
@pytest.mark.parametrize("wrong", [(1, -1), (1, 1, 1), ()])
def test_a_wrong_argument_is_named(name: str, wrong: Sequence[int]) -> None:
    arguments: dict[str, Sequence[int]] = {
        "initial_old": (1, 1),
        "old": (1, 1),
        "new": (0, 0),
        "target": (1, 1),
        "surge": (1, 1),
        "unavailable": (0, 0),
    }
    with pytest.raises(ValueError, match=rf"^{name}: "):
        next_step(**{**arguments, name: wrong})
    arguments = {key: value for key, value in arguments.items() if key not in {"old", "new"}}
    with pytest.raises(ValueError, match=rf"^{name}: "):
        all_steps(**{**arguments, name: wrong})


@pytest.mark.parametrize("name", ["old", "new", "target"])
def test_a_wrong_argument_of_is_done_is_named(name: str) -> None:
    arguments: dict[str, Sequence[int]] = {"old": (0, 0), "new": (1, 1), "target": (1, 1)}
    with pytest.raises(ValueError, match=rf"^{name}: "):
        is_done(**{**arguments, name: (1,)})


def test_a_fraction_of_a_replica_is_refused() -> None:
    with pytest.raises(TypeError):
        is_done(old=[0.5], new=[0], target=[1])  # type: ignore[list-item]  # the point
