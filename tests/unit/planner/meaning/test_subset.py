"""An apply is needed only if a field of it differs from what stands."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lws.planner.meaning import differing_fields

CLUSTERS = Path(__file__).parents[3] / "golden" / "clusters"
Json = dict[str, Any]

# As the API server gives it back: with its defaults, and with what it dropped.
LIVE: Json = {
    "metadata": {
        "name": "a",
        "uid": "1",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "a", "of.others/x": "y"},
        "annotations": {"note": "a"},
        "ownerReferences": [{"uid": "2", "name": "o", "kind": "K", "apiVersion": "v1"}],
        "finalizers": ["a/b", "c/d"],
        "managedFields": [
            {
                "manager": "lws",
                "operation": "Apply",
                "fieldsV1": {
                    "f:metadata": {
                        "f:labels": {"f:app": {}},
                        "f:annotations": {"f:note": {}},
                        "f:finalizers": {'v:"a/b"': {}},
                    },
                    "f:spec": {
                        "f:replicas": {},
                        "f:selector": {},
                        "f:template": {
                            "f:spec": {
                                "f:hostUsers": {},
                                "f:containers": {
                                    'k:{"name":"serve"}': {
                                        ".": {},
                                        "f:name": {},
                                        "f:image": {},
                                        "f:env": {
                                            'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}
                                        },
                                    }
                                },
                            }
                        },
                    },
                },
            }
        ],
    },
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {
                "containers": [
                    {"name": "sidecar", "image": "injected"},
                    {
                        "name": "serve",
                        "image": "example.com/serve:1",
                        "args": ["x", "y"],
                        "env": [
                            {"name": "A", "value": "b"},
                            {
                                "name": "N",
                                "valueFrom": {
                                    "fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}
                                },
                            },
                        ],
                        "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}],
                        "resources": {"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}},
                        "imagePullPolicy": "IfNotPresent",
                    },
                ],
                "volumes": [
                    {
                        "name": "v",
                        "projected": {
                            "defaultMode": 420,
                            "sources": [
                                {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}
                            ],
                        },
                    },
                    {"name": "e", "emptyDir": {}},
                ],
                "nodeSelector": {"a": "b"},
                "restartPolicy": "Always",
                "securityContext": {},
            },
        },
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "volumeClaimTemplates": [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data", "creationTimestamp": None},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Pending"},
            }
        ],
    },
    "status": {"replicas": 2},
}


def found(spec: Json, *, live: Json = LIVE, manager: str | None = None) -> list[str]:
    return differing_fields({"spec": spec}, live, kind="StatefulSet", manager=manager)


def in_pod(**fields: Any) -> list[str]:
    return found({"template": {"spec": fields}})


def in_container(**fields: Any) -> list[str]:
    return in_pod(containers=[{"name": "serve"} | fields])


def test_what_we_apply_and_the_server_completed_is_no_difference() -> None:
    ours = copy.deepcopy(LIVE)
    del ours["spec"]["template"]["spec"]["containers"][0], ours["metadata"]["managedFields"]
    serve = ours["spec"]["template"]["spec"]["containers"][0]
    del serve["imagePullPolicy"], serve["resources"]["requests"], serve["ports"][0]["protocol"]
    del serve["env"][1]["valueFrom"]["fieldRef"]["apiVersion"]
    serve["resources"]["limits"]["memory"] = "1024Mi"
    ours["spec"]["volumeClaimTemplates"][0] = {
        "metadata": {"name": "data", "labels": {}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1073741824"}},
        },
    }
    ours["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 3
    ours |= {"apiVersion": "apps/v1", "kind": "StatefulSet", "status": {"replicas": 0}}
    assert differing_fields(ours, LIVE, kind="StatefulSet") == []


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"image": "b"}, ["image"]),
        ({"args": ["x"]}, ["args"]),
        ({"args": ["x", "z"]}, ["args[1]"]),
        ({"args": []}, ["args"]),
        ({"command": []}, []),
        ({"env": [{"name": "A", "value": "c"}]}, ["env[name=A].value"]),
        ({"env": [{"name": "A", "value": ""}]}, ["env[name=A].value"]),
        ({"env": [{"name": "B"}]}, ["env[name=B]"]),
        ({"env": []}, []),
        ({"ports": [{"containerPort": 80}]}, []),
        (
            {"ports": [{"containerPort": 80, "protocol": "UDP"}]},
            ["ports[containerPort=80,protocol=UDP]"],
        ),
        ({"resources": {"limits": {"memory": "2Gi"}}}, ["resources.limits.memory"]),
        ({"resources": {"limits": {"a/b": "1"}}}, ["resources.limits[a/b]"]),
        ({"resources": {}}, []),
        ({"stdin": False, "workingDir": "", "lifecycle": {}}, []),
        ({"stdin": None}, []),
        ({"startupProbe": {"exec": {}}}, ["startupProbe.exec"]),
        ({"future": {"a": 1}}, ["future.a"]),
    ],
)
def test_a_container(fields: Json, paths: list[str]) -> None:
    root = "spec.template.spec.containers[name=serve]."
    assert in_container(**fields) == [root + path for path in paths]


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"hostNetwork": False}, []),
        ({"nodeSelector": {"a": "b"}}, []),
        ({"nodeSelector": {}}, ["nodeSelector.a"]),
        ({"volumes": [{"name": "e", "emptyDir": {}}]}, []),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, ["volumes[name=v].emptyDir"]),
        (
            {"volumes": [{"name": "v", "projected": {"sources": []}}]},
            ["volumes[name=v].projected.sources"],
        ),
        ({"affinity": {}, "securityContext": {}}, []),
        ({"tolerations": [{"key": "a"}]}, ["tolerations"]),
        ({"containers": [{"name": "new"}]}, ["containers[name=new]"]),
    ],
)
def test_a_pod_template(fields: Json, paths: list[str]) -> None:
    assert in_pod(**fields) == ["spec.template.spec." + path for path in paths]


def test_a_selector_is_replaced_whole() -> None:
    assert found({"selector": {"matchLabels": {"app": "a"}}}) == []
    assert found({"selector": {"matchLabels": {}}}) == ["spec.selector.matchLabels.app"]
    assert found({"selector": {}}) == ["spec.selector.matchLabels"]


def test_metadata_of_others_is_no_difference() -> None:
    ours = {"labels": {"app": "a"}, "finalizers": ["c/d"], "ownerReferences": [{"uid": "2"}]}
    assert differing_fields({"metadata": ours}, LIVE, kind="StatefulSet") == []
    ours = {"labels": {"app": "b"}, "finalizers": ["e/f"], "ownerReferences": [{"uid": "3"}]}
    assert differing_fields({"metadata": ours}, LIVE, kind="StatefulSet") == [
        "metadata.labels.app",
        "metadata.finalizers[e/f]",
        "metadata.ownerReferences[uid=3]",
    ]


def test_a_false_that_stands_as_true_differs() -> None:
    live = copy.deepcopy(LIVE)
    live["spec"]["template"]["spec"]["hostNetwork"] = True
    assert found({"template": {"spec": {"hostNetwork": False}}}, live=live) == [
        "spec.template.spec.hostNetwork"
    ]


def test_nothing_stands_yet() -> None:
    found = differing_fields({"spec": {"replicas": 1}}, {}, kind="StatefulSet")
    assert found == ["spec.replicas"]


def managed(**fields: Any) -> Json:
    """All that managedFields records of ours, with these fields of the spec put in."""
    serve = {"name": "serve", "image": "example.com/serve:1", "env": [{"name": "A", "value": "b"}]}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"spec": {"hostUsers": True, "containers": [serve]}},
    }
    metadata = {"labels": {"app": "a"}, "annotations": {"note": "a"}, "finalizers": ["a/b"]}
    return {"metadata": metadata, "spec": spec | fields}


def test_what_a_server_dropped_is_no_difference_if_it_is_recorded_as_ours() -> None:
    assert differing_fields(managed(), LIVE, kind="StatefulSet", manager="lws") == []
    assert differing_fields(managed(), LIVE, kind="StatefulSet", manager="other") == [
        "spec.template.spec.hostUsers"
    ]


def test_what_we_no_longer_apply_is_a_difference() -> None:
    ours = managed(replicas=None, selector=None)
    ours["metadata"] = {"labels": {}, "finalizers": []}
    ours["spec"]["template"]["spec"]["containers"][0]["env"] = []
    assert differing_fields(ours, LIVE, kind="StatefulSet", manager="lws") == [
        "metadata.labels.app",
        "metadata.annotations.note",
        "metadata.finalizers[a/b]",
        "spec.replicas",
        "spec.selector",
        "spec.template.spec.containers[name=serve].env[name=A]",
    ]


def test_a_record_that_says_nothing_of_a_field_decides_nothing() -> None:
    live = copy.deepcopy(LIVE)
    record = live["metadata"]["managedFields"][0]
    record["fieldsV1"] = {
        "f:spec": {"f:args": {"i:0": {}}},
        "f:metadata": {"f:labels": {"f:z": {}}},
    }
    ours = {"spec": {"paused": True, "args": ["a"]}}
    assert differing_fields(ours, live, kind="StatefulSet", manager="lws") == ["spec.paused"]
    record["subresource"] = "status"
    assert differing_fields(ours, live, kind="StatefulSet", manager="lws") == [
        "spec.paused",
        "spec.args",
    ]


@pytest.mark.parametrize(
    ("record", "fields", "paths"),
    [
        ({"f:hostUsers": {}}, {"hostUsers": False}, []),
        ({"f:hostNetwork": {}}, {"hostNetwork": True}, ["hostNetwork"]),
        ({"f:dnsConfig": {"f:options": {}}}, {"dnsConfig": {"options": [{"name": "a"}]}}, []),
        ({"f:overhead": {}}, {"overhead": {"cpu": "1"}}, ["overhead.cpu"]),
        ({"f:overhead": {"f:cpu": {}}}, {"overhead": {"cpu": "1"}}, []),
        ({"f:tolerations": {}}, {"tolerations": [{"key": "a"}]}, ["tolerations"]),
        ({"f:readinessGates": {}}, {"readinessGates": [{"conditionType": "a"}]}, []),
        ({"f:resourceClaims": {}}, {"resourceClaims": [{"name": "a"}]}, ["resourceClaims[name=a]"]),
        (
            {"f:resourceClaims": {'k:{"name":"a"}': {".": {}, "f:name": {}}}},
            {"resourceClaims": [{"name": "a"}]},
            [],
        ),
        ({"f:future": {}}, {"future": 1}, []),
        ({"f:schedulingGroup": {"f:podGroupName": {}}}, {"schedulingGroup": {}}, []),
    ],
)
def test_what_does_not_stand_was_dropped_or_was_a_zero(
    record: Json, fields: Json, paths: list[str]
) -> None:
    live = copy.deepcopy(LIVE)
    live["spec"]["template"]["spec"]["tolerations"] = [{"key": "of another"}, {"key": "b"}]
    managed = live["metadata"]["managedFields"][0]
    managed["fieldsV1"] = {"f:spec": {"f:template": {"f:spec": record}}}
    ours = {"template": {"spec": fields}}
    assert found(ours, live=live, manager="lws") == [f"spec.template.spec.{path}" for path in paths]


def test_an_unknown_kind_is_compared_as_it_stands() -> None:
    live = {"spec": {"minMember": 2, "queue": "q", "list": [1, {"a": 1}]}}
    same = {"spec": {"minMember": 2, "list": [1, {"a": 1}]}}
    other = {"spec": {"minMember": 3, "list": [1], "empty": {}}}
    assert differing_fields(same, live, kind="PodGroup") == []
    assert differing_fields(other, live, kind="PodGroup") == ["spec.minMember", "spec.list"]


def test_a_set_of_ours_under_an_old_name() -> None:
    ours = {"spec": {"leaderWorkerTemplate": {"restartPolicy": "Default", "maxGroupRestarts": 2}}}
    live = {"spec": {"leaderWorkerTemplate": {"restartPolicy": "None", "size": 1}}}
    found = differing_fields(ours, live, kind="LeaderWorkerSet")
    assert found == ["spec.leaderWorkerTemplate.maxGroupRestarts"]


def test_what_the_other_controller_applied_is_no_difference() -> None:
    checked = 0
    for live in statefulsets():
        for entry in live["metadata"]["managedFields"]:
            if entry["manager"] == "lws":
                ours = projected(live, entry["fieldsV1"])
                rolling = ours["spec"]["updateStrategy"].setdefault("rollingUpdate", {})
                rolling["maxUnavailable"] = 1
                assert differing_fields(ours, live, kind="StatefulSet", manager="lws") == []
                checked += 1
    assert checked > 40


def statefulsets() -> Iterator[Json]:
    for file in sorted(CLUSTERS.glob("*/statefulsets.json")):
        yield from json.loads(file.read_text())


def projected(value: Any, record: Json) -> Any:
    """The part of an object that managedFields records."""
    if not record:
        return value
    if isinstance(value, dict):
        names = [key[2:] for key in record if key.startswith("f:")]
        return {
            name: projected(value[name], record[f"f:{name}"]) for name in names if name in value
        }
    return [
        projected(item, {key: each for key, each in nested.items() if key != "."})
        for keys, nested in record.items()
        if keys.startswith("k:")
        for item in value
        if json.loads(keys[2:]).items() <= item.items()
    ]
