"""The words that our CustomResourceDefinitions are written in: one function a kind of schema.

All text is kept short: a CRD that kubectl can apply holds at most 256 KiB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

INT_OR_STRING: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
STRINGS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}


def described(schema: Schema, text: str, **more: object) -> Schema:
    return {"description": text, **schema, **more}


def ruled(schema: Schema, *, rule: str, message: str) -> Schema:
    """With a rule in CEL."""
    return schema | {"x-kubernetes-validations": [{"rule": rule, "message": message}]}


def text(description: str, **more: object) -> Schema:
    return described({"type": "string"}, description, **more)


def choice(description: str, values: Sequence[str], default: str) -> Schema:
    return text(description, enum=[str(value) for value in values], default=str(default))


def flag(description: str) -> Schema:
    return described({"type": "boolean"}, description)


def count(
    description: str,
    *,
    least: int | None = None,
    most: int | None = None,
    default: int | None = None,
) -> Schema:
    bounds = {"default": default, "minimum": least, "maximum": most}
    given = {name: value for name, value in bounds.items() if value is not None}
    return described({"type": "integer", "format": "int32"}, description, **given)


def generation(description: str) -> Schema:
    return described({"type": "integer", "format": "int64"}, description)


def moment(description: str) -> Schema:
    return described({"type": "string", "format": "date-time"}, description)


def int_or_percent(description: str, default: int) -> Schema:
    return described(INT_OR_STRING, description, default=default)


def record(
    description: str, properties: Mapping[str, Schema], required: Sequence[str] = ()
) -> Schema:
    needed = {"required": list(required)} if required else {}
    fields = {"type": "object", "properties": dict(properties)}
    return described(fields, description, **needed)


def items_by(key: str, item: Schema, description: str, **more: object) -> Schema:
    """A list whose items are told apart, and merged, by one of their fields."""
    fields = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": [key],
    }
    return described(fields, description, **more)


def conditions() -> Schema:
    item = record(
        "One condition.",
        {
            "type": text("What is true, false or not known."),
            "status": text("Whether it is.", enum=["True", "False", "Unknown"]),
            "reason": text("Why, as one word."),
            "message": text("Why, in words."),
            "lastTransitionTime": moment("When the status last changed."),
            "observedGeneration": generation("Generation of the object that this is about."),
        },
        ("type", "status", "reason", "message", "lastTransitionTime"),
    )
    return items_by("type", item, "What is so at present.")


def definition(
    *,
    group: str,
    names: Mapping[str, object],
    spec: Schema,
    status: Schema,
    description: str,
    columns: Sequence[Mapping[str, str]] = (),
    scale: Mapping[str, str] | None = None,
) -> Schema:
    """A CustomResourceDefinition of one version, v1, with a status subresource."""
    version: Schema = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root(spec, status, description)},
        "subresources": {"status": {}} | ({"scale": dict(scale)} if scale else {}),
    }
    if columns:
        version["additionalPrinterColumns"] = [dict(column) for column in columns]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {
            "group": group,
            "names": dict(names),
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _root(spec: Schema, status: Schema, description: str) -> Schema:
    properties = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": spec,
        "status": status,
    }
    return record(description, properties, ("spec",))


def number_column(name: str, path: str, description: str) -> dict[str, str]:
    return {"name": name, "type": "integer", "jsonPath": path, "description": description}


AGE_COLUMN = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
