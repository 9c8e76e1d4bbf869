"""A drain waits for old replicas that are still starting, and not for broken ones."""

from typing import Any

import msgspec
import pytest

from lws.api import leaderworkerset, names
from lws.base.times import format_time
from lws.planner.disaggregatedset.snapshot import RoleSet, Waiting, place_of
from lws.planner.disaggregatedset.starting import SETTLING_SECONDS, starting_old, unready_since
from tests.unit.planner.disaggregatedset.worlds import START


def a_set(
    *, revision: str, replicas: int, ready: int, since: float = START, **status: Any
) -> RoleSet:
    document = {
        "metadata": {
            "name": f"pd-0-{revision}-decode",
            "generation": 2,
            "creationTimestamp": format_time(START - 1000),
            "labels": {names.DS_ROLE: "decode", names.DS_REVISION: revision, names.DS_SLICE: "0"},
        },
        "spec": {"replicas": replicas},
        "status": {
            "readyReplicas": ready,
            "observedGeneration": 2,
            "conditions": [
                {
                    "type": "Available",
                    "status": "True" if ready == replicas else "False",
                    "lastTransitionTime": format_time(since),
                }
            ],
        }
        | status,
    }
    lws = leaderworkerset.decode(msgspec.json.encode(document))
    return RoleSet(lws, place_of(lws, ds="pd"))


def waits(*, after: float, floor: int = 3, **status: Any) -> Waiting | None:
    """Revision a has 2 of 3 ready, b has 1; b is to go."""
    starting = a_set(revision="a", replicas=3, ready=2, **status)
    whole = a_set(revision="b", replicas=1, ready=1)
    return starting_old(
        [(whole, 0)], sets=[starting, whole], floors={"decode": floor}, now=START + after
    )


def test_a_drain_that_relies_on_a_starting_replica_waits() -> None:
    waiting = waits(after=5)
    assert waiting is not None
    assert waiting.text == "role decode of old revision a: 2 of 3 replicas ready"
    assert waiting.since == START
    assert waiting.seconds == SETTLING_SECONDS


def test_it_waits_no_longer_for_what_is_broken() -> None:
    assert waits(after=SETTLING_SECONDS) is None


def test_it_waits_for_one_that_nobody_has_looked_at_since_it_was_scaled() -> None:
    assert waits(after=SETTLING_SECONDS, observedGeneration=1) is not None


def test_a_drain_that_leaves_enough_does_not_wait() -> None:
    assert waits(after=5, floor=2) is None


def test_draining_what_serves_nobody_does_not_wait() -> None:
    broken = a_set(revision="b", replicas=1, ready=0)
    whole = a_set(revision="a", replicas=2, ready=2)
    drains = [(broken, 0)]
    assert starting_old(drains, sets=[broken, whole], floors={"decode": 3}, now=START) is None


@pytest.mark.parametrize(
    ("conditions", "moment"),
    [
        ([], START - 1000),
        ([("Available", "False")], START + 1),
        ([("Progressing", "True")], START + 1),
        ([("Available", "True"), ("Progressing", "False")], START - 1000),
    ],
)
def test_since_when_one_is_unready_is_read_off_its_conditions(
    conditions: list[tuple[str, str]], moment: float
) -> None:
    rows = [
        {"type": kind, "status": status, "lastTransitionTime": format_time(START + 1)}
        for kind, status in conditions
    ]
    held = a_set(revision="a", replicas=1, ready=0, conditions=rows)
    assert unready_since(held.lws) == moment
