"""Lists that are sets or maps hold nothing twice."""

from collections.abc import Iterator
from typing import Any

import orjson

from lws.sandbox.schema.errors import FieldError, duplicate, invalid
from lws.sandbox.schema.model import ListType, Schema

Json = Any


def list_errors(obj: Json, schema: Schema) -> list[FieldError]:
    """Duplicates, in the whole object."""
    return list(_below(obj, schema, ""))


def _below(value: Json, schema: Schema, path: str) -> Iterator[FieldError]:
    if isinstance(value, dict):
        for name, member in value.items():
            if schema.is_embedded_resource and name == "metadata":
                continue
            known = schema.properties.get(name)
            if known is not None:
                yield from _below(member, known, f"{path}.{name}" if path else name)
            elif schema.additional is not None:
                yield from _below(member, schema.additional, f"{path}[{name}]")
    elif isinstance(value, list):
        yield from _own(value, schema, path)
        for index, item in enumerate(value):
            if schema.items is not None:
                yield from _below(item, schema.items, f"{path}[{index}]")


def _own(items: list[Json], schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.list_type is ListType.SET:
        for index in _repeated(items):
            yield duplicate(f"{path}[{index}]", items[index])
    elif schema.list_type is ListType.MAP:
        yield from _same_keys(items, schema, path)


def _same_keys(items: list[Json], schema: Schema, path: str) -> Iterator[FieldError]:
    for index, item in enumerate(items):
        if item is not None and not isinstance(item, dict):
            message = "must be an object for an array of list-type map"
            yield invalid(f"{path}[{index}]", item, message)
            return
    keys = [
        {key: item[key] for key in schema.list_map_keys if key in item} if item else {}
        for item in items
    ]
    for index in _repeated(keys):
        yield duplicate(f"{path}[{index}]", keys[index])


def _repeated(items: list[Json]) -> Iterator[int]:
    """Where each value that is there more than once stands for the second time."""
    seen: dict[bytes, int] = {}
    for index, item in enumerate(items):
        text = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield index
