"""Templates are compared by what they mean, not by how they are written."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lws.planner.meaning import normalise_template, same_template, template_digest

CLUSTERS = Path(__file__).parents[3] / "golden" / "clusters"
Json = dict[str, Any]


def template(**fields: Any) -> Json:
    """A template of one container, with these fields of its leaderWorkerTemplate."""
    return {"leaderWorkerTemplate": {"workerTemplate": pod()} | fields}


def pod(**fields: Any) -> Json:
    return {"spec": {"containers": [container()]} | fields}


def container(**fields: Any) -> Json:
    return {"name": "a", "image": "a"} | fields


def with_pod(**fields: Any) -> Json:
    return template(workerTemplate=pod(**fields))


def with_container(**fields: Any) -> Json:
    return with_pod(containers=[container(**fields)])


def at(moment: str) -> Json:
    return template(workerTemplate=pod() | {"metadata": {"creationTimestamp": moment}})


SAME: list[tuple[str, Json, Json]] = [
    ("size of the schema", template(), template(size=1)),
    ("restart policy of the schema", template(),
     template(restartPolicy="RecreateGroupOnPodRestart")),
    ("old name of None", template(restartPolicy="None"), template(restartPolicy="Default")),
    ("shared network", template(), template() | {"networkConfig": {"subdomainPolicy": "Shared"}}),
    ("network null", template(), template() | {"networkConfig": {"subdomainPolicy": None}}),
    ("network empty", template(), template() | {"networkConfig": {}}),
    ("mark of a patch", template(), template(**{"$patch": "replace"})),
    ("what rolls nothing", template(), template(maxGroupRestarts=3)),
    ("what is beside the template", template(), template() | {"replicas": 7}),
    ("a bare template", template(), template()["leaderWorkerTemplate"]),
    ("subgroup type", template(subGroupPolicy={"subGroupSize": 2}),
     template(subGroupPolicy={"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"})),
    ("null", with_pod(), with_pod(nodeSelector=None, priority=None)),
    ("empty map", with_pod(), with_pod(nodeSelector={})),
    ("empty list", with_pod(), with_pod(tolerations=[], volumes=[])),
    ("false", with_pod(), with_pod(hostNetwork=False)),
    ("empty string", with_pod(), with_pod(nodeName="")),
    ("empty value", with_container(env=[{"name": "A"}]),
     with_container(env=[{"name": "A", "value": ""}])),
    ("empty resources", with_container(), with_container(resources={"limits": {}})),
    ("creation time", template(), template(workerTemplate=pod() | {
        "metadata": {"creationTimestamp": None}})),
    ("empty metadata", template(), template(workerTemplate=pod() | {"metadata": {"labels": {}}})),
    ("protocol", with_container(ports=[{"containerPort": 1}]),
     with_container(ports=[{"containerPort": 1, "protocol": "TCP"}])),
    ("quantity", with_container(resources={"requests": {"cpu": "0.5", "memory": "1024Mi"}}),
     with_container(resources={"requests": {"memory": "1Gi", "cpu": "500m"}})),
    ("divisor", with_container(env=[{"name": "A", "valueFrom": {
        "resourceFieldRef": {"resource": "limits.cpu"}}}]),
     with_container(env=[{"name": "A", "valueFrom": {
        "resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}])),
    ("security context", with_pod(), with_pod(securityContext={})),
    ("affinity", with_pod(), with_pod(affinity={"podAffinity": {}})),
    ("retention", template(), template(persistentVolumeClaimRetentionPolicy={})),
    ("claims", template(volumeClaimTemplates=[{"metadata": {"name": "a"}}]),
     template(volumeClaimTemplates=[{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "a", "creationTimestamp": None}, "spec": {"resources": {}},
        "status": {}}])),
    ("integers", with_pod(terminationGracePeriodSeconds=5),
     with_pod(terminationGracePeriodSeconds=5.0)),
    ("future null", with_pod(), with_pod(future=None)),
    ("null of a list", with_container(args=[None]), with_container(args=[""])),
    ("null of a map", with_pod(overhead={"cpu": None}), with_pod(overhead={"cpu": "0"})),
    ("null of a list of structs", with_pod(tolerations=[None]), with_pod(tolerations=[{}])),
    ("moments", at("2026-01-01T00:00:00Z"), at("2026-01-01T01:00:00+01:00")),
]  # fmt: skip

DIFFERENT: list[tuple[str, Json, Json]] = [
    ("size", template(), template(size=2)),
    ("leader template, also an empty one", template(), template(leaderTemplate={})),
    ("subgroup policy, also an empty one", template(), template(subGroupPolicy={})),
    ("network", template(),
     template() | {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}),
    ("kind of volume", with_pod(volumes=[{"name": "a"}]),
     with_pod(volumes=[{"name": "a", "emptyDir": {}}])),
    ("selector of all pods", with_pod(topologySpreadConstraints=[{"topologyKey": "a"}]),
     with_pod(topologySpreadConstraints=[{"topologyKey": "a", "labelSelector": {}}])),
    ("all namespaces", affinity := with_pod(affinity={"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]}}),
     with_pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "a", "namespaceSelector": {}}]}})),
    ("zero that somebody said", with_pod(), with_pod(terminationGracePeriodSeconds=0)),
    ("false that somebody said", with_pod(), with_pod(enableServiceLinks=False)),
    ("an empty string that somebody said", with_pod(), with_pod(runtimeClassName="")),
    ("a key with an empty value", with_pod(), with_pod(nodeSelector={"a": ""})),
    ("a resource of nothing", with_container(), with_container(resources={"limits": {"a/b": "0"}})),
    ("quantity", with_container(resources={"limits": {"cpu": "1"}}),
     with_container(resources={"limits": {"cpu": "1001m"}})),
    ("order of arguments", with_container(args=["a", "b"]), with_container(args=["b", "a"])),
    ("port of text", with_container(livenessProbe={"httpGet": {"port": 80}}),
     with_container(livenessProbe={"httpGet": {"port": "80"}})),
    ("future field", with_pod(), with_pod(future={})),
    ("future truth", with_pod(future=True), with_pod(future=1)),
    ("what is no quantity", with_pod(overhead={"cpu": "a"}), with_pod(overhead={"cpu": "b"})),
    ("what is no moment", at("today"), at("tomorrow")),
    ("env of the same length", with_container(env=[{"name": "A", "value": "1"}]),
     with_container(env=[{"name": "A", "value": "2"}])),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), [pytest.param(a, b, id=name) for name, a, b in SAME])
def test_two_spellings_mean_the_same(a: Json, b: Json) -> None:
    assert normalise_template(a) == normalise_template(b)
    assert same_template(a, b)
    assert template_digest(a) == template_digest(b)


@pytest.mark.parametrize(("a", "b"), [pytest.param(a, b, id=name) for name, a, b in DIFFERENT])
def test_two_meanings_differ(a: Json, b: Json) -> None:
    assert not same_template(a, b)
    assert template_digest(a) != template_digest(b)


def test_what_is_asked_about_is_not_changed() -> None:
    asked = with_container(env=[{"name": "A", "value": None}])
    before = copy.deepcopy(asked)
    template_digest(asked)
    assert asked == before


def test_a_digest_is_the_same_on_each_python() -> None:
    written = with_container(resources={"limits": {"cpu": "0.1", "memory": "1Gi"}}, args=["é", "a"])
    assert template_digest(written) == (
        "bdb5ba49b3b72b43e1f95d7c5006cfe92233c52693af446e09a9a35b5748f36e"
    )


@pytest.mark.parametrize("odd", [{"workerTemplate": []}, {"workerTemplate": {"spec": "text"}}])
def test_what_no_schema_would_let_through_still_has_a_meaning(odd: Json) -> None:
    template_digest({"leaderWorkerTemplate": odd})
    template_digest({"leaderWorkerTemplate": odd | {"size": "three", "subGroupPolicy": 4}})


def test_any_mapping_has_a_digest() -> None:
    assert template_digest({"template": "a", "b/c": "d"}) != template_digest({"template": "a"})


def test_each_revision_of_the_other_controller_is_that_of_its_set_or_an_earlier_one() -> None:
    told = {
        f"{state.name}/{revision['metadata']['name']}": same_template(
            revision["data"]["spec"], sets[owner]["spec"]
        )
        for state in sorted(CLUSTERS.iterdir())
        for sets in [by_uid(state)]
        for revision in json.loads((state / "controllerrevisions.json").read_text())
        for owner in [revision["metadata"]["ownerReferences"][0]["uid"]]
        if owner in sets
    }
    earlier = {name for name, same in told.items() if not same}
    assert earlier == {
        "lws-canary-held/canary-645b844b6c-1",
        "lws-mid-update-surge/surging-645b844b6c-1",
    }
    assert len(told) == 19


def by_uid(state: Path) -> dict[str, Json]:
    sets = json.loads((state / "leaderworkersets.json").read_text())
    return {each["metadata"]["uid"]: each for each in sets}
