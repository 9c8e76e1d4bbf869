"""The rolling update: the spec's sequences by hand, then each rule.

Groups are written as letters by ordinal: O old and ready, o old and not ready, x old and not ready
for long, N of the wanted revision and ready, n not ready, E and e the same of an earlier update,
- missing.
"""

from functools import partial

import pytest

from lws.planner.leaderworkerset import (
    DeleteLeader,
    Group,
    LeaderStatefulSet,
    SetRollout,
    next_rollout,
)

LETTERS = {
    "O": Group("old", True, False),
    "o": Group("old", False, False),
    "x": Group("old", False, True),
    "E": Group("earlier", True, False),
    "e": Group("earlier", False, False),
    "N": Group("new", True, False),
    "n": Group("new", False, False),
    "-": Group(None, False, False),
}


def step(
    groups: str,
    *,
    replicas: int,
    stands: tuple[int, int],
    surge: int = 0,
    unavailable: int = 0,
    partition: int = 0,
    key: str = "new",
    observed: bool | None = True,
    on_delete: bool = False,
    applied: int | None = None,
    paused: bool = False,
    handing_over: bool = False,
) -> tuple[SetRollout | DeleteLeader, ...]:
    statefulset = LeaderStatefulSet(
        replicas=stands[0],
        partition=stands[1],
        on_delete=on_delete,
        key=key,
        observed=observed,
        applied_replicas=replicas if applied is None else applied,
    )
    return next_rollout(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        wanted="new",
        statefulset=statefulset,
        groups=[LETTERS[letter] for letter in groups],
        paused=paused,
        handing_over=handing_over,
    )


def write(replicas: int, partition: int, on_delete: bool = False) -> tuple[SetRollout]:
    return (SetRollout(replicas, partition, on_delete, "new"),)


# To check by hand. No StatefulSet controller runs (observed unset), so nothing is deleted and an
# old group stays until the test replaces it. The StatefulSet stands as the step before left it.


def test_by_hand_one_unavailable_goes_down_one_by_one() -> None:
    at = partial(step, replicas=4, unavailable=1, observed=None)
    assert at("OOOO", stands=(4, 0), key="old") == write(4, 3)
    assert at("OOON", stands=(4, 3)) == write(4, 2)


def test_by_hand_a_group_updated_out_of_order_moves_nothing() -> None:
    at = partial(step, replicas=4, unavailable=1, observed=None, stands=(4, 2))
    assert at("ONON") == ()
    assert at("ONOn") == ()


def test_by_hand_two_unavailable_start_with_two() -> None:
    assert step(
        "OOOO", replicas=4, unavailable=2, stands=(4, 0), key="old", observed=None
    ) == write(4, 2)


def test_by_hand_surge_and_unavailable_together() -> None:
    at = partial(step, replicas=4, surge=2, unavailable=2, observed=None)
    assert at("OOOO", stands=(4, 0), key="old") == write(6, 2)
    assert at("OOOOnn", stands=(6, 2)) == ()
    assert at("OONNnn", stands=(6, 2)) == write(4, 0)


def test_by_hand_a_second_update_counts_the_ready_surge() -> None:
    at = partial(step, replicas=4, surge=2, unavailable=1, observed=None)
    assert at("OOOO", stands=(4, 0), key="old") == write(6, 3)
    assert at("OOOONN", stands=(6, 3)) == write(6, 1)
    assert at("OOOOEE", stands=(6, 1), key="earlier") == write(6, 3)


def test_by_hand_a_group_that_has_just_become_unready_costs_availability() -> None:
    assert step(
        "OoOO", replicas=4, unavailable=2, stands=(4, 0), key="old", observed=None
    ) == write(4, 3)


def test_by_hand_groups_that_are_not_ready_cost_only_flight() -> None:
    at = partial(step, replicas=2, unavailable=1, observed=None)
    assert at("oo", stands=(2, 0), key="old") == write(2, 1)
    assert at("on", stands=(2, 1)) == ()
    assert at("oN", stands=(2, 1)) == write(2, 0)


def test_by_hand_a_canary_keeps_the_surge_until_it_is_let_go() -> None:
    at = partial(step, replicas=3, surge=1, unavailable=1, observed=None)
    assert at("OOO", stands=(3, 0), key="old", partition=2) == write(4, 2)
    assert at("OONN", stands=(4, 2), partition=2) == ()
    assert at("OONN", stands=(4, 2)) == write(4, 0)
    assert at("NNNN", stands=(4, 0)) == write(3, 0)


# Budgets


def test_both_budgets_zero_count_as_one_unavailable() -> None:
    assert step("OOO", replicas=3, stands=(3, 0), key="old") == write(3, 2)


def test_surge_beyond_the_replicas_is_cut() -> None:
    assert step("OO", replicas=2, surge=9, stands=(2, 0), key="old") == write(4, 2)


def test_nothing_is_wrong_with_no_replicas() -> None:
    assert step("", replicas=0, stands=(0, 0)) == ()
    assert step("", replicas=0, surge=1, stands=(0, 0), key="old") == write(0, 0)


def test_a_negative_count_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="negative"):
        step("", replicas=-1, stands=(0, 0))


# At rest


@pytest.mark.parametrize("partition", [0, 1, 3, 5])
def test_a_finished_set_plans_nothing(partition: int) -> None:
    at = partial(step, replicas=3, surge=1, unavailable=1, partition=partition)
    assert at("NNN", stands=(3, partition)) == ()


def test_a_fresh_set_starts_without_surge() -> None:
    assert step("---", replicas=3, surge=2, unavailable=1, stands=(3, 0)) == ()


def test_records_beyond_the_statefulset_are_ignored() -> None:
    assert step("NNNoo", replicas=3, unavailable=1, stands=(3, 0)) == ()


def test_records_that_are_not_there_are_missing_groups() -> None:
    assert step("OO", replicas=3, unavailable=1, stands=(3, 0), key="old") == write(3, 2)


# Promised


def test_an_update_takes_along_what_the_earlier_one_may_still_take() -> None:
    assert step("OOOE", replicas=4, unavailable=1, stands=(4, 2), key="earlier") == write(4, 4)
    assert step("OOO-", replicas=4, unavailable=1, stands=(4, 2), key="earlier") == write(4, 4)
    assert step("OOOO", replicas=4, unavailable=2, stands=(4, 2), key="earlier") == write(4, 2)


def test_groups_promised_and_left_standing_are_deleted() -> None:
    at = partial(step, replicas=4, unavailable=2, stands=(4, 2))
    assert at("OOOO") == (DeleteLeader(2), DeleteLeader(3))
    assert at("OO-O") == (DeleteLeader(3),)


@pytest.mark.parametrize("observed", [False, None])
def test_nothing_is_deleted_before_the_statefulset_controller_has_seen_the_spec(
    observed: bool | None,
) -> None:
    assert step("OOOO", replicas=4, unavailable=2, stands=(4, 2), observed=observed) == ()


# Walk


def test_the_walk_waits_while_the_statefulset_controller_is_behind() -> None:
    at = partial(step, replicas=4, unavailable=1)
    assert at("OOON", stands=(4, 3), observed=False) == ()
    assert at("OOOO", stands=(4, 0), key="old", observed=False) == write(4, 4)


def test_the_walk_goes_no_lower_than_spec_partition() -> None:
    assert step("OOOO", replicas=4, unavailable=4, partition=1, stands=(4, 0), key="old") == write(
        4, 1
    )


def test_the_walk_ends_at_the_partition_once_only_updated_groups_are_left() -> None:
    assert step("NNON", replicas=4, unavailable=1, stands=(4, 3)) == write(4, 0)
    assert step("NNNN", replicas=4, unavailable=1, stands=(4, 3)) == write(4, 0)


def test_a_raised_spec_partition_is_followed() -> None:
    assert step("OONN", replicas=4, unavailable=1, partition=3, stands=(4, 2)) == write(4, 3)


def test_a_broken_updated_group_holds_its_place_in_flight() -> None:
    assert step("OOOn", replicas=4, unavailable=1, stands=(4, 3)) == ()
    assert step("OOOn", replicas=4, unavailable=2, stands=(4, 3)) == write(4, 2)


def test_availability_is_kept_whatever_the_budget() -> None:
    assert step("ooOO", replicas=4, surge=2, unavailable=1, stands=(4, 0), key="old") == write(6, 4)


def test_a_missing_group_below_comes_back_old_and_is_taken() -> None:
    assert step("O-ON", replicas=4, unavailable=1, stands=(4, 3)) == ()
    assert step("O-NN", replicas=4, unavailable=1, stands=(4, 2)) == write(4, 1)


# Paused


def test_paused_takes_no_further_group() -> None:
    assert step("OOON", replicas=4, unavailable=1, stands=(4, 3), paused=True) == ()


def test_paused_records_a_new_update_and_takes_nothing() -> None:
    at = partial(step, replicas=4, unavailable=1, paused=True)
    assert at("OOOO", stands=(4, 0), key="old") == write(4, 4)


def test_paused_scales() -> None:
    assert step("OOON", replicas=5, unavailable=1, stands=(4, 3), applied=4, paused=True) == write(
        5, 3
    )


# Replicas wanted and giving back


def test_scaling_up_adds_groups() -> None:
    assert step("NN", replicas=4, surge=1, stands=(2, 0), applied=2) == write(4, 0)


def test_scaling_down_takes_groups_off_at_once() -> None:
    assert step("NNNN", replicas=2, unavailable=1, stands=(4, 0), applied=4) == write(2, 0)


def test_scaling_down_does_not_wait_for_groups_that_are_not_ready() -> None:
    at = partial(step, "nnNN", replicas=2, surge=2, stands=(4, 0))
    assert at(applied=4) == write(2, 0)
    assert at() == ()


def test_scaling_down_in_mid_update_keeps_what_serves() -> None:
    at = partial(step, "ooNN", replicas=2, surge=2, stands=(4, 2), applied=4)
    assert at() == write(4, 0)


def test_scaling_down_to_nothing() -> None:
    assert step("OOON", replicas=0, unavailable=0, stands=(4, 3), applied=4) == write(0, 0)


def test_a_change_of_spec_replicas_is_recorded_even_if_the_replicas_stay() -> None:
    assert step("OOON", replicas=3, surge=1, stands=(4, 3), applied=4) == write(4, 2)
    assert step("OOOn", replicas=3, surge=1, stands=(4, 3), applied=4) == write(4, 3)


def test_surge_is_given_back_one_by_one() -> None:
    at = partial(step, replicas=4, surge=2)
    assert at("OONNNN", stands=(6, 2)) == write(6, 0)
    assert at("OnNNNN", stands=(6, 0)) == (DeleteLeader(0),)
    assert at("nnNNNN", stands=(6, 0)) == ()
    assert at("nNNNNN", stands=(6, 0)) == write(5, 0)
    assert at("NNNNNN", stands=(6, 0)) == write(4, 0)


def test_surge_groups_that_serve_in_the_place_of_others_are_kept() -> None:
    at = partial(step, replicas=4, surge=2, unavailable=1)
    assert at("OnnnNN", stands=(6, 1)) == ()
    assert at("NNnnNN", stands=(6, 0)) == write(5, 0)


def test_surge_is_kept_while_the_statefulset_controller_is_behind() -> None:
    assert step("NNNNN", replicas=4, surge=1, stands=(5, 0), observed=False) == ()


# Healing


def test_a_broken_old_group_is_healed_out_of_order() -> None:
    at = partial(step, replicas=3, unavailable=1)
    assert at("xOO", stands=(3, 3)) == write(3, 3, True)
    assert at("xOO", stands=(3, 3), on_delete=True) == (DeleteLeader(0),)
    assert at("-OO", stands=(3, 3), on_delete=True) == ()
    assert at("nOO", stands=(3, 3), on_delete=True) == write(3, 3)
    assert at("NOO", stands=(3, 3)) == write(3, 2)


def test_the_highest_broken_group_is_healed_first() -> None:
    at = partial(step, replicas=4, unavailable=2, stands=(4, 4), on_delete=True)
    assert at("xxxO") == (DeleteLeader(2),)
    assert at("xxnO") == (DeleteLeader(1),)
    assert at("xnnO") == write(4, 4)


def test_a_group_unready_for_a_moment_is_not_healed() -> None:
    assert step("oOO", replicas=3, unavailable=1, stands=(3, 3)) == ()


@pytest.mark.parametrize("observed", [False, None])
def test_no_window_opens_before_the_spec_is_observed(observed: bool | None) -> None:
    assert step("xOO", replicas=3, unavailable=1, stands=(3, 3), observed=observed) == ()


def test_no_window_opens_if_a_held_group_would_come_back_new() -> None:
    at = partial(step, replicas=4, unavailable=1, partition=1, stands=(4, 4))
    assert at("-xOO") == ()
    assert at("OxOO") == write(4, 4, True)


def test_groups_below_spec_partition_are_not_healed() -> None:
    at = partial(step, replicas=3, unavailable=1, partition=2, stands=(3, 3))
    assert at("xOO") == ()


def test_an_open_window_lasts_until_the_healed_group_is_back() -> None:
    at = partial(step, replicas=3, unavailable=1, stands=(3, 3), on_delete=True)
    assert at("-OO", observed=False) == ()
    assert at("OOO") == write(3, 3)


def test_nothing_is_healed_before_the_window_is_observed() -> None:
    at = partial(step, replicas=3, unavailable=1, stands=(3, 3), on_delete=True)
    assert at("xOO", observed=False) == ()


@pytest.mark.parametrize(("paused", "handing_over"), [(True, False), (False, True)])
def test_pausing_and_handing_over_close_the_window_and_open_none(
    paused: bool, handing_over: bool
) -> None:
    at = partial(
        step, replicas=3, unavailable=1, stands=(3, 3), paused=paused, handing_over=handing_over
    )
    assert at("xOO", on_delete=True) == write(3, 3)
    assert at("-OO", on_delete=True) == write(3, 3)
    assert at("xOO") == ()


def test_an_update_that_starts_closes_the_window() -> None:
    assert step(
        "xOO", replicas=3, unavailable=1, stands=(3, 3), on_delete=True, key="old"
    ) == write(3, 3)
