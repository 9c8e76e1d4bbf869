"""Whole rolling updates in a world where everything goes well."""

import pytest

from lws.planner.leaderworkerset import UnderWay, all_rollouts


def steps(
    *,
    replicas: int,
    surge: int,
    unavailable: int,
    partition: int = 0,
    under_way: UnderWay | None = None,
) -> list[tuple[int, int, int, int]]:
    sequence = all_rollouts(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        under_way=under_way,
    )
    return [(step.replicas, step.partition, step.ready_old, step.ready_new) for step in sequence]


def test_one_group_at_a_time() -> None:
    assert steps(replicas=3, surge=0, unavailable=1) == [
        (3, 2, 2, 1),
        (3, 1, 1, 2),
        (3, 0, 0, 3),
    ]


def test_surge_comes_first_and_goes_last() -> None:
    assert steps(replicas=4, surge=2, unavailable=1) == [
        (6, 3, 3, 3),
        (6, 0, 0, 6),
        (4, 0, 0, 4),
    ]


def test_a_canary_stops_at_spec_partition() -> None:
    assert steps(replicas=3, surge=1, unavailable=1, partition=2) == [(4, 2, 2, 2)]


def test_a_canary_that_is_let_go_goes_on_from_where_it_stands() -> None:
    held = UnderWay(replicas=4, partition=2, updated=2)
    assert steps(replicas=3, surge=1, unavailable=1, under_way=held) == [
        (4, 0, 0, 4),
        (3, 0, 0, 3),
    ]


def test_a_finished_update_has_no_steps() -> None:
    assert steps(replicas=3, surge=0, unavailable=1, under_way=UnderWay(3, 0, 3)) == []


def test_nothing_is_to_be_done_for_no_groups() -> None:
    assert steps(replicas=0, surge=0, unavailable=0) == [(0, 0, 0, 0)]


@pytest.mark.parametrize("replicas", range(12))
@pytest.mark.parametrize("surge", range(4))
@pytest.mark.parametrize("unavailable", range(4))
def test_every_update_ends_updated_and_never_drops_below_its_floor(
    replicas: int, surge: int, unavailable: int
) -> None:
    sequence = all_rollouts(replicas=replicas, surge=surge, unavailable=unavailable)
    last = sequence[-1]
    assert (last.replicas, last.partition, last.ready_old) == (replicas, 0, 0)
    allowed = max(unavailable, 0 if surge else 1)
    assert all(step.ready_during >= replicas - allowed for step in sequence)
    assert all(step.replicas <= replicas + min(surge, replicas) for step in sequence)
