"""Our definitions on a real API server."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from harness.kube import ApiError, Kube
from harness.plane import Plane
from lws.api.crds import custom_resource_definitions
from tests.integration.crd_samples import (
    SMALL_SPEC,
    SMALL_TEMPLATE,
    Json,
    disaggregated_set,
    full,
    leader_worker_set,
    role_scaler,
    roles,
)

ROOT = Path(__file__).parents[2]
CLUSTERS = ROOT / "tests" / "golden" / "clusters"
STATES = sorted(path.name for path in CLUSTERS.iterdir())


@pytest.fixture(scope="module")
def control_plane(spare_control_plane: Plane) -> Plane:
    """One on which no operator runs: its webhooks would add what the definitions do not say."""
    return spare_control_plane


def set_at(root: Json, path: str, value: Any) -> Json:
    """A copy of `root` with a value at a dotted path."""
    changed = copy.deepcopy(root)
    *parents, last = path.split(".")
    place = changed
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = value
    return changed


@pytest.mark.parametrize("crd", custom_resource_definitions(), ids=lambda c: c["metadata"]["name"])
def test_a_definition_is_established_and_structural(kube: Kube, crd: Json) -> None:
    live = kube.get("customresourcedefinitions", crd["metadata"]["name"])
    conditions = {each["type"]: each["status"] for each in live["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.parametrize("how", [(), ("--server-side", "--force-conflicts")])
def test_kubectl_applies_the_files(control_plane: Plane, how: tuple[str, ...]) -> None:
    said = control_plane.kubectl("apply", "--dry-run=server", "-f", str(ROOT / "deploy/crds"), *how)
    assert len(said.splitlines()) == 3


def test_every_field_of_a_template_is_kept(kube: Kube, namespace: str) -> None:
    template = full("lws.LeaderWorkerTemplate") | {"restartPolicy": "None"}
    template["subGroupPolicy"]["subGroupPolicyType"] = "LeaderExcluded"
    spec = {"leaderWorkerTemplate": template | {"maxGroupRestarts": 3}, "replicas": 0}
    spec |= {"revisionHistoryLimit": 2, "paused": True, "progressDeadlineSeconds": 60}
    spec["startupPolicy"] = "LeaderReady"
    kube.create(leader_worker_set("full", spec), namespace)
    assert kube.get("leaderworkersets", "full", namespace)["spec"] == spec


def test_every_field_of_a_roles_template_is_kept(kube: Kube, namespace: str) -> None:
    template = full("lws.LeaderWorkerTemplate") | {"restartPolicy": "Default"}
    template["subGroupPolicy"]["subGroupPolicyType"] = "LeaderWorker"
    metadata = {"labels": {"a": "b"}, "annotations": {"c": "d"}, "future": {"e": 1}}
    spec = roles(1, 1, scaling="External")
    spec["roles"][1]["metadata"] = metadata
    spec["roles"][1]["spec"]["leaderWorkerTemplate"] = template
    kube.create(disaggregated_set("full", spec), namespace)
    kept = kube.get("disaggregatedsets", "full", namespace)["spec"]["roles"][1]
    assert kept["metadata"] == metadata
    assert kept["spec"]["leaderWorkerTemplate"] == template


def test_defaults_of_a_leader_worker_set(kube: Kube, namespace: str) -> None:
    spec = copy.deepcopy(SMALL_SPEC) | {
        "networkConfig": {"subdomainPolicy": None},
        "rolloutStrategy": {"rollingUpdateConfiguration": {}},
    }
    spec["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": 1}
    container = spec["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    container["ports"] = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    made = kube.create(leader_worker_set("small", spec), namespace)["spec"]
    template = made.pop("leaderWorkerTemplate")
    assert made == {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
        },
    }
    ports = template.pop("workerTemplate")["spec"]["containers"][0]["ports"]
    assert [port["protocol"] for port in ports] == ["TCP", "UDP"]
    assert template == {
        "size": 1,
        "restartPolicy": "RecreateGroupOnPodRestart",
        "subGroupPolicy": {"subGroupPolicyType": "LeaderWorker", "subGroupSize": 1},
    }


def test_what_was_left_out_is_not_made_up(kube: Kube, namespace: str) -> None:
    made = kube.create(leader_worker_set("small", SMALL_SPEC), namespace)["spec"]
    assert made == {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "leaderWorkerTemplate": {
            "size": 1,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "workerTemplate": SMALL_TEMPLATE,
        },
    }


def test_defaults_of_a_disaggregated_set(kube: Kube, namespace: str) -> None:
    spec = roles(None, None) | {"placementPolicy": {}}
    spec["roles"][0]["scaling"] = {}
    made = kube.create(disaggregated_set("small", spec), namespace)["spec"]
    assert made["slices"] == 1
    assert made["placementPolicy"] == {"type": "None"}
    assert made["roles"][0]["scaling"] == {"mode": "Static"}
    assert [role["spec"]["replicas"] for role in made["roles"]] == [1, 1]
    scaler = kube.create(role_scaler("small-role-0", {}), namespace)
    assert scaler["spec"] == {"replicas": 0}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("replicas", -1),
        ("replicas", 1_000_001),
        ("replicas", "1"),
        ("startupPolicy", "Other"),
        ("networkConfig.subdomainPolicy", "Other"),
        ("rolloutStrategy.type", "Recreate"),
        ("rolloutStrategy.rollingUpdateConfiguration.partition", -1),
        ("rolloutStrategy.rollingUpdateConfiguration.maxSurge", 1.5),
        ("leaderWorkerTemplate.size", 0),
        ("leaderWorkerTemplate.restartPolicy", "Always"),
        ("leaderWorkerTemplate.workerTemplate", None),
        ("leaderWorkerTemplate.workerTemplate.spec.containers", None),
        ("leaderWorkerTemplate.workerTemplate.spec.overhead", {"cpu": "much"}),
        ("leaderWorkerTemplate.workerTemplate.metadata.labels", {"a": 1}),
        ("leaderWorkerTemplate.subGroupPolicy.subGroupSize", 0),
        ("leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType", "Other"),
        ("leaderWorkerTemplate.maxGroupRestarts", -1),
        ("revisionHistoryLimit", -1),
        ("progressDeadlineSeconds", -1),
        ("paused", "yes"),
    ],
)
def test_a_field_out_of_its_bounds_is_refused(
    kube: Kube, namespace: str, path: str, value: Any
) -> None:
    wrong = leader_worker_set("wrong", set_at(SMALL_SPEC, path, value))
    with pytest.raises(ApiError) as refusal:
        kube.create(wrong, namespace)
    assert refusal.value.status == 422
    assert f"spec.{path}" in refusal.value.message


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (roles(1), "spec.roles"),
        (roles(*[1] * 11), "spec.roles"),
        (roles(0, 1), "spec.roles"),
        (roles(1, 0, 1, scaling="External"), "spec.roles"),
        (roles(1, 1) | {"slices": 0}, "spec.slices"),
        (roles(1, 1) | {"slices": 101}, "spec.slices"),
        (roles(1, 1) | {"placementPolicy": {"type": "ExclusiveSlice"}}, "spec.placementPolicy"),
        (roles(1, 1) | {"placementPolicy": {"type": "Other"}}, "spec.placementPolicy.type"),
        (roles(1, 1, scaling="Other"), "spec.roles[0].scaling.mode"),
    ],
)
def test_a_disaggregated_set_out_of_bounds_is_refused(
    kube: Kube, namespace: str, spec: Json, field: str
) -> None:
    with pytest.raises(ApiError) as refusal:
        kube.create(disaggregated_set("wrong", spec), namespace)
    assert refusal.value.status == 422
    assert field in refusal.value.message


@pytest.mark.parametrize("name", ["", "A", "a.b", "-a", "a-", "a" * 64])
def test_a_role_has_a_name_that_names_objects(kube: Kube, namespace: str, name: str) -> None:
    spec = roles(1, 1)
    spec["roles"][0]["name"] = name
    with pytest.raises(ApiError, match="name"):
        kube.create(disaggregated_set("wrong", spec), namespace)


def test_two_roles_of_one_name_are_refused(kube: Kube, namespace: str) -> None:
    spec = roles(1, 1)
    spec["roles"][1]["name"] = spec["roles"][0]["name"]
    with pytest.raises(ApiError, match="Duplicate"):
        kube.create(disaggregated_set("wrong", spec), namespace)


@pytest.mark.parametrize(
    "spec",
    [
        roles(0, 0),
        roles(2, 3),
        roles(0, 1, scaling="External"),
        roles(1, 0, scaling="External"),
        roles(1, 1)
        | {"slices": 100, "placementPolicy": {"type": "ExclusiveTopology", "topology": "a/b"}},
    ],
)
def test_a_disaggregated_set_within_its_bounds(kube: Kube, namespace: str, spec: Json) -> None:
    kube.create(disaggregated_set("right", spec), namespace)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("resource", ["leaderworkersets", "disaggregatedsets"])
def test_what_the_other_controller_left_is_kept_as_it_is(
    kube: Kube, namespace: str, state: str, resource: str
) -> None:
    file = CLUSTERS / state / f"{resource}.json"
    for golden in json.loads(file.read_text()) if file.exists() else []:
        metadata = {"name": golden["metadata"]["name"]}
        sent = {key: golden[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": metadata}
        made = kube.create(sent, namespace)
        assert made["spec"] == golden["spec"]
        made["status"] = golden["status"]
        kube.replace(made, subresource="status")
        kept = kube.get(resource, metadata["name"], namespace)
        assert kept["status"] == golden["status"]
        assert kept["spec"] == golden["spec"]


def test_our_additions_to_the_status_are_kept(kube: Kube, namespace: str) -> None:
    made = kube.create(leader_worker_set("a", SMALL_SPEC), namespace)
    restart = {"group": 1, "count": 2, "lastTime": "2026-01-02T03:04:05Z", "reason": "Failed"}
    made["status"] = {"groupRestarts": [restart]}
    assert kube.replace(made, subresource="status")["status"] == made["status"]


def test_status_and_spec_are_written_apart(kube: Kube, namespace: str) -> None:
    made = kube.create(leader_worker_set("a", SMALL_SPEC) | {"status": {"replicas": 3}}, namespace)
    assert "status" not in made
    made["spec"]["replicas"] = 5
    made["status"] = {"replicas": 3}
    written = kube.replace(made, subresource="status")
    assert written["spec"]["replicas"] == 1
    assert written["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("item", "resource", "selector"),
    [
        (leader_worker_set("a", SMALL_SPEC), "leaderworkersets", "hpaPodSelector"),
        (role_scaler("a", {}), "disaggregatedsetrolescalers", "selector"),
    ],
)
def test_the_scale_subresource(
    kube: Kube, namespace: str, item: Json, resource: str, selector: str
) -> None:
    made = kube.create(item, namespace)
    made["status"] = {"replicas": 2, selector: "a=b"}
    kube.replace(made, subresource="status")
    kube.patch(resource, "a", {"spec": {"replicas": 4}}, namespace, subresource="scale")
    scale = kube.get(resource, "a", namespace, subresource="scale")
    assert scale["spec"] == {"replicas": 4}
    assert scale["status"] == {"replicas": 2, "selector": "a=b"}


def test_short_names_and_columns(control_plane: Plane, kube: Kube, namespace: str) -> None:
    made = kube.create(leader_worker_set("a", SMALL_SPEC | {"replicas": 3}), namespace)
    made["status"] = {"readyReplicas": 2, "updatedReplicas": 1}
    kube.replace(made, subresource="status")
    kube.create(role_scaler("b", {"replicas": 7}), namespace)
    sets = control_plane.kubectl("get", "lws", "-n", namespace).splitlines()
    assert sets[0].split() == ["NAME", "READY", "DESIRED", "UP-TO-DATE", "AGE"]
    assert sets[1].split()[:4] == ["a", "2", "3", "1"]
    scalers = control_plane.kubectl("get", "dsrs", "-n", namespace).splitlines()
    assert scalers[0].split() == ["NAME", "DESIRED", "CURRENT", "AGE"]
    assert scalers[1].split()[:2] == ["b", "7"]


def test_kubectl_warns_of_a_field_that_does_not_exist(control_plane: Plane, namespace: str) -> None:
    wrong = set_at(SMALL_SPEC, "leaderWorkerTemplate.workerTemplate.spec.tolerance", [])
    manifest = json.dumps(leader_worker_set("a", wrong))
    with pytest.raises(RuntimeError, match="tolerance"):
        control_plane.kubectl("create", "-n", namespace, "-f", "-", stdin=manifest)


def test_kubectl_explains_our_fields(control_plane: Plane) -> None:
    said = control_plane.kubectl("explain", "leaderworkersets.spec.leaderWorkerTemplate.size")
    assert "the leader included" in said
