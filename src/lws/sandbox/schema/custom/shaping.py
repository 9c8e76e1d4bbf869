"""Pruning and defaulting: a new object with the kind's fields alone, and what it leaves out."""

import copy
from typing import Any

from lws.sandbox.schema.custom.reading import has_default
from lws.sandbox.schema.definitions import schema_named
from lws.sandbox.schema.errors import DecodeError, invalid
from lws.sandbox.schema.model import Schema
from lws.sandbox.schema.tables import OBJECT_META
from lws.sandbox.schema.unknown import unknown_fields
from lws.sandbox.schema.wire import Place, decoded_part

Json = Any
JsonObject = dict[str, Any]

_OWN = ("apiVersion", "kind", "metadata")


def prune(obj: JsonObject, schema: Schema) -> tuple[JsonObject, list[str]]:
    """The object without fields that the kind does not have, and their paths, sorted.

    Metadata, the root's and that of embedded resources, is held to its Go types; DecodeError if it
    does not fit.
    """
    dropped: list[str] = []
    pruned = _pruned(obj, schema, "", dropped)
    assert isinstance(pruned, dict), "an object stays an object"
    dropped.sort()
    return _without_bad_nulls(pruned, schema), dropped


def _pruned(value: Json, schema: Schema, path: str, dropped: list[str]) -> Json:
    if isinstance(value, dict):
        return _pruned_object(value, schema, path, dropped)
    if isinstance(value, list):
        items = schema.items or _nothing(schema)
        return [
            _pruned(item, items, f"{path}[{index}]", dropped) for index, item in enumerate(value)
        ]
    return value


def _nothing(schema: Schema) -> Schema:
    return _UNLOOKED if schema.preserves_unknown else _EMPTY


_EMPTY = Schema()
_UNLOOKED = Schema(preserves_unknown=True)


def _pruned_object(value: JsonObject, schema: Schema, path: str, dropped: list[str]) -> JsonObject:
    kept: JsonObject = {}
    for name, member in value.items():
        inner = f"{path}.{name}" if path else name
        if schema.is_embedded_resource and name in _OWN:
            kept[name] = _own(name, member, path=path, dropped=dropped)
            continue
        known = schema.properties.get(name) or schema.additional
        if known is not None:
            kept[name] = _pruned(member, known, inner, dropped)
        elif schema.preserves_unknown:
            kept[name] = member
        else:
            dropped.append(inner)
    return kept


def _own(name: str, value: Json, *, path: str, dropped: list[str]) -> Json:
    here = f"{path}.{name}" if path else name
    if name != "metadata":
        if path and not isinstance(value, str):
            fault = invalid(here, value, "must be a string")
            raise DecodeError(f"{here}: {fault.message}")
        return value
    try:
        if not isinstance(value, dict):
            raise Place(go_type="v1.ObjectMeta").problem(value)
        made = decoded_part(OBJECT_META, value)
    except DecodeError as error:
        if not path:
            raise
        raise DecodeError(f"{here}: {invalid(here, value, str(error)).message}") from error
    dropped.extend(f"{here}.{one}" for one in unknown_fields(value, schema_named(OBJECT_META)))
    return made


def _without_bad_nulls(obj: JsonObject, schema: Schema) -> JsonObject:
    """Nulls that no default replaces are as if they were not there."""
    kept: JsonObject = {}
    for name, value in obj.items():
        if schema.is_embedded_resource and name in _OWN:
            kept[name] = value
            continue
        known = schema.properties.get(name) or schema.additional
        if value is None and known is not None and not known.nullable and not has_default(known):
            continue
        kept[name] = _cleaned(value, known)
    return kept


def _cleaned(value: Json, schema: Schema | None) -> Json:
    if schema is None:
        return value
    if isinstance(value, dict):
        return _without_bad_nulls(value, schema)
    if isinstance(value, list) and schema.items is not None:
        return [_cleaned(item, schema.items) for item in value]
    return value


def apply_defaults(obj: JsonObject, schema: Schema) -> JsonObject:
    """The object with the schema's defaults where it says nothing, or null where it may not."""
    filled = _filled(obj, schema)
    assert isinstance(filled, dict), "an object stays an object"
    return filled


def _filled(value: Json, schema: Schema) -> Json:
    if isinstance(value, dict):
        return _filled_object(value, schema)
    if isinstance(value, list) and schema.items is not None:
        items = schema.items
        return [_filled(_instead_of_null(item, items), items) for item in value]
    return value


def _filled_object(value: JsonObject, schema: Schema) -> JsonObject:
    made = dict(value)
    for name, known in schema.properties.items():
        if not has_default(known):
            continue
        if name not in made or (made[name] is None and not known.nullable):
            made[name] = copy.deepcopy(known.default)
    for name, member in made.items():
        if name == "metadata" and schema.is_embedded_resource:
            continue
        property_schema = schema.properties.get(name)
        if property_schema is not None:
            made[name] = _filled(member, property_schema)
        elif schema.additional is not None:
            made[name] = _filled(_instead_of_null(member, schema.additional), schema.additional)
    return made


def _instead_of_null(value: Json, schema: Schema) -> Json:
    if value is None and not schema.nullable and has_default(schema):
        return copy.deepcopy(schema.default)
    return value
