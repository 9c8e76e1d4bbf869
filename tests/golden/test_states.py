"""Worlds that are made are worlds as the public controller writes them."""

import json
import re
from typing import Any

import pytest

from tests.golden.states import Group, State, placed, sample, world_in
from tests.golden.worlds import Document, World, load

_CHANCE = frozenset(
    {
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "time",
        "nodeName",
        "podIP",
        "podIPs",
        "lastTransitionTime",
        "startedAt",
        "startTime",
        "generation",
        "observedGeneration",
    }
)


def bare(value: Any) -> Any:
    """Without what depends on the moment and the machine."""
    if isinstance(value, dict):
        return {
            re.sub(r'^k:{"(uid|ip)":.*', r"k:\1", key): bare(one)
            for key, one in value.items()
            if key not in _CHANCE
        }
    return [bare(one) for one in value] if isinstance(value, list) else value


def by_name(documents: list[Document]) -> dict[str, Any]:
    """Entries of managedFields stand in the order of their times, which are chance."""
    found = {one["metadata"]["name"]: bare(one) for one in documents}
    for one in found.values():
        one["metadata"]["managedFields"].sort(key=json.dumps)
    return found


def assert_same(made: World, golden: World) -> None:
    for kind, documents in made.items():
        ours, theirs = by_name(documents), by_name(golden[kind])
        assert ours.keys() == theirs.keys(), kind
        for name, one in ours.items():
            assert json.dumps(one, sort_keys=True) == json.dumps(theirs[name], sort_keys=True), name


@pytest.mark.parametrize(
    ("world", "lws", "one", "other"),
    [
        ("lws-canary-held", "canary", 0, 1),
        ("lws-canary-held", "canary", 2, 3),
        ("lws-mid-update-surge", "surging", 4, 5),
        ("lws-plain", "plain", 1, 0),
        ("ds-at-rest", "pd-0-f0650f18-decode", 0, 2),
    ],
)
def test_a_group_that_is_put_in_its_neighbours_place_is_that_neighbour(
    world: str, lws: str, one: int, other: int
) -> None:
    golden = load(world)
    assert_same(
        placed(sample(golden, lws, one), lws=lws, index=other),
        sample(golden, lws, other).objects,
    )


def test_the_golden_canary_comes_out_of_its_description() -> None:
    groups = (Group.OLD, Group.OLD, Group.NEW, Group.NEW)
    assert_same(world_in(State(groups, partition=2, held_at=2)), load("lws-canary-held"))
