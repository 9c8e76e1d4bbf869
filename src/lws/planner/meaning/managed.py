"""What managedFields records of one manager's applies, and what of it is no longer applied."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lws.planner.meaning.paths import Path, field_step, item_step, value_step
from lws.planner.meaning.rules import DEFAULT_KEYS

Recorded = Mapping[str, Any]


def recorded_fields(live: Mapping[str, Any], manager: str) -> Recorded:
    """The fields that `manager` has applied; empty if none."""
    metadata = live.get("metadata") or {}
    for entry in metadata.get("managedFields") or ():
        is_apply = entry.get("operation") == "Apply" and not entry.get("subresource")
        if is_apply and entry.get("manager") == manager:
            fields: Recorded = entry.get("fieldsV1") or {}
            return fields
    return {}


def recorded_at(path: Path, record: Recorded) -> Recorded | None:
    """What is recorded of the field at `path`: empty for a single value, None if nothing."""
    for step in path:
        if step.record not in record:
            return None
        record = record[step.record]
    return record


def given_up(record: Recorded, want: object, live: object, path: Path = ()) -> Iterator[Path]:
    """What is recorded and stands, but is not wanted: an apply would remove it."""
    for key, nested in record.items():
        kind, _, rest = key.partition(":")
        if kind == "f":
            step, wanted, stands = field_step(rest), _value(want, rest), _value(live, rest)
        elif kind == "k":
            keys = json.loads(rest)
            step, wanted, stands = item_step(keys), _item(want, keys), _item(live, keys)
        elif kind == "v":
            member = json.loads(rest)
            step, wanted, stands = value_step(member), _member(want, member), _member(live, member)
        else:
            continue
        if stands is None:
            continue
        if wanted is None and (not nested or "." in nested):
            yield (*path, step)
        else:
            yield from given_up(nested, wanted, stands, (*path, step))


def _value(fields: object, name: str) -> object:
    return fields.get(name) if isinstance(fields, Mapping) else None


def _item(items: object, keys: Mapping[str, object]) -> object:
    for item in items if isinstance(items, list | tuple) else ():
        if isinstance(item, Mapping) and all(_key(item, k) == v for k, v in keys.items()):
            return item
    return None


def _key(item: Mapping[str, object], name: str) -> object:
    value = item.get(name)
    return DEFAULT_KEYS.get(name) if value is None else value


def _member(items: object, member: object) -> object:
    return member if isinstance(items, list | tuple) and member in items else None
