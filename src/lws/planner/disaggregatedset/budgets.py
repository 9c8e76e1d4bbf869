"""Surge and unavailability of a role's update, from its rollingUpdateConfiguration."""

from typing import NamedTuple

from lws.api.intorpercent import IntOrPercent, resolve


class Budgets(NamedTuple):
    """How many replicas of a role may be too many, and how many may be missing."""

    surge: int
    unavailable: int


DEFAULT_BUDGETS = Budgets(surge=1, unavailable=0)
"""Of a role that gives none, and of a removed one: never fewer than users have now."""


def resolve_budgets(
    *, target: int, max_surge: IntOrPercent | None, max_unavailable: IntOrPercent | None
) -> Budgets:
    """A positive unavailability brings its surge with it; else a positive surge is taken; else
    the default. So a role never has neither, and no update can get stuck for that.

    A percentage is of the target: surge rounded up, unavailability rounded down. ValueError for
    a string that is no percentage.
    """
    surge = _resolved(max_surge, target=target, round_up=True)
    unavailable = _resolved(max_unavailable, target=target, round_up=False)
    if surge == 0 and unavailable == 0:
        return DEFAULT_BUDGETS
    return Budgets(surge=surge, unavailable=unavailable)


def _resolved(value: IntOrPercent | None, *, target: int, round_up: bool) -> int:
    """The number that `value` means; none or a negative one (no webhook saw it) is 0."""
    if value is None:
        return 0
    return max(0, resolve(value, total=target, round_up=round_up))
