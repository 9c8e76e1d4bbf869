"""The built-in kinds' schemas, from the data files of `kubernetes-validate`, made structural.

Structural is what a CustomResourceDefinition asks for: each value has one type, no references.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from lws.api.schema.gotypes import struct_defaults, struct_names

Schema = dict[str, Any]

POD_TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
VOLUME_CLAIM = "io.k8s.api.core.v1.PersistentVolumeClaim"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
ROOTS = (POD_TEMPLATE, VOLUME_CLAIM, "io.k8s.api.apps.v1.StatefulSet", "io.k8s.api.core.v1.Service")
KEPT = (
    "format",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)

INT_OR_STRING: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
# As Kubernetes itself publishes it for a quantity in a CRD.
QUANTITY: Schema = INT_OR_STRING | {
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
}
STRINGS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
# The server does not look into metadata that is not an object's own: it is kept as it is.
METADATA: Schema = {
    "type": "object",
    "properties": {
        "annotations": STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "generateName": {"type": "string"},
        "labels": STRINGS,
        "name": {"type": "string"},
        "namespace": {"type": "string"},
    },
    "x-kubernetes-preserve-unknown-fields": True,
}
LEAVES: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": QUANTITY,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": INT_OR_STRING,
    OBJECT_META: METADATA,
}


def definitions() -> dict[str, Schema]:
    root = resources.files("kubernetes_validate").joinpath("kubernetes-json-schema")
    versions = [each.name for each in root.iterdir() if each.name.endswith("-strict")]
    newest = max(versions, key=_version)
    whole = json.loads(root.joinpath(newest, "_definitions.json").read_text())
    found: dict[str, Schema] = whole["$defs"]
    return found


def _version(folder: str) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.removeprefix("v").split("-")[0].split("."))


def write_schemas(target: Path) -> None:
    known = definitions()
    schemas = {
        "podTemplate": _structural({"$ref": POD_TEMPLATE}, known),
        "volumeClaim": _structural({"$ref": VOLUME_CLAIM}, known),
    }
    target.write_text(json.dumps(schemas, separators=(",", ":"), sort_keys=True) + "\n")


def write_merge_keys(target: Path) -> None:
    """How lists and maps merge in server-side apply, by Go type and field."""
    known = definitions()
    table: dict[str, dict[str, object]] = {}
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        if (name in LEAVES and name != OBJECT_META) or go_name(name) in table:
            continue
        merges = table.setdefault(go_name(name), {})
        for field, schema in known[name].get("properties", {}).items():
            merge = _merge(schema)
            if merge is None and "$ref" in schema:
                merge = _merge(known[_referred(schema)])
            if merge is not None:
                merges[field] = merge
            todo += [_referred(each) for each in _references(schema)]
    rows = {name: merges for name, merges in table.items() if merges and name in struct_names()}
    target.write_text(json.dumps(rows, separators=(",", ":"), sort_keys=True) + "\n")


def go_name(definition: str) -> str:
    """`io.k8s.api.core.v1.Container` is `core.Container` in our tables."""
    path = definition.split(".")
    return f"{path[-3]}.{path[-1]}"


def _merge(schema: Schema) -> object | None:
    match schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-map-type"):
        case "map", _:
            return schema["x-kubernetes-list-map-keys"]
        case "set", _:
            return "set"
        case _, "atomic":
            return "atomic"
    return None


def _references(schema: Schema) -> list[Schema]:
    nested = [schema, schema.get("items", {}), schema.get("additionalProperties", {})]
    return [each for each in nested if isinstance(each, dict) and "$ref" in each]


def _referred(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _structural(schema: Schema, known: dict[str, Schema]) -> Schema:
    if "$ref" in schema:
        name = _referred(schema)
        if name in LEAVES:
            return LEAVES[name]
        return _with_defaults(_structural(known[name], known), struct_defaults(go_name(name)))
    out: Schema = {"type": _type(schema)}
    out |= {key: schema[key] for key in KEPT if key in schema}
    if "items" in schema:
        out["items"] = _structural(schema["items"], known)
    if "properties" in schema:
        out["properties"] = {
            name: _structural(each, known) for name, each in schema["properties"].items()
        }
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = _structural(schema["additionalProperties"], known)
    return out


def _type(schema: Schema) -> str:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (kind,) = (each for each in kinds if each != "null")
    return str(kind)


def _with_defaults(schema: Schema, defaults: dict[str, object]) -> Schema:
    for field, value in defaults.items():
        schema["properties"][field] |= {"default": value}
    return schema
