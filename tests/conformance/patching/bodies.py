"""Random bodies of a few kinds: small alphabets, so that writers meet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

Json = dict[str, Any]
Maker = Callable[[Random], Any]

WIDGET_GROUP = "patching.example.com"
WIDGET_CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{WIDGET_GROUP}"},
    "spec": {
        "group": WIDGET_GROUP,
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "text": {"type": "string"},
                                    "number": {"type": "integer", "nullable": True},
                                    "fraction": {"type": "number"},
                                    "flag": {"type": "boolean", "default": True},
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "map": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "wholeMap": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "deepMap": {
                                        "type": "object",
                                        "additionalProperties": {
                                            "type": "object",
                                            "properties": {
                                                "a": {"type": "string"},
                                                "b": {"type": "integer", "default": 7},
                                            },
                                        },
                                    },
                                    "list": {"type": "array", "items": {"type": "string"}},
                                    "set": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "numberSet": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "integer"},
                                    },
                                    "items": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name", "port", "kind"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name", "port"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "port": {"type": "integer"},
                                                "kind": {"type": "string", "default": "K"},
                                                "value": {"type": "string"},
                                                "inner": {
                                                    "type": "array",
                                                    "x-kubernetes-list-type": "map",
                                                    "x-kubernetes-list-map-keys": ["id"],
                                                    "items": {
                                                        "type": "object",
                                                        "required": ["id"],
                                                        "properties": {
                                                            "id": {"type": "string"},
                                                            "n": {"type": "integer"},
                                                        },
                                                    },
                                                },
                                            },
                                        },
                                    },
                                    "nested": {
                                        "type": "object",
                                        "nullable": True,
                                        "properties": {
                                            "a": {"type": "string"},
                                            "deeper": {
                                                "type": "object",
                                                "properties": {"c": {"type": "string"}},
                                            },
                                        },
                                    },
                                    "free": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                        "properties": {
                                            "known": {
                                                "type": "object",
                                                "properties": {"x": {"type": "string"}},
                                            }
                                        },
                                    },
                                    "anything": {"x-kubernetes-preserve-unknown-fields": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "phase": {"type": "string"},
                                    "conditions": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["type"],
                                        "items": {
                                            "type": "object",
                                            "required": ["type"],
                                            "properties": {
                                                "type": {"type": "string"},
                                                "status": {"type": "string"},
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}


def some(rng: Random, makers: dict[str, Maker], chance: float = 0.35) -> Json:
    """Some of the members."""
    return {name: make(rng) for name, make in makers.items() if rng.random() < chance}


def one_of(*values: Any) -> Maker:
    """One of the values."""
    return lambda rng: copy.deepcopy(rng.choice(values))


def list_of(make: Maker, *, most: int, key: Callable[[Any], Any]) -> Maker:
    """A list of up to so many items, no two alike in their key, in any order."""

    def made(rng: Random) -> list[Any]:
        found = {key(each): each for each in (make(rng) for _ in range(rng.randint(0, most)))}
        items = list(found.values())
        rng.shuffle(items)
        return items

    return made


def map_of(names: str, make: Maker, chance: float = 0.4) -> Maker:
    """An object with some of these names."""
    return lambda rng: {name: make(rng) for name in names if rng.random() < chance}


TEXT = one_of("", "p", "q", "r")
NUMBER = one_of(0, 1, 2)
STRINGS = map_of("abc", TEXT)


def _owner(rng: Random) -> Json:
    name = rng.choice("xyz")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": f"uid-{name}"}
    return owner | ({"blockOwnerDeletion": False} if rng.random() < 0.3 else {})


METADATA: dict[str, Maker] = {
    "labels": map_of("abc", one_of("p", "q", "")),
    "annotations": STRINGS,
    "finalizers": list_of(
        one_of("example.com/a", "example.com/b", "example.com/c"), most=3, key=str
    ),
    "ownerReferences": list_of(_owner, most=2, key=lambda each: each["uid"]),
}


def _widget_item(rng: Random) -> Json:
    inner = list_of(
        lambda rng: {"id": rng.choice("ab"), **some(rng, {"n": NUMBER}, 0.6)},
        most=2,
        key=lambda each: each["id"],
    )
    item = {"name": rng.choice("ab"), "port": rng.randint(1, 2)}
    return item | some(rng, {"kind": one_of("K", "L"), "value": TEXT, "inner": inner})


def _item_key(item: Json) -> tuple[Any, ...]:
    return item["name"], item["port"], item.get("kind", "K")


FREE = one_of(
    {},
    {"a": 1},
    {"a": {"b": [1, {"c": 2}]}},
    {"a": [1], "known": {"x": "p"}},
    {"known": {"x": "q", "y": 1}},
    {"z": None},
    {"a": "text", "b": True},
)
WIDGET_SPEC: dict[str, Maker] = {
    "text": TEXT,
    "number": one_of(0, 1, None),
    "fraction": one_of(0, 0.5, 1, 1.0, 2e10),
    "flag": one_of(True, False),
    "port": one_of(1, "1", "http"),
    "map": STRINGS,
    "wholeMap": STRINGS,
    "deepMap": map_of("ab", lambda rng: some(rng, {"a": TEXT, "b": NUMBER})),
    "list": one_of([], ["a"], ["b", "a"], ["a", "a"]),
    "set": list_of(one_of("a", "b", "c", "<d>"), most=3, key=str),
    "numberSet": list_of(one_of(1, 2, 3), most=3, key=int),
    "items": list_of(_widget_item, most=3, key=_item_key),
    "nested": one_of({}, {"a": "p"}, {"a": "q", "deeper": {"c": "p"}}, {"deeper": {}}, None),
    "free": FREE,
    "anything": one_of({}, {"a": 1}, {"b": {"c": 1}}, [1, 2], "text", 1, True),
}
WIDGET_STATUS: dict[str, Maker] = {
    "phase": TEXT,
    "conditions": list_of(
        lambda rng: {"type": rng.choice("AB"), **some(rng, {"status": TEXT}, 0.6)},
        most=2,
        key=lambda each: each["type"],
    ),
}


def _port(rng: Random) -> Json:
    port = {"containerPort": rng.choice([80, 81])}
    return port | some(rng, {"protocol": one_of("TCP", "UDP"), "name": one_of("web", "web2")})


def _env(rng: Random) -> Json:
    source = {"fieldRef": {"fieldPath": "metadata.name"}}
    values: list[Json] = [{"value": "1"}, {"value": "2"}, {"valueFrom": source}, {}]
    value = rng.choice(values)
    return {"name": rng.choice("ABC"), **value}


CONTAINER: dict[str, Maker] = {
    "image": one_of("i:1", "i:2"),
    "args": one_of([], ["a"], ["b", "a"]),
    "env": list_of(_env, most=3, key=lambda each: each["name"]),
    "ports": list_of(
        _port, most=2, key=lambda each: (each["containerPort"], each.get("protocol", "TCP"))
    ),
    "resources": one_of({}, {"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m", "memory": 1}}),
    "livenessProbe": one_of({"httpGet": {"path": "/", "port": 80}}, {"exec": {"command": ["a"]}}),
    "securityContext": one_of({}, {"runAsUser": 1}, {"capabilities": {"drop": ["ALL"]}}),
}


def _container(rng: Random) -> Json:
    return {"name": rng.choice(["m", "n"]), **some(rng, CONTAINER)}


def _spread(rng: Random) -> Json:
    when = rng.choice(["DoNotSchedule", "ScheduleAnyway"])
    key = rng.choice(["zone", "rack"])
    return {"maxSkew": rng.randint(1, 2), "topologyKey": key, "whenUnsatisfiable": when}


def _volume(rng: Random) -> Json:
    sources: list[Json] = [
        {"emptyDir": {}},
        {"configMap": {"name": "c"}},
        {"hostPath": {"path": "/"}},
    ]
    source = rng.choice(sources)
    return {"name": rng.choice("vw"), **source}


POD_SPEC: dict[str, Maker] = {
    "containers": list_of(_container, most=2, key=lambda each: each["name"]),
    "nodeSelector": STRINGS,
    "tolerations": one_of([], [{"key": "a", "operator": "Exists"}], [{"operator": "Exists"}]),
    "terminationGracePeriodSeconds": one_of(30, 5),
    "volumes": list_of(_volume, most=2, key=lambda each: each["name"]),
    "topologySpreadConstraints": list_of(
        _spread, most=2, key=lambda each: (each["topologyKey"], each["whenUnsatisfiable"])
    ),
    "affinity": one_of({}, {"nodeAffinity": {}}),
    "hostAliases": list_of(
        lambda rng: {"ip": rng.choice(["1.1.1.1", "1.1.1.2"]), "hostnames": ["a"]},
        most=2,
        key=lambda each: each["ip"],
    ),
    "imagePullSecrets": list_of(
        lambda rng: {"name": rng.choice("st")}, most=2, key=lambda each: each["name"]
    ),
    "securityContext": one_of({}, {"runAsUser": 1}, {"fsGroup": 2}),
}
STATEFUL_SPEC: dict[str, Maker] = {
    "replicas": one_of(0, 1, 3),
    "template": lambda rng: {
        **({"metadata": {"labels": {"app": "a"}}} if rng.random() < 0.5 else {}),
        "spec": some(rng, POD_SPEC),
    },
    "updateStrategy": one_of(
        {}, {"type": "OnDelete"}, {"rollingUpdate": {"partition": 1}}, {"type": "RollingUpdate"}
    ),
    "persistentVolumeClaimRetentionPolicy": one_of({}, {"whenScaled": "Delete"}),
    "minReadySeconds": one_of(0, 4),
}


def _service_port(rng: Random) -> Json:
    port = {"port": rng.choice([80, 81]), "name": rng.choice(["a", "b", "c"])}
    return port | some(rng, {"protocol": one_of("TCP", "UDP"), "targetPort": one_of(8080, "http")})


SERVICE_SPEC: dict[str, Maker] = {
    "ports": list_of(
        _service_port, most=2, key=lambda each: (each["port"], each.get("protocol", "TCP"))
    ),
    "selector": STRINGS,
    "publishNotReadyAddresses": one_of(True, False),
    "sessionAffinity": one_of("None", "ClientIP"),
    "sessionAffinityConfig": one_of({"clientIP": {"timeoutSeconds": 5}}),
}
CONFIG_MAP: dict[str, Maker] = {
    "data": STRINGS,
    "binaryData": map_of("xy", one_of("AA==", "AQ==")),
    "immutable": one_of(False),
}
GROUP_SPEC: dict[str, Maker] = {
    "replicas": one_of(0, 1, 2),
    "startupPolicy": one_of("LeaderCreated", "LeaderReady"),
    "rolloutStrategy": one_of(
        {"rollingUpdateConfiguration": {"maxUnavailable": 1}},
        {"rollingUpdateConfiguration": {"maxUnavailable": "50%", "maxSurge": 1}},
        {"type": "RollingUpdate"},
    ),
    "networkConfig": one_of({"subdomainPolicy": "Shared"}, {"subdomainPolicy": "UniquePerReplica"}),
    "leaderWorkerTemplate": lambda rng: some(
        rng,
        {
            "size": one_of(1, 2),
            "restartPolicy": one_of("RecreateGroupOnPodRestart", "None"),
            "workerTemplate": lambda rng: {"spec": some(rng, POD_SPEC)},
            "leaderTemplate": lambda rng: {"metadata": some(rng, {"labels": STRINGS})},
        },
        0.6,
    ),
}
