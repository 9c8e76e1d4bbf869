"""How many replicas a role is to have."""

from lws.planner.disaggregatedset import (
    external_target,
    scaler_seed,
    static_target,
    target_while_draining,
)


def test_a_static_role_without_replicas_has_one() -> None:
    assert (static_target(None), static_target(0), static_target(4)) == (1, 0, 4)


def test_an_external_role_follows_its_scaler() -> None:
    assert external_target(scaler_replicas=0, present=5) == 0


def test_an_external_role_without_a_scaler_of_ours_holds_what_it_has() -> None:
    assert external_target(scaler_replicas=None, present=5) == 5


def test_a_target_does_not_fall_below_what_is_new_while_old_ones_drain() -> None:
    assert target_while_draining(target=2, new=3) == 3
    assert target_while_draining(target=4, new=3) == 4


def test_a_scaler_starts_with_what_runs() -> None:
    assert scaler_seed([]) == 1
    assert scaler_seed([2, 3]) == 5
    assert scaler_seed([0]) == 0
