"""Wishes merged into the conditions that stand."""

from lws.api.meta import Condition
from lws.base.times import format_time
from lws.planner.conditions import Wish, merged

THEN, NOW = 1_700_000_000.0, 1_700_000_060.0


def standing(kind: str, status: str) -> Condition:
    return Condition(
        type=kind,
        status=status,
        reason="Before",
        message="as it was",
        last_transition_time=format_time(THEN),
        observed_generation=1,
    )


def merge(before: list[Condition], *wishes: Wish) -> tuple[Condition, ...]:
    return merged(before, wishes, generation=2, now=NOW)


def test_what_stands_keeps_its_place_and_what_is_new_comes_last() -> None:
    before = [standing("B", "True"), standing("A", "False")]
    after = merge(before, Wish("C", True), Wish("A", True), Wish("B", False))
    assert [(one.type, one.status) for one in after] == [
        ("B", "False"),
        ("A", "True"),
        ("C", "True"),
    ]


def test_a_condition_that_nobody_wishes_for_only_gets_the_generation() -> None:
    (after,) = merge([standing("Theirs", "True")])
    assert (after.status, after.reason, after.observed_generation) == ("True", "Before", 2)
    assert after.last_transition_time == format_time(THEN)


def test_the_time_moves_on_a_flip_alone() -> None:
    same, flipped = merge(
        [standing("Same", "True"), standing("Flipped", "True")],
        Wish("Same", True, "Now", "as it is"),
        Wish("Flipped", False),
    )
    assert (same.last_transition_time, same.reason) == (format_time(THEN), "Now")
    assert flipped.last_transition_time == format_time(NOW)


def test_a_false_one_keeps_its_words_unless_it_speaks() -> None:
    silent, speaking = merge(
        [standing("Silent", "True"), standing("Speaking", "True")],
        Wish("Silent", False, "Now", "as it is"),
        Wish("Speaking", False, "Now", "as it is", speaks_when_false=True),
    )
    assert (silent.reason, silent.message) == ("Before", "as it was")
    assert (speaking.reason, speaking.message) == ("Now", "as it is")


def test_one_that_was_never_true_is_listed_only_if_it_speaks() -> None:
    after = merge([], Wish("Silent", False), Wish("Speaking", False, speaks_when_false=True))
    assert [(one.type, one.status) for one in after] == [("Speaking", "False")]
