"""Old revisions are drained in step over all roles, the newest first."""

from collections.abc import Mapping

import pytest

from lws.planner.disaggregatedset import OldRevision, coordinated_drain, merged_roles, newest_first


def revision(name: str, created: float = 0, **replicas: int) -> OldRevision:
    return OldRevision(name=name, created=created, replicas=replicas)


def drained(
    *revisions: OldRevision, asked: Mapping[str, int], floor: Mapping[str, int] | None = None
) -> dict[tuple[str, str], int]:
    drains = coordinated_drain(revisions=revisions, asked=asked, floor=floor or {})
    return {(drain.revision, drain.role): drain.after for drain in drains}


def test_the_newest_revision_drains_first() -> None:
    old, new = revision("a", 1, p=3, d=3), revision("b", 2, p=3, d=3)
    assert drained(old, new, asked={"p": 2}) == {("b", "p"): 1}


def test_of_equal_age_the_name_decides() -> None:
    first, second = revision("a", p=3), revision("b", p=3)
    assert newest_first([second, first]) == [first, second]


def test_what_one_revision_cannot_give_comes_from_the_next() -> None:
    old, new = revision("a", 1, p=5), revision("b", 2, p=2)
    assert drained(old, new, asked={"p": 4}) == {("b", "p"): 0, ("a", "p"): 3}


def test_a_role_that_comes_to_0_carries_its_revision_along() -> None:
    old, new = revision("a", 1, p=5, d=5), revision("b", 2, p=1, d=3)
    assert drained(old, new, asked={"p": 1}) == {("b", "p"): 0, ("b", "d"): 0}


def test_only_the_role_that_came_to_0_pays_for_that() -> None:
    old, new = revision("a", 1, p=5, d=5), revision("b", 2, p=1, d=3)
    assert drained(old, new, asked={"p": 1, "d": 2}) == {
        ("b", "p"): 0,
        ("b", "d"): 0,
        ("a", "d"): 3,
    }


def test_a_role_that_would_fall_below_its_floor_holds_its_partner_at_1() -> None:
    old, new = revision("a", 1, p=5, d=5), revision("b", 2, p=2, d=3)
    assert drained(old, new, asked={"p": 2}, floor={"d": 6}) == {("b", "p"): 1, ("a", "p"): 4}


def test_where_every_last_one_is_held_less_goes_than_was_asked() -> None:
    old, new = revision("a", 1, p=1, d=5), revision("b", 2, p=1, d=5)
    assert drained(old, new, asked={"p": 1}, floor={"d": 8}) == {}


def test_a_role_at_its_floor_is_not_drained() -> None:
    assert drained(revision("a", p=5), asked={"p": 5}, floor={"p": 4}) == {("a", "p"): 4}
    assert drained(revision("a", p=5), asked={"p": 5}, floor={"p": 9}) == {}


def test_a_role_that_a_revision_never_had_holds_nobody() -> None:
    assert drained(revision("a", p=0, d=2), asked={"d": 1}) == {("a", "d"): 1}


def test_a_drain_that_was_cut_short_is_finished() -> None:
    half = OldRevision(
        name="a", created=0, replicas={"p": 0, "d": 2}, initial_replicas={"p": 2, "d": 2}
    )
    assert drained(half, asked={}) == {("a", "d"): 0}
    assert drained(half, asked={}, floor={"d": 1}) == {}


def test_a_negative_number_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^asked: negative for role p"):
        drained(revision("a", p=1), asked={"p": -1})
    with pytest.raises(ValueError, match=r"^floor: negative for role p"):
        drained(revision("a", p=1), asked={}, floor={"p": -1})


def test_roles_of_the_spec_come_before_removed_ones() -> None:
    revisions = [revision("a", z=1, p=1), revision("b", d=1)]
    assert merged_roles(["p", "q"], revisions) == ("p", "q", "d", "z")
