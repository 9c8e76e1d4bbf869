"""Which terms a placement policy adds, and that they can be told from a user's own."""

from typing import Any

import pytest

from lws.api import names
from lws.api.disaggregatedset import PlacementPolicy
from lws.planner.disaggregatedset.placement import (
    placement_terms,
    with_placement,
    without_placement,
)

SLICE, TOPOLOGY = (
    PlacementPolicy(type=kind, topology="rack") for kind in ("ExclusiveSlice", "ExclusiveTopology")
)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def expressions(policy: PlacementPolicy, *, slice_index: int, side: str) -> list[list[str]]:
    """Each term in words: `key operator values`."""
    terms = placement_terms(policy, ds="pd", slice_index=slice_index)[side]
    assert {term["topologyKey"] for term in terms} == {"rack"}
    return [
        [
            " ".join(
                (one["key"].removeprefix(names.DS_PREFIX), one["operator"], *one.get("values", ()))
            )
            for one in term["labelSelector"]["matchExpressions"]
        ]
        for term in terms
    ]


@pytest.mark.parametrize(
    "policy", [None, PlacementPolicy(), PlacementPolicy(type="ExclusiveSlice")]
)
def test_without_a_policy_and_its_key_there_are_no_terms(policy: PlacementPolicy | None) -> None:
    assert placement_terms(policy, ds="pd", slice_index=0) == {}


def test_a_slice_attracts_its_own_pods() -> None:
    found = expressions(SLICE, slice_index=3, side="podAffinity")
    assert found == [["name In pd", "slice In 3"]]


def test_a_slice_repels_all_other_pods_of_the_set() -> None:
    found = expressions(SLICE, slice_index=3, side="podAntiAffinity")
    assert found == [["name In pd", "slice NotIn 3"]]


def test_slice_zero_spares_pods_from_before_slices() -> None:
    found = expressions(SLICE, slice_index=0, side="podAntiAffinity")
    assert found == [["name In pd", "slice Exists", "slice NotIn 0"]]


def test_an_exclusive_topology_repels_other_sets_as_well() -> None:
    found = expressions(TOPOLOGY, slice_index=1, side="podAntiAffinity")
    assert found == [
        ["name In pd", "slice NotIn 1"],
        ["name Exists", "name NotIn pd", "slice Exists"],
    ]


@pytest.mark.parametrize("policy", [SLICE, TOPOLOGY])
@pytest.mark.parametrize("index", [0, 7])
def test_what_is_added_can_be_taken_away_again(policy: PlacementPolicy, index: int) -> None:
    own: dict[str, Any] = {
        "nodeAffinity": {"x": 1},
        "podAffinity": {REQUIRED: [{"topologyKey": "zone", "labelSelector": {}}]},
    }
    spec = {"containers": [], "affinity": own}
    placed = with_placement(spec, placement_terms(policy, ds="pd", slice_index=index))
    assert placed["affinity"]["podAffinity"][REQUIRED][0] == own["podAffinity"][REQUIRED][0]
    bare = without_placement(placed)
    assert bare["affinity"].pop("podAntiAffinity") == {REQUIRED: []}
    assert bare == spec
    assert spec["affinity"] == own  # nothing was changed in place


@pytest.mark.parametrize(
    "term",
    [
        {},
        {"labelSelector": None, "topologyKey": "rack"},
        {"labelSelector": {"matchLabels": {names.DS_NAME: "pd"}}, "topologyKey": "rack"},
        {
            "labelSelector": {
                "matchExpressions": [{"key": names.DS_NAME, "operator": "In", "values": ["pd"]}]
            },
            "topologyKey": "rack",
        },
    ],
)
def test_a_term_of_the_user_stays(term: dict[str, object]) -> None:
    spec = {"affinity": {"podAffinity": {REQUIRED: [term]}}}
    assert without_placement(spec) == spec
