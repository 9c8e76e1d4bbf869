"""Schemas of built-in types, as a document has them."""

from collections.abc import Iterable
from typing import Any

from lws.sandbox.schema.tables import INT_OR_STRING, QUANTITY, definitions, descriptions

JsonObject = dict[str, Any]

_V3_WHOLE: dict[str, JsonObject] = {
    INT_OR_STRING: {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
}


def built_in_schemas(names: Iterable[str], *, prefix: str, is_v3: bool) -> dict[str, JsonObject]:
    """The named types and all that they refer to; `prefix` begins every reference."""
    todo, made = list(names), dict[str, JsonObject]()
    while todo:
        name = todo.pop()
        if name in made or name not in definitions():
            continue
        made[name] = _schema(name, prefix=prefix, is_v3=is_v3)
        todo += _referred(definitions()[name])
    return dict(sorted(made.items()))


def _referred(definition: JsonObject) -> list[str]:
    nested = [definition.get("items"), definition.get("additionalProperties")]
    nested += definition.get("properties", {}).values()
    found = [name for one in nested if isinstance(one, dict) for name in _referred(one)]
    return [*found, definition["$ref"]] if "$ref" in definition else found


def _schema(name: str, *, prefix: str, is_v3: bool) -> JsonObject:
    prose = descriptions().get(name, {})
    if is_v3 and name in _V3_WHOLE:
        made = dict(_V3_WHOLE[name])
    else:
        made = _converted(definitions()[name], prefix=prefix, is_v3=is_v3)
    if prose.get(""):
        made["description"] = prose[""]
    for field, one in made.get("properties", {}).items():
        if prose.get(field):
            one["description"] = prose[field]
    return made


def _converted(definition: JsonObject, *, prefix: str, is_v3: bool) -> JsonObject:
    made = dict(definition)
    if "$ref" in made:
        reference = {"$ref": prefix + made.pop("$ref")}
        # A reference beside other words is none in OpenAPI 3.
        made = {"allOf": [reference], **made} if is_v3 else {**reference, **made}
    for key in ("items", "additionalProperties"):
        if key in made:
            made[key] = _converted(made[key], prefix=prefix, is_v3=is_v3)
    if "properties" in made:
        made["properties"] = {
            name: _converted(one, prefix=prefix, is_v3=is_v3)
            for name, one in made["properties"].items()
        }
    return made
