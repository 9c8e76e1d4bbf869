"""Budgets of a DisaggregatedSet's update, percents resolved."""

import pytest

from lws.api.intorpercent import IntOrPercent
from lws.planner.disaggregatedset import resolve_budgets


@pytest.mark.parametrize(
    ("target", "max_surge", "max_unavailable", "surge", "unavailable"),
    [
        (10, None, None, 1, 0),
        (10, 0, 0, 1, 0),
        (10, 3, None, 3, 0),
        (10, 3, 0, 3, 0),
        (10, 3, 2, 3, 2),
        (10, 0, 2, 0, 2),
        (10, None, 2, 0, 2),
        (10, "25%", "25%", 3, 2),
        (3, "1%", "30%", 1, 0),
        (0, "50%", "50%", 1, 0),
        (3, 0, "30%", 1, 0),
        (10, -1, -2, 1, 0),
    ],
)
def test_budgets_of_a_role(
    target: int,
    max_surge: IntOrPercent | None,
    max_unavailable: IntOrPercent | None,
    surge: int,
    unavailable: int,
) -> None:
    budgets = resolve_budgets(target=target, max_surge=max_surge, max_unavailable=max_unavailable)
    assert budgets == (surge, unavailable)


def test_garbage_is_refused() -> None:
    with pytest.raises(ValueError, match="percentage"):
        resolve_budgets(target=3, max_surge="many", max_unavailable=None)
