"""Our judgement of what an apply would change, against what the API server does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.kube import Kube
from lws.planner.meaning import differing_fields

Json = dict[str, Any]
MANAGER = "lws"
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}}
PROBE = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 5}
SERVE: Json = {
    "name": "serve",
    "image": "example.com/serve:1",
    "command": ["serve"],
    "args": ["--a", "--b"],
    "env": [
        {"name": "A", "value": "b"},
        {"name": "EMPTY", "value": ""},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ],
    "envFrom": [{"configMapRef": {"name": "c"}}],
    "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 80, "protocol": "UDP"}],
    "resources": {
        "limits": {"cpu": "2000m", "memory": "1024Mi", "example.com/gpu": "1"},
        "requests": {"cpu": "0.5", "memory": "1e9"},
    },
    "readinessProbe": PROBE,
    "lifecycle": {"preStop": {"exec": {"command": ["sleep", "1"]}}},
    "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": False},
    "volumeMounts": [
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "tokens", "mountPath": "/tokens", "readOnly": True},
        {"name": "data", "mountPath": "/data"},
    ],
    "stdin": False,
}
POD: Json = {
    "containers": [SERVE, {"name": "side", "image": "example.com/side:1", "resources": {}}],
    "initContainers": [{"name": "init", "image": "a", "restartPolicy": "Always"}],
    "volumes": [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "2048Mi"}},
        {"name": "host", "hostPath": {"path": "/x"}},
        {"name": "config", "configMap": {"name": "c", "items": [{"key": "a", "path": "b"}]}},
        {
            "name": "tokens",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "t"}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]
                        }
                    },
                ]
            },
        },
        {
            "name": "scratch",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1024Mi"}},
                    }
                }
            },
        },
    ],
    "affinity": {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
            }
        },
    },
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    ],
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "nodeSelector": {"pool": "gpu"},
    "hostNetwork": False,
    "terminationGracePeriodSeconds": 0,
    "serviceAccountName": "default",
    "imagePullSecrets": [{"name": "pull"}],
    "securityContext": {},
    "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
}
LABELS = {"app": "a"}
SPEC: Json = {
    "replicas": 0,
    "serviceName": "a",
    "podManagementPolicy": "Parallel",
    "selector": {"matchLabels": LABELS},
    "template": {"metadata": {"labels": LABELS, "annotations": {"n": ""}}, "spec": POD},
    "updateStrategy": {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 0, "maxUnavailable": 2},
    },
    "volumeClaimTemplates": [
        {
            "metadata": {"name": "data", "labels": {"l": "m"}},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1024Mi"}},
            },
        }
    ],
}
STATEFULSET: Json = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "a", "labels": LABELS, "annotations": {"x/y": "z", "gone": "soon"}},
    "spec": SPEC,
}

# A path into the object, and what stands there then; None: nothing.
CONTAINER = ("spec", "template", "spec", "containers", 0)
IN_POD = ("spec", "template", "spec")
CHANGES: list[tuple[tuple[str | int, ...], Any]] = [
    (("metadata", "labels", "more"), "x"),
    (("metadata", "annotations", "gone"), None),
    (("spec", "replicas"), 1),
    (("spec", "minReadySeconds"), 0),
    (("spec", "minReadySeconds"), 3),
    (("spec", "revisionHistoryLimit"), 10),
    (("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"), 3),
    (("spec", "updateStrategy", "rollingUpdate", "partition"), 1),
    (("spec", "updateStrategy"), {"type": "OnDelete"}),
    (("spec", "template", "metadata", "annotations", "n"), None),
    ((*CONTAINER, "image"), "example.com/serve:2"),
    ((*CONTAINER, "imagePullPolicy"), "IfNotPresent"),
    ((*CONTAINER, "imagePullPolicy"), "Always"),
    ((*CONTAINER, "args"), ["--a"]),
    ((*CONTAINER, "args"), None),
    ((*CONTAINER, "env", 0, "value"), "c"),
    ((*CONTAINER, "env", 0, "value"), ""),
    ((*CONTAINER, "env", 1), {"name": "EMPTY"}),
    ((*CONTAINER, "env", 2, "valueFrom", "fieldRef", "apiVersion"), "v1"),
    ((*CONTAINER, "env", 3, "valueFrom", "resourceFieldRef", "divisor"), "0"),
    ((*CONTAINER, "env", 3, "valueFrom", "resourceFieldRef", "divisor"), "1"),
    ((*CONTAINER, "env", 4, "valueFrom", "secretKeyRef", "optional"), True),
    ((*CONTAINER, "env"), []),
    ((*CONTAINER, "ports", 0, "protocol"), "TCP"),
    ((*CONTAINER, "ports", 1), None),
    ((*CONTAINER, "resources", "limits", "memory"), "1Gi"),
    ((*CONTAINER, "resources", "limits", "memory"), "2Gi"),
    ((*CONTAINER, "resources", "limits", "example.com/gpu"), None),
    ((*CONTAINER, "readinessProbe", "successThreshold"), 1),
    ((*CONTAINER, "readinessProbe", "httpGet", "port"), 80),
    ((*CONTAINER, "readinessProbe"), None),
    ((*CONTAINER, "securityContext", "runAsNonRoot"), True),
    ((*CONTAINER, "stdin"), True),
    ((*CONTAINER, "workingDir"), ""),
    ((*CONTAINER, "volumeMounts", 1, "readOnly"), False),
    ((*IN_POD, "containers", 1), None),
    ((*IN_POD, "volumes", 0, "emptyDir", "sizeLimit"), "2Gi"),
    ((*IN_POD, "volumes", 0, "emptyDir", "sizeLimit"), "1Gi"),
    ((*IN_POD, "volumes", 1, "hostPath", "type"), ""),
    ((*IN_POD, "volumes", 2, "configMap", "items"), []),
    ((*IN_POD, "volumes", 2, "configMap", "defaultMode"), 420),
    ((*IN_POD, "volumes", 3, "projected", "sources", 0, "serviceAccountToken", "path"), "u"),
    ((*IN_POD, "volumes", 1), {"name": "host", "emptyDir": {}}),
    ((*IN_POD, "affinity", "nodeAffinity"), None),
    ((*IN_POD, "topologySpreadConstraints", 0, "labelSelector"), {}),
    ((*IN_POD, "tolerations"), []),
    ((*IN_POD, "nodeSelector"), {"pool": "cpu"}),
    ((*IN_POD, "nodeSelector"), {}),
    ((*IN_POD, "hostNetwork"), None),
    ((*IN_POD, "hostNetwork"), True),
    ((*IN_POD, "hostPID"), False),
    ((*IN_POD, "securityContext"), None),
    ((*IN_POD, "terminationGracePeriodSeconds"), 30),
    ((*IN_POD, "dnsConfig", "options", 0, "value"), "3"),
    ((*IN_POD, "restartPolicy"), "Always"),
]


SAME_MEANING: list[tuple[tuple[str | int, ...], Any]] = [
    ((*CONTAINER, "resources", "requests", "memory"), "1G"),
    ((*IN_POD, "affinity", "podAntiAffinity"), {}),
]


@pytest.fixture(scope="module")
def live(control_plane: Any) -> Iterator[Json]:
    """The StatefulSet as it stands after an apply."""
    kube: Kube = control_plane.kube
    kube.apply(STATEFULSET, "default", manager=MANAGER)
    yield kube.get("statefulsets", "a", "default")
    kube.delete("statefulsets", "a", "default")


def test_an_apply_that_was_made_needs_not_be_made_again(kube: Kube, live: Json) -> None:
    assert differing_fields(STATEFULSET, live, kind="StatefulSet") == []
    assert differing_fields(STATEFULSET, live, kind="StatefulSet", manager=MANAGER) == []


@pytest.mark.parametrize(("path", "value"), CHANGES, ids=str)
def test_what_the_server_would_change_is_found_and_what_is_found_changes_something(
    kube: Kube, live: Json, path: tuple[str | int, ...], value: Any
) -> None:
    desired = changed(path, value)
    applied = dry_run(kube, desired)
    found = differing_fields(desired, live, kind="StatefulSet", manager=MANAGER)
    if substance(applied) != substance(live):
        assert found
    if found:  # else the same apply would be sent again and again
        assert substance(applied) != substance(live) or owned(applied) != owned(live), found


@pytest.mark.parametrize(("path", "value"), SAME_MEANING, ids=str)
def test_what_the_server_would_only_write_differently_is_not_applied(
    live: Json, path: tuple[str | int, ...], value: Any
) -> None:
    desired = changed(path, value)
    assert differing_fields(desired, live, kind="StatefulSet", manager=MANAGER) == []


def changed(path: tuple[str | int, ...], value: Any) -> Json:
    desired: Json = json.loads(json.dumps(STATEFULSET))
    *parents, last = path
    place: Any = desired
    for step in parents:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return desired


def dry_run(kube: Kube, item: Json) -> Json:
    path = kube.resource("statefulsets").path("default", "a")
    query = {"fieldManager": MANAGER, "force": "true", "dryRun": "All"}
    content = "application/apply-patch+yaml"
    return kube.request("PATCH", path, item, query=query, content_type=content)


def owned(item: Json) -> Json:
    """What is recorded as applied by us; that it changed is the end of a field we gave up."""
    (entry,) = (each for each in item["metadata"]["managedFields"] if each["manager"] == MANAGER)
    fields: Json = entry["fieldsV1"]
    return fields


def substance(item: Json) -> Json:
    kept = ("labels", "annotations")
    metadata = {name: item["metadata"].get(name) for name in kept}
    return {"metadata": metadata, "spec": item["spec"]}
