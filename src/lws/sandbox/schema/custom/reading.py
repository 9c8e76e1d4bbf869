"""From `openAPIV3Schema` to the tree."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson

from lws.sandbox.schema.definitions import schema_named
from lws.sandbox.schema.model import MISSING, ListType, Rule, Schema
from lws.sandbox.schema.tables import OBJECT_META

Source = Mapping[str, Any]

_SAME_NAME = ("type", "format", "description", "nullable", "minimum", "maximum", "pattern")
_RENAMED = {
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "uniqueItems": "unique_items",
    "minProperties": "min_properties",
    "maxProperties": "max_properties",
    "x-kubernetes-int-or-string": "int_or_string",
    "x-kubernetes-preserve-unknown-fields": "preserves_unknown",
    "x-kubernetes-embedded-resource": "is_embedded_resource",
}
_FIELDS = {**{name: name for name in _SAME_NAME}, **_RENAMED}
ANYTHING = Schema()


def read_crd_schema(source: Source) -> Schema:
    """The tree of a version's `openAPIV3Schema`; the root is a resource, with its metadata."""
    root = _read(source)
    typed = {
        "apiVersion": Schema(type="string"),
        "kind": Schema(type="string"),
        "metadata": schema_named(OBJECT_META),
    }
    described = {
        name: replace(schema, description=root.properties[name].description)
        if name in root.properties
        else schema
        for name, schema in typed.items()
    }
    return replace(
        root,
        type=root.type or "object",
        properties={**root.properties, **described},
        is_embedded_resource=True,
    )


def _read(source: Source) -> Schema:
    """A node; nodes that say the same are the same node, which saves most of the time: a set's
    definition holds a pod template twice or more often."""
    key = fingerprint(source)
    if key is None:
        return _made(source)
    if len(_KNOWN) > _KNOWN_MAX:
        _KNOWN.clear()
    return _KNOWN.get(key) or _KNOWN.setdefault(key, _made(source))


_KNOWN: dict[bytes, Schema] = {}
_KNOWN_MAX = 50_000


def fingerprint(source: Source) -> bytes | None:
    """Equal for what says the same in the same order; None if it cannot be told."""
    try:
        text = orjson.dumps(source)
    except TypeError:  # numbers beyond 64 bits
        return None
    return text if len(text) < _DIGEST_BYTES else sha256(text).digest()


_DIGEST_BYTES = 64


def _made(source: Source) -> Schema:
    parts: dict[str, Any] = {
        field: source[name] for name, field in _FIELDS.items() if source.get(name) is not None
    }
    if "default" in source:
        parts["default"] = source["default"]
    return Schema(
        **parts,
        properties={name: _read(one) for name, one in (source.get("properties") or {}).items()},
        additional=_additional(source.get("additionalProperties")),
        items=_read(source["items"]) if isinstance(source.get("items"), Mapping) else None,
        list_type=ListType(source.get("x-kubernetes-list-type") or "atomic"),
        list_map_keys=tuple(source.get("x-kubernetes-list-map-keys") or ()),
        is_atomic_map=source.get("x-kubernetes-map-type") == "atomic",
        required=frozenset(source.get("required") or ()),
        enum=tuple(source.get("enum") or ()),
        all_of=_several(source, "allOf"),
        any_of=_several(source, "anyOf"),
        one_of=_several(source, "oneOf"),
        negated=_read(source["not"]) if source.get("not") is not None else None,
        rules=tuple(_rule(one) for one in source.get("x-kubernetes-validations") or ()),
    )


def _additional(source: Source | bool | None) -> Schema | None:
    if source is True:
        return ANYTHING
    return _read(source) if isinstance(source, Mapping) else None


def _several(source: Source, name: str) -> tuple[Schema, ...]:
    return tuple(_read(one) for one in source.get(name) or ())


def _rule(source: Source) -> Rule:
    return Rule(
        rule=source["rule"],
        message=source.get("message") or "",
        message_expression=source.get("messageExpression") or "",
        reason=source.get("reason") or "",
        field_path=source.get("fieldPath") or "",
        optional_old_self=bool(source.get("optionalOldSelf")),
    )


def has_default(schema: Schema) -> bool:
    """A null default is none."""
    return schema.default is not MISSING and schema.default is not None
