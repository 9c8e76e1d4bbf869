"""Small questions about objects as plain JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

JsonObject = dict[str, Any]


def copied(obj: Mapping[str, Any]) -> JsonObject:
    """A deep copy, ours to change."""
    return cast("JsonObject", orjson.loads(orjson.dumps(obj)))


def part(obj: Mapping[str, Any], *path: str) -> Any:
    """What is at a path, None if nothing is."""
    value: Any = obj
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def with_part(obj: JsonObject, path: Sequence[str], value: object) -> JsonObject:
    """The object with another value at a path; the rest is shared."""
    head, *rest = path
    if not rest:
        return {**obj, head: value}
    inner = obj.get(head)
    return {**obj, head: with_part(inner if isinstance(inner, dict) else {}, rest, value)}


_METADATA_ORDER = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def in_order(obj: JsonObject) -> JsonObject:
    """The same object, as the real server writes it: what it is, its metadata, the rest."""
    metadata = {**obj["metadata"], "resourceVersion": ""}  # its place; the store fills it in
    ordered = {name: metadata[name] for name in _METADATA_ORDER if name in metadata}
    head = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": ordered | metadata}
    return head | {name: value for name, value in obj.items() if name not in head}


def without_times(metadata: Mapping[str, Any]) -> JsonObject:
    """Metadata whose managedFields do not say when."""
    entries = metadata.get("managedFields")
    if not entries:
        return dict(metadata)
    timeless = [{**entry, "time": ""} for entry in entries]
    return {**metadata, "managedFields": timeless}


def is_unchanged(new: JsonObject, old: JsonObject) -> bool:
    """Is it the same object, but for when somebody came to own a field?"""
    if {**new, "metadata": None} != {**old, "metadata": None}:
        return False
    return without_times(new["metadata"]) == without_times(old["metadata"])
