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


def sharing(new: JsonObject, old: JsonObject) -> JsonObject:
    """The new object; what it says as the old one does is the old one's, so that the history of an
    object costs little more than its changes."""
    metadata = _shared_members(new["metadata"], old["metadata"])
    return {**_shared_members(new, old), "metadata": metadata}


def _shared_members(new: JsonObject, old: JsonObject) -> JsonObject:
    return {
        name: old[name] if name in old and _is_same(value, old[name]) else value
        for name, value in new.items()
    }


def _is_same(new: object, old: object) -> bool:
    """Of containers alone; 1, 1.0 and true are equal in Python, so those are compared as text."""
    if not isinstance(new, dict | list) or new != old:
        return False
    try:
        return orjson.dumps(new) == orjson.dumps(old)
    except TypeError:  # an integer of more than 64 bits
        return False


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
