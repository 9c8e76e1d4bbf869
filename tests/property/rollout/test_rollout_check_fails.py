"""The check is worth something: planners that are wrong in one respect are found out."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from lws.planner.leaderworkerset import rollout
from lws.planner.leaderworkerset import rollout_rules as rules
from tests.property.rollout.asking import Planning
from tests.property.rollout.search import searched
from tests.property.rollout.worlds import Size, worlds

Rule = Callable[..., Any]

BOUNDS_OF, IN_FLIGHT, GIVING_BACK = rules.bounds_of, rules.in_flight, rules.giving_back
OUTCOME = rollout._outcome


def bounds_off_by(**errors: int) -> Rule:
    def bounds_of(**inputs: Any) -> rules.Bounds:
        bounds = BOUNDS_OF(**inputs)
        wrong = {name: getattr(bounds, name) + error for name, error in errors.items()}
        return msgspec.structs.replace(bounds, **wrong)

    return bounds_of


def walking_while_behind(bounds: rules.Bounds, *rest: Any, **named: Any) -> Any:
    statefulset = msgspec.structs.replace(bounds.statefulset, observed=True)
    return OUTCOME(msgspec.structs.replace(bounds, statefulset=statefulset), *rest, **named)


def flight_without_the_missing(bounds: rules.Bounds, *rest: Any) -> list[bool]:
    statefulset = msgspec.structs.replace(bounds.statefulset, on_delete=False)
    return IN_FLIGHT(msgspec.structs.replace(bounds, statefulset=statefulset), *rest)


def given_back_by_today(bounds: rules.Bounds, reading: rules.Reading, *, want: int, to: int) -> int:
    """Counts the groups that serve before the walk, so those that it has just taken too."""
    old = [is_old and ordinal < to for ordinal, is_old in enumerate(reading.old)]
    before = msgspec.structs.replace(reading, old=old)
    return GIVING_BACK(bounds, before, want=want, to=to)


WRONG: dict[str, tuple[object, str, Rule, str]] = {
    "floor too low": (rules, "bounds_of", bounds_off_by(floor=-1), "availability"),
    "floor too high": (rules, "bounds_of", bounds_off_by(floor=1), "stall"),
    "budget too large": (rules, "bounds_of", bounds_off_by(budget=1), "in flight"),
    "budget too small": (rules, "bounds_of", bounds_off_by(budget=-1), "stall"),
    "surge beyond": (rules, "replicas_wanted", lambda b, _: b.replicas + b.surge + 1, "replicas"),
    "nothing promised": (rules, "promised", lambda _, keys: [False] * len(keys), "stall"),
    "walks while behind": (rollout, "_outcome", walking_while_behind, "availability"),
    "gives back at once": (rules, "giving_back", lambda *_, want, to: want, "availability"),
    "gives back by today": (rules, "giving_back", given_back_by_today, "availability"),
    "no healing": (rules, "window_opens", lambda *_: False, "stall"),
    "window never closes": (rules, "window_lasts", lambda *_: True, "at rest"),
    "no deletion": (rollout, "_deletions", lambda *_: (), "stall"),
    "missing not in flight": (rules, "in_flight", flight_without_the_missing, "in flight"),
}

SMALL = [
    Size(1, 1, 1, users=1, faults=1),
    Size(2, 1, 1, users=1, faults=0),
    Size(2, 1, 2, users=0, faults=1),
]


@pytest.mark.parametrize("name", WRONG)
def test_a_planner_that_is_wrong_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, rule, wrong, kind = WRONG[name]
    monkeypatch.setattr(module, rule, wrong)
    planning = Planning()
    kinds = set[str]()
    for size in SMALL:
        for start in worlds(size, ("any",)):
            kinds.update(searched(start.world, start.states, planning).examples)
            if any(found.startswith(kind) for found in kinds):
                return
    pytest.fail(f"{kind} was not among {kinds}")
