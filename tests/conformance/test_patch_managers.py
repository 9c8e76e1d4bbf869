"""managedFields in the rarer cases: many managers, kubectl's annotation, every built-in kind."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from harness.kube import Kube
from tests.conformance.patching.judge import MERGE, Judge
from tests.conformance.patching.openapi import PublishedSchemas

pytestmark = pytest.mark.real

Json = dict[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
TEMPLATE: Json = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "m", "image": "i"}]},
}
SELECTOR: Json = {"matchLabels": {"a": "b"}}
WEBHOOK: Json = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://127.0.0.1:1/"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "objectSelector": {"matchLabels": {"no": "thing"}},
}
SUBJECT: Json = {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}
ROLE_REF: Json = {"kind": "ClusterRole", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
NOW = "2026-01-02T03:04:05.000000Z"

OBJECTS: dict[str, Json] = {
    "v1 ConfigMap": {"data": {"a": "b"}},
    "v1 Endpoints": {"subsets": [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 1}]}]},
    "v1 Event": {
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "NAMESPACE"},
        "reason": "R",
        "message": "m",
        "source": {"component": "c"},
        "count": 1,
        "firstTimestamp": "2026-01-02T03:04:05Z",
        "lastTimestamp": "2026-01-02T03:04:05Z",
        "type": "Normal",
    },
    "v1 LimitRange": {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}},
    "v1 Node": {"spec": {"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]}},
    "v1 PersistentVolume": {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/x"},
        }
    },
    "v1 PersistentVolumeClaim": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "s",
        }
    },
    "v1 Pod": {"spec": {"containers": [{"name": "m", "image": "i"}]}},
    "v1 PodTemplate": {"template": TEMPLATE},
    "v1 ReplicationController": {"spec": {"selector": {"a": "b"}, "template": TEMPLATE}},
    "v1 ResourceQuota": {"spec": {"hard": {"pods": "1"}}},
    "v1 Secret": {"data": {"a": "AA=="}},
    "v1 Service": {"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}},
    "v1 ServiceAccount": {"imagePullSecrets": [{"name": "s"}]},
    "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "apps/v1 ControllerRevision": {"data": {"spec": {"a": 1}}, "revision": 1},
    "apps/v1 DaemonSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1 Deployment": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1 ReplicaSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "apps/v1 StatefulSet": {
        "spec": {
            "selector": SELECTOR,
            "template": TEMPLATE,
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "c"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1"}},
                    },
                }
            ],
        }
    },
    "autoscaling/v2 HorizontalPodAutoscaler": {
        "spec": {
            "maxReplicas": 2,
            "scaleTargetRef": {"kind": "A", "name": "a", "apiVersion": "b/v1"},
        }
    },
    "coordination.k8s.io/v1 Lease": {"spec": {"holderIdentity": "h", "renewTime": NOW}},
    "discovery.k8s.io/v1 EndpointSlice": {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.1.1"], "conditions": {"ready": True}}],
        "ports": [{"port": 1, "name": "a"}],
    },
    "events.k8s.io/v1 Event": {
        "eventTime": NOW,
        "reason": "R",
        "action": "A",
        "type": "Normal",
        "reportingController": "example.com/c",
        "reportingInstance": "c-1",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "NAMESPACE"},
    },
    "networking.k8s.io/v1 Ingress": {"spec": {"rules": [{"host": "a.example.com"}]}},
    "networking.k8s.io/v1 NetworkPolicy": {"spec": {"podSelector": SELECTOR}},
    "policy/v1 PodDisruptionBudget": {"spec": {"maxUnavailable": 1, "selector": SELECTOR}},
    "rbac.authorization.k8s.io/v1 ClusterRole": {"rules": RULES},
    "rbac.authorization.k8s.io/v1 ClusterRoleBinding": {"roleRef": ROLE_REF, "subjects": [SUBJECT]},
    "rbac.authorization.k8s.io/v1 Role": {"rules": RULES},
    "rbac.authorization.k8s.io/v1 RoleBinding": {"roleRef": ROLE_REF, "subjects": [SUBJECT]},
    "scheduling.k8s.io/v1 PriorityClass": {"value": 5, "description": "d"},
    "storage.k8s.io/v1 StorageClass": {"provisioner": "p.example.com", "parameters": {"a": "b"}},
}
LATE = (
    "metadata.finalizers",
    "spec.priority",
    "spec.tolerations",
    "spec.preemptionPolicy",
    "spec.clusterIP",
    "spec.clusterIPs",
    "spec.ipFamilies",
    "spec.ipFamilyPolicy",
)
WITHOUT_STATUS = frozenset(
    {
        *("ConfigMap", "ControllerRevision", "Endpoints", "EndpointSlice", "Event", "Lease"),
        *("LimitRange", "NetworkPolicy", "PodTemplate", "PriorityClass", "Secret"),
        *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount"),
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "StorageClass"),
    }
)


def object_of(what: str, namespace: str) -> Json:
    api_version, kind = what.split()
    text = json.dumps(OBJECTS[what]).replace("NAMESPACE", namespace)
    metadata = {"name": f"x-{namespace}", "labels": {"l": "1"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **json.loads(text)}


def judge_of(kube: Kube, what: str, namespace: str) -> Judge:
    api_version, kind = what.split()
    return Judge(
        kube,
        kube.resource_of({"apiVersion": api_version, "kind": kind}),
        namespace,
        PublishedSchemas(kube, api_version).of_kind(kind),
        late=LATE,
        has_status=kind not in WITHOUT_STATUS,
    )


@pytest.mark.parametrize("what", OBJECTS)
def test_who_creates_an_object_of_a_built_in_kind_owns_the_same_fields(
    quiet_kube: Kube, quiet_namespace: str, what: str
) -> None:
    judge = judge_of(quiet_kube, what, quiet_namespace)
    body = object_of(what, quiet_namespace)
    created = judge.create(body, manager="ann")
    assert created is not None, judge.told
    name = body["metadata"]["name"]
    if body["kind"] == "ControllerRevision":
        return  # another order or blanks in its data make it a change of what cannot be changed
    assert judge.patch(name, {"metadata": {"labels": {"l": "2"}}}, kind=MERGE, manager="bob")
    head = {"apiVersion": body["apiVersion"], "kind": body["kind"]}
    judge.apply({**head, "metadata": {"name": name, "labels": {"l": "3"}}}, manager="cid")


@pytest.mark.parametrize("what", OBJECTS)
def test_who_applies_a_new_object_of_a_built_in_kind_owns_the_same_fields(
    quiet_kube: Kube, quiet_namespace: str, what: str
) -> None:
    judge = judge_of(quiet_kube, what, quiet_namespace)
    body = object_of(what, quiet_namespace)
    assert judge.apply(body, manager="ann") is not None, judge.told
    if body["kind"] == "ControllerRevision":
        return
    assert judge.apply(body, manager="ann") is not None, judge.told
    smaller = copy.deepcopy(body)
    del smaller["metadata"]["labels"]
    assert judge.apply(smaller, manager="ann") is not None, judge.told


@pytest.fixture
def maps(quiet_kube: Kube, quiet_namespace: str) -> Judge:
    """ConfigMaps."""
    return judge_of(quiet_kube, "v1 ConfigMap", quiet_namespace)


def config_map(**parts: Any) -> Json:
    metadata = {"name": "x", **parts.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **parts}


def test_the_eleventh_updater_makes_the_oldest_two_one(maps: Judge) -> None:
    assert maps.create(config_map(data={"m": "0"}), manager="m00")
    for index in range(1, 16):
        change = {"data": {f"k{index}": "1"}}
        assert maps.patch("x", change, kind=MERGE, manager=f"m{index:02}")
    assert maps.apply(config_map(data={"applied": "1"}), manager="m03")
    for index in range(3):
        assert maps.patch("x", {"data": {"m": str(index)}}, kind=MERGE, manager=f"again{index}")
    assert len(maps.get("x")["metadata"]["managedFields"]) <= 11


def last_applied(obj: Json) -> str:
    return json.dumps(obj, sort_keys=True, separators=(",", ":")) + "\n"


def test_kubectl_takes_over_what_its_annotation_says(maps: Judge) -> None:
    body = config_map(data={"a": "1", "b": "<&>"})
    annotated = copy.deepcopy(body)
    annotated["metadata"]["annotations"] = {LAST_APPLIED: last_applied(body), "other": "1"}
    assert maps.create(annotated, manager="kubectl-client-side-apply")
    changed = config_map(data={"a": "2", "b": "<&>"}, metadata={"annotations": {"own": "ü"}})
    assert maps.apply(changed, manager="someone") is None
    assert maps.apply(changed, manager="kubectl")
    found = maps.get("x")["metadata"]["annotations"]
    assert json.loads(found[LAST_APPLIED])["data"] == {"a": "2", "b": "<&>"}
    maps.apply(config_map(data={"b": "3"}), manager="kubectl")
    maps.apply(config_map(data={"b": "4"}), manager="kubectl", force=True)


def test_kubectl_does_not_take_what_changed_since(maps: Judge) -> None:
    body = config_map(data={"a": "1", "b": "1", "c": "1"})
    annotated = copy.deepcopy(body)
    annotated["metadata"]["annotations"] = {LAST_APPLIED: last_applied(body)}
    assert maps.create(annotated, manager="kubectl-client-side-apply")
    assert maps.patch("x", {"data": {"a": "by another"}}, kind=MERGE, manager="bob")
    assert maps.apply(config_map(data={"a": "2", "b": "2"}), manager="kubectl") is None
    assert maps.apply(config_map(data={"b": "2"}), manager="kubectl")


@pytest.mark.parametrize(
    "text", ["", "no json", "1", "[]", '{"apiVersion":"v2"}', '{"data":{"a":1}}']
)
def test_an_annotation_that_makes_no_sense_gives_kubectl_nothing(maps: Judge, text: str) -> None:
    body = config_map(data={"a": "1"}, metadata={"annotations": {LAST_APPLIED: text}})
    assert maps.create(body, manager="kubectl-client-side-apply")
    assert maps.apply(config_map(data={"a": "2"}), manager="kubectl") is None
    assert maps.apply(config_map(data={"a": "2"}), manager="kubectl", force=True)


def entry(**changes: Any) -> Json:
    whole = {
        "manager": "me",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}}},
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not ...}


MANAGED: tuple[Any, ...] = (
    None,
    [],
    [{}],
    [{}, {}],
    [entry()],
    [entry(), entry(manager="you", operation="Apply", fieldsV1={"f:data": {"f:b": {}}})],
    [entry(), entry(fieldsV1={"f:data": {"f:b": {}}})],
    [entry(operation="Nothing")],
    [entry(operation=...)],
    [entry(apiVersion="")],
    [entry(apiVersion=...)],
    [entry(apiVersion="v1beta1")],
    [entry(fieldsType="FieldsV2")],
    [entry(fieldsType=...)],
    [entry(fieldsV1=...)],
    [entry(fieldsV1={})],
    [entry(fieldsV1={"f:data": {"f:a": {".": {}}, "z:unknown": {}}})],
    [entry(fieldsV1={"nocolon": {}})],
    [entry(fieldsV1={"f:metadata": {"f:finalizers": {'v:"a"': {}, "v:1.0": {}, "i:07": {}}}})],
    [entry(fieldsV1={"f:metadata": {"f:ownerReferences": {'k:{ "uid" : "a" }': {"f:uid": {}}}}})],
    [entry(fieldsV1={"f:metadata": {"f:ownerReferences": {"k:{nothing": {}}}})],
    [entry(fieldsV1={"f:metadata": {"f:ownerReferences": {'k:{"z":1,"a":[true]}': {}}}})],
    [entry(time=...)],
    [entry(manager=...)],
    [entry(manager="", subresource="status")],
)


@pytest.mark.parametrize("index", range(len(MANAGED)))
def test_managed_fields_that_a_client_sends_are_taken_as_by_the_real_server(
    maps: Judge, index: int
) -> None:
    assert maps.create(config_map(data={"a": "1"}), manager="ann")
    for replicas in ("2", "2", "3"):
        live = maps.get("x")
        live["data"]["c"] = replicas
        live["metadata"]["managedFields"] = MANAGED[index]
        assert maps.replace(live, manager="bob"), maps.told
    assert maps.patch("x", {"data": {"d": "1"}}, kind=MERGE, manager="cid")
    maps.apply(config_map(data={"a": "5"}), manager="dee")
    assert maps.apply(config_map(data={"a": "5"}), manager="dee", force=True)


def test_a_new_object_may_bring_managed_fields(maps: Judge) -> None:
    for index, managed in enumerate(MANAGED):
        body = config_map(data={"a": "1"}, metadata={"managedFields": managed})
        body["metadata"]["name"] = f"x{index}"
        assert maps.create(body, manager="ann"), maps.told
