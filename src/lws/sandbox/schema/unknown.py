"""Fields that a kind does not have."""

from collections.abc import Iterator
from typing import Any

from lws.sandbox.schema.model import Schema


def unknown_fields(obj: Any, schema: Schema) -> list[str]:
    """Their paths (`spec.containers[0].imag`), in the order in which they stand."""
    return list(_unknown(obj, schema, ""))


def _unknown(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if isinstance(value, dict) and schema.type == "object":
        yield from _unknown_members(value, schema, path)
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from _unknown(item, schema.items, f"{path}[{index}]")


def _unknown_members(value: dict[str, Any], schema: Schema, path: str) -> Iterator[str]:
    for name, member in value.items():
        inner = f"{path}.{name}" if path else name
        known = schema.properties.get(name) or schema.additional
        if known is not None:
            yield from _unknown(member, known, inner)
        elif not schema.preserves_unknown:
            yield inner
