"""From the generated tables to the tree that a kind's schema is."""

from dataclasses import replace
from functools import cache
from typing import Any

from lws.sandbox.schema.model import MISSING, ListType, Schema
from lws.sandbox.schema.tables import (
    INT_OR_STRING,
    QUANTITY,
    RAW,
    Definition,
    definitions,
)

_LEAVES = {
    QUANTITY: Schema(type="string", format="quantity", int_or_string=False),
    INT_OR_STRING: Schema(format="int-or-string", int_or_string=True),
    RAW[0]: Schema(preserves_unknown=True, is_atomic_map=True),
    RAW[1]: Schema(type="object", preserves_unknown=True),
}
# Keys of list items that the server fills in before it compares (`default` of its OpenAPI v3).
_DEFAULTS: dict[tuple[str, str], Any] = {
    ("io.k8s.api.core.v1.ContainerPort", "protocol"): "TCP",
    ("io.k8s.api.core.v1.ServicePort", "protocol"): "TCP",
    ("io.k8s.api.core.v1.LocalObjectReference", "name"): "",
}


@cache
def schema_named(name: str) -> Schema:
    """The schema of a definition; one that holds itself is a cycle of the same nodes."""
    if name in _LEAVES:
        return _LEAVES[name]
    definition = definitions()[name]
    properties: dict[str, Schema] = {}
    made = replace(_node(definition), properties=properties)
    _BEING_MADE[name] = made
    for field, each in definition.get("properties", {}).items():
        properties[field] = replace(_field(each), default=_default(name, field))
    del _BEING_MADE[name]
    return made


_BEING_MADE: dict[str, Schema] = {}


def _default(name: str, field: str) -> Any:
    """Of a field that identifies items of lists: what the server takes a missing one for."""
    definition = definitions()[name]
    is_key = (name, field) in _keys() and field in definition.get("required", ())
    zeros = {"string": "", "integer": 0}
    zero = zeros[definition["properties"][field]["type"]] if is_key else MISSING
    return _DEFAULTS.get((name, field), zero)


@cache
def _keys() -> frozenset[tuple[str, str]]:
    return frozenset(
        (each["items"]["$ref"], key)
        for definition in definitions().values()
        for each in definition.get("properties", {}).values()
        if "$ref" in each.get("items", {})
        for key in each.get("x-kubernetes-list-map-keys", ())
    )


def _field(definition: Definition) -> Schema:
    """Of a field, an item or a map's value; what stands beside a reference is the field's own."""
    if "$ref" not in definition:
        return _node(definition)
    name = definition["$ref"]
    known = _BEING_MADE.get(name) or schema_named(name)
    own = _own(definition)
    return replace(known, **own) if own else known


def _own(definition: Definition) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "x-kubernetes-patch-strategy" in definition:
        strategies = definition["x-kubernetes-patch-strategy"].split(",")
        found["patch_strategies"] = frozenset(strategies)
    if "x-kubernetes-patch-merge-key" in definition:
        found["patch_merge_key"] = definition["x-kubernetes-patch-merge-key"]
    if "x-kubernetes-map-type" in definition:
        found["is_atomic_map"] = definition["x-kubernetes-map-type"] == "atomic"
    return found


def _node(definition: Definition) -> Schema:
    items, additional = definition.get("items"), definition.get("additionalProperties")
    return Schema(
        type=definition.get("type", ""),
        format=definition.get("format", ""),
        items=_field(items) if items is not None else None,
        additional=_field(additional) if additional is not None else None,
        list_type=ListType(definition.get("x-kubernetes-list-type", "atomic")),
        list_map_keys=tuple(definition.get("x-kubernetes-list-map-keys", ())),
        required=frozenset(definition.get("required", ())),
        preserves_unknown=not definition.get("type"),
        **_own(definition),
    )
