"""The sandbox's knowledge of the built-in kinds: public schema data made small, one line a type.

Three files: definitions.json (types, list and merge keys), descriptions.json (what `kubectl
explain` prints), wire.json (what only the Go types know, see hack/wiretypes).
"""

from __future__ import annotations

import json
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

VERSION = "v1.36.0-local"
"""Of Kubernetes: the one that hack/controlplane builds, so that both can be compared."""
CORE = "io.k8s.api.core.v1"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
ROOTS = {
    CORE: (
        *("Pod", "PodTemplate", "Service", "ConfigMap", "Secret", "Namespace", "Node", "Binding"),
        *("PersistentVolume", "PersistentVolumeClaim", "Event", "Endpoints", "ServiceAccount"),
        *("ResourceQuota", "LimitRange", "ReplicationController"),
    ),
    "io.k8s.api.apps.v1": (
        *("StatefulSet", "ControllerRevision", "Deployment", "ReplicaSet", "DaemonSet"),
    ),
    "io.k8s.api.autoscaling.v1": ("HorizontalPodAutoscaler", "Scale"),
    "io.k8s.api.autoscaling.v2": ("HorizontalPodAutoscaler",),
    "io.k8s.api.batch.v1": ("Job",),
    "io.k8s.api.storage.v1": ("StorageClass",),
    "io.k8s.api.events.v1": ("Event",),
    "io.k8s.api.coordination.v1": ("Lease",),
    "io.k8s.api.discovery.v1": ("EndpointSlice",),
    "io.k8s.api.networking.v1": ("NetworkPolicy", "Ingress", "IngressClass"),
    "io.k8s.api.scheduling.v1": ("PriorityClass",),
    "io.k8s.api.policy.v1": ("PodDisruptionBudget", "Eviction"),
    "io.k8s.api.rbac.v1": ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
    EXTENSIONS: ("CustomResourceDefinition",),
    "io.k8s.api.admissionregistration.v1": (
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ),
    "io.k8s.api.authentication.v1": ("TokenReview", "TokenRequest", "SelfSubjectReview"),
    "io.k8s.api.authorization.v1": (
        *("SubjectAccessReview", "SelfSubjectAccessReview", "LocalSubjectAccessReview"),
        "SelfSubjectRulesReview",
    ),
    META: ("DeleteOptions", "Status", "Patch", "WatchEvent"),
}
DROPPED = (
    *("description", "additionalProperties", "items", "properties", "type", "$ref"),
    *("enum", "oneOf"),  # not of Kubernetes; the package adds them
)
LEAVES: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "type": "string",
    },
}


def write_definitions(folder: Path) -> None:
    kept = _reachable(_published())
    _write(folder / "definitions.json", {name: _short(one) for name, one in kept.items()} | LEAVES)
    _write(folder / "descriptions.json", {name: _descriptions(one) for name, one in kept.items()})


def write_wire(wiretypes: Path, target: Path) -> None:
    done = subprocess.run(
        ["go", "run", "."], cwd=wiretypes, capture_output=True, text=True, check=True
    )
    _write(target, json.loads(done.stdout)["types"])


def _published() -> dict[str, Schema]:
    root = resources.files("kubernetes_validate").joinpath("kubernetes-json-schema")
    whole = json.loads(root.joinpath(VERSION, "_definitions.json").read_text())
    found: dict[str, Schema] = whole.get("$defs") or whole["definitions"]
    return found


def _reachable(known: dict[str, Schema]) -> dict[str, Schema]:
    todo = [f"{package}.{kind}" for package, kinds in ROOTS.items() for kind in kinds]
    todo += [f"{name}List" for name in todo if f"{name}List" in known]
    kept: dict[str, Schema] = {}
    while todo:
        name = todo.pop()
        if name not in kept:
            kept[name] = known[name]
            todo += _references(known[name])
    return dict(sorted(kept.items()))


def _references(schema: Schema) -> list[str]:
    nested = [schema.get("items"), schema.get("additionalProperties")]
    nested += schema.get("properties", {}).values()
    found = [name for one in nested if isinstance(one, dict) for name in _references(one)]
    return [*found, schema["$ref"].rpartition("/")[2]] if "$ref" in schema else found


def _short(schema: Schema) -> Schema:
    """The schema as OpenAPI has it, without its prose."""
    out = {key: value for key, value in schema.items() if key not in DROPPED}
    if "$ref" in schema:
        out["$ref"] = schema["$ref"].rpartition("/")[2]
    elif "type" in schema:
        out["type"] = _type(schema["type"])
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            out[key] = _short(schema[key])
    if "properties" in schema:
        out["properties"] = {name: _short(one) for name, one in schema["properties"].items()}
    return out


def _type(published: str | list[str]) -> str:
    kinds = [published] if isinstance(published, str) else published
    (kind,) = (one for one in kinds if one != "null")
    return kind


def _descriptions(schema: Schema) -> dict[str, str]:
    fields = {
        name: one["description"]
        for name, one in schema.get("properties", {}).items()
        if "description" in one
    }
    return {"": schema.get("description", ""), **fields}


def _write(target: Path, table: dict[str, Any]) -> None:
    """One type a line, so that a difference between two versions can be read."""
    lines = [
        f"{json.dumps(name)}:{json.dumps(one, separators=(',', ':'), sort_keys=True)}"
        for name, one in sorted(table.items())
    ]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
