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
