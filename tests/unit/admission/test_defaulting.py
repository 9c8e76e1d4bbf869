"""Defaults, against what the public webhook left in the store."""

import copy
from typing import Any

import pytest

from lws.admission.defaulting import default_disaggregatedset, default_leaderworkerset
from tests.unit.admission import golden

LWS_WORLDS = [name for name in golden.WORLDS if name.startswith("lws-")]
DS_WORLDS = [name for name in golden.WORLDS if name.startswith("ds-")]
DEFAULTED = {
    "replicas": 1,
    "leaderWorkerTemplate": {"size": 1, "restartPolicy": "RecreateGroupOnPodRestart"},
    "rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    },
    "startupPolicy": "LeaderCreated",
    "networkConfig": {"subdomainPolicy": "Shared"},
}


@pytest.mark.parametrize("name", golden.WORLDS)
def test_a_stored_set_is_left_as_it_is(name: str) -> None:
    for stored in golden.world(name)["leaderworkersets"]:
        assert default_leaderworkerset(stored) is stored


@pytest.mark.parametrize("name", LWS_WORLDS)
def test_a_manifest_becomes_what_the_public_webhook_stored(name: str) -> None:
    manifest = golden.with_schema_defaults(golden.merged(golden.world(name)["manifests"]))
    (stored,) = golden.world(name)["leaderworkersets"]
    assert default_leaderworkerset(manifest)["spec"] == stored["spec"]


@pytest.mark.parametrize("name", DS_WORLDS)
def test_a_stored_disaggregated_set_is_left_as_it_is(name: str) -> None:
    for stored in golden.world(name)["disaggregatedsets"]:
        assert default_disaggregatedset(stored) is stored


@pytest.mark.parametrize("name", DS_WORLDS)
def test_a_disaggregated_manifest_becomes_what_was_stored(name: str) -> None:
    manifest = golden.with_schema_defaults(golden.merged(golden.world(name)["manifests"]))
    (stored,) = golden.world(name)["disaggregatedsets"]
    assert default_disaggregatedset(manifest)["spec"] == stored["spec"]


@pytest.mark.parametrize("obj", [{}, {"spec": None}, {"spec": {}}, {"spec": {"replicas": None}}])
def test_everything_left_open_is_written_out(obj: dict[str, Any]) -> None:
    assert default_leaderworkerset(obj)["spec"] == DEFAULTED


def test_what_is_set_stays() -> None:
    spec = {
        "replicas": 0,
        "leaderWorkerTemplate": {"size": 4, "restartPolicy": "None"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"partition": 2, "maxUnavailable": "25%", "maxSurge": 3},
        },
        "startupPolicy": "LeaderReady",
        "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
    }
    obj = {"spec": spec}
    assert default_leaderworkerset(obj) is obj


@pytest.mark.parametrize(
    ("spec", "path", "value"),
    [
        ({"leaderWorkerTemplate": {"restartPolicy": "Default"}}, "restartPolicy", "None"),
        (
            {"leaderWorkerTemplate": {"restartPolicy": ""}},
            "restartPolicy",
            "RecreateGroupOnPodRestart",
        ),
        (
            {"leaderWorkerTemplate": {"subGroupPolicy": {"subGroupSize": 2}}},
            "subGroupPolicy",
            {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"},
        ),
    ],
    ids=["old name of None", "empty as Go writes it", "kind of subgroups"],
)
def test_the_template_is_completed(spec: dict[str, Any], path: str, value: object) -> None:
    assert default_leaderworkerset({"spec": spec})["spec"]["leaderWorkerTemplate"][path] == value


def test_a_null_subdomain_policy_is_shared_again() -> None:
    defaulted = default_leaderworkerset({"spec": {"networkConfig": {"subdomainPolicy": None}}})
    assert defaulted["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}


def test_only_the_missing_budget_is_filled_in() -> None:
    strategy = {"rollingUpdateConfiguration": {"maxSurge": "50%"}}
    defaulted = default_leaderworkerset({"spec": {"rolloutStrategy": strategy}})
    assert defaulted["spec"]["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxSurge": "50%", "partition": 0, "maxUnavailable": 1},
    }


def test_an_unknown_strategy_gets_no_budgets() -> None:
    defaulted = default_leaderworkerset({"spec": {"rolloutStrategy": {"type": "OnDelete"}}})
    assert defaulted["spec"]["rolloutStrategy"] == {"type": "OnDelete"}


def test_the_argument_is_not_changed() -> None:
    obj: dict[str, Any] = {"spec": {"leaderWorkerTemplate": {"restartPolicy": "Default"}}}
    before = copy.deepcopy(obj)
    default_leaderworkerset(obj)
    assert obj == before


def test_a_set_that_is_being_deleted_is_left_alone() -> None:
    obj = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}
    assert default_leaderworkerset(obj) is obj
    assert default_disaggregatedset(obj) is obj


@pytest.mark.parametrize(
    "spec",
    [
        7,
        {"leaderWorkerTemplate": [], "rolloutStrategy": "x", "networkConfig": 1},
        {"rolloutStrategy": {"rollingUpdateConfiguration": "x"}},
        {"roles": [{"spec": {"rolloutStrategy": 1, "leaderWorkerTemplate": 2}}, {"spec": 3}]},
        {"leaderWorkerTemplate": {"subGroupPolicy": 3}},
    ],
)
def test_wrong_types_are_left_for_validation_to_name(spec: object) -> None:
    defaulted = default_leaderworkerset({"spec": spec})["spec"]
    default_disaggregatedset({"spec": spec})
    if isinstance(spec, dict):
        for key, value in spec.items():
            if not isinstance(value, dict):
                assert defaulted[key] == value
    else:
        assert defaulted == spec


def test_a_disaggregated_set_gets_only_what_its_schema_gives() -> None:
    obj = {
        "spec": {
            "placementPolicy": {},
            "roles": [{"scaling": {}, "spec": {"leaderWorkerTemplate": {}}}, {"spec": None}, 3],
        }
    }
    spec = default_disaggregatedset(obj)["spec"]
    assert spec["slices"] == 1
    assert spec["placementPolicy"] == {"type": "None"}
    role = spec["roles"][0]
    assert role["scaling"] == {"mode": "Static"}
    assert role["spec"] == {
        "startupPolicy": "LeaderCreated",
        "leaderWorkerTemplate": DEFAULTED["leaderWorkerTemplate"],
    }
    assert spec["roles"][1:] == [{"spec": None}, 3]


def test_a_disaggregated_set_without_a_readable_spec_stays() -> None:
    obj = {"spec": "x"}
    assert default_disaggregatedset(obj) is obj
