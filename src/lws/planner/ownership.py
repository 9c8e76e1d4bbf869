"""Server-side apply's record of who owns what: `metadata.managedFields`, read.

A field set is a tree: `f:name` a field, `k:{…}` the list item with these keys, `v:…` an item of
a set, `.` the thing itself; an empty tree means the whole value below (Kubernetes API conventions,
FieldsV1).
"""

import json
from collections.abc import Mapping
from typing import Any

from lws.base.times import parse_time

FieldSet = Mapping[str, Any]


def applied_fields(metadata: Mapping[str, Any], *, manager: str) -> FieldSet | None:
    """What `manager` owns by server-side apply; None if it has never applied."""
    fields = _applied(metadata, manager).get("fieldsV1")
    return fields if isinstance(fields, Mapping) else None


def applied_time(metadata: Mapping[str, Any], *, manager: str) -> float | None:
    """When an apply of `manager` last changed something, by the server's clock, in seconds since
    the epoch; None if that is not recorded."""
    try:
        return parse_time(_applied(metadata, manager).get("time", ""))
    except (TypeError, ValueError):
        return None


def _applied(metadata: Mapping[str, Any], manager: str) -> Mapping[str, Any]:
    entries: list[Mapping[str, Any]] = metadata.get("managedFields") or []
    for entry in entries:
        if (
            entry.get("manager") == manager
            and entry.get("operation") == "Apply"
            and not entry.get("subresource")
        ):
            return entry
    return {}


def field_names(fields: FieldSet | None, *path: str) -> frozenset[str]:
    """Names of the fields that stand at `path` in a field set."""
    for name in path:
        fields = (fields or {}).get(f"f:{name}")
    return frozenset(key[2:] for key in fields or {} if key.startswith("f:"))


def extract(value: Any, fields: FieldSet) -> Any:
    """The part of `value` that a field set names, as an apply of just that would be written."""
    inner = {key: below for key, below in fields.items() if key != "."}
    if not inner:
        return value
    if isinstance(value, Mapping):
        return {
            key[2:]: extract(value[key[2:]], below)
            for key, below in inner.items()
            if key.startswith("f:") and key[2:] in value
        }
    if isinstance(value, list):
        picked = (_item(value, key, below) for key, below in inner.items())
        return _in_order([item for item in picked if item is not None])
    return value


def _item(items: list[Any], key: str, fields: FieldSet) -> tuple[int, Any] | None:
    wanted = json.loads(key[2:])
    for index, item in enumerate(items):
        if key.startswith("v:") and item == wanted:
            return index, item
        if key.startswith("k:") and isinstance(item, Mapping) and _has(item, wanted):
            return index, wanted | extract(item, fields)
    return None


def _has(item: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    return all(item.get(name) == value for name, value in keys.items())


def _in_order(picked: list[tuple[int, Any]]) -> list[Any]:
    return [item for _, item in sorted(picked, key=lambda pair: pair[0])]
