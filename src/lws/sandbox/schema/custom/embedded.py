"""Whole objects inside custom ones."""

from collections.abc import Iterator
from typing import Any

from lws.sandbox.schema.errors import DecodeError, FieldError, invalid, required
from lws.sandbox.schema.model import Schema
from lws.sandbox.schema.naming import dns_1035_label
from lws.sandbox.schema.rules.metadata import metadata_errors
from lws.sandbox.schema.tables import OBJECT_META
from lws.sandbox.schema.wire import decoded_part

Json = Any


def embedded_errors(obj: Json, schema: Schema) -> list[FieldError]:
    """What is wrong with the objects inside `obj`; not with itself."""
    return list(_inside(obj, schema, ""))


def _inside(value: Json, schema: Schema, path: str) -> Iterator[FieldError]:
    if isinstance(value, dict):
        for name, member in value.items():
            known = schema.properties.get(name)
            inner = f"{path}.{name}" if path else name
            if known is None and schema.additional is not None:
                known, inner = schema.additional, f"{path}[{name}]"
            if known is not None:
                yield from _at(member, known, inner)
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from _at(item, schema.items, f"{path}[{index}]")


def _at(value: Json, schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.is_embedded_resource and isinstance(value, dict):
        yield from _resource(value, path)
    yield from _inside(value, schema, path)


def _resource(value: dict[str, Json], path: str) -> Iterator[FieldError]:
    for name in ("apiVersion", "kind"):
        here = f"{path}.{name}"
        if name not in value:
            yield required(here)
        elif not isinstance(value[name], str):
            yield invalid(here, value[name], "must be a string")
        elif not value[name]:
            yield invalid(here, "", "must not be empty")
        else:
            yield from _word(name, value[name], here)
    if "metadata" in value:
        yield from _metadata(value["metadata"], f"{path}.metadata")


def _word(name: str, value: str, path: str) -> Iterator[FieldError]:
    if name == "apiVersion" and value.count("/") > 1:
        yield invalid(path, value, f"unexpected GroupVersion string: {value}")
    if name == "kind":
        faults = dns_1035_label(value.lower())
        if faults:
            head = "may have mixed case, but should otherwise match: "
            yield invalid(path, value, head + ",".join(faults))


def _metadata(value: Json, path: str) -> Iterator[FieldError]:
    try:
        meta = decoded_part(OBJECT_META, value)
    except DecodeError as error:
        yield invalid(path, value, str(error))
        return
    yield from metadata_errors(meta, path)
