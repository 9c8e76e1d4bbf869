"""Schemas of custom kinds, as a document has them."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.schema.publishing.kinds import CustomVersion, custom_name
from lws.sandbox.schema.tables import META, OBJECT_META, descriptions

JsonObject = dict[str, Any]

_NOT_IN_V2 = (*("anyOf", "oneOf", "allOf", "not", "nullable", "default"),)


def custom_schemas(one: CustomVersion, *, prefix: str, is_v3: bool) -> dict[str, JsonObject]:
    """The kind's and its list's, by name."""
    name = custom_name(one.group, one.version, one.kind)
    list_name = custom_name(one.group, one.version, one.list_kind)
    item = {"$ref": prefix + name}
    return {
        name: _kind_schema(one, prefix=prefix, is_v3=is_v3),
        list_name: _list_schema(one, item=item, prefix=prefix, is_v3=is_v3),
    }


def _kind_schema(one: CustomVersion, *, prefix: str, is_v3: bool) -> JsonObject:
    made = dict(one.schema) if is_v3 else _as_v2(one.schema)
    made.setdefault("type", "object")
    pod = descriptions()["io.k8s.api.core.v1.Pod"]
    own = {
        "apiVersion": {"description": pod["apiVersion"], "type": "string"},
        "kind": {"description": pod["kind"], "type": "string"},
        "metadata": _reference(OBJECT_META, pod["metadata"], prefix=prefix, is_v3=is_v3),
    }
    made["properties"] = {**made.get("properties", {}), **own}
    made["x-kubernetes-group-version-kind"] = [
        {"group": one.group, "kind": one.kind, "version": one.version}
    ]
    return made


def _list_schema(one: CustomVersion, *, item: JsonObject, prefix: str, is_v3: bool) -> JsonObject:
    listed = descriptions()["io.k8s.api.core.v1.PodList"]
    return {
        "description": f"{one.list_kind} is a list of {one.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"description": listed["apiVersion"], "type": "string"},
            "kind": {"description": listed["kind"], "type": "string"},
            "items": {
                "description": f"List of {one.plural}. More info: https://git.k8s.io/community/"
                "contributors/devel/sig-architecture/api-conventions.md",
                "type": "array",
                "items": {"allOf": [item]} if is_v3 else item,
            },
            "metadata": _reference(
                f"{META}.ListMeta", listed["metadata"], prefix=prefix, is_v3=is_v3
            ),
        },
        "x-kubernetes-group-version-kind": [
            {"group": one.group, "kind": one.list_kind, "version": one.version}
        ],
    }


def _reference(name: str, description: str, *, prefix: str, is_v3: bool) -> JsonObject:
    reference = {"$ref": prefix + name}
    if is_v3:
        return {"allOf": [reference], "description": description}
    return {**reference, "description": description}


def _as_v2(source: Mapping[str, Any]) -> JsonObject:
    """Without what OpenAPI 2 cannot say: such a part takes anything."""
    made = {key: value for key, value in source.items() if key not in _NOT_IN_V2}
    is_loose = source.get("nullable") or source.get("x-kubernetes-preserve-unknown-fields")
    if is_loose or source.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    if is_loose:
        for key in ("items", "properties", "additionalProperties", "required"):
            made.pop(key, None)
    if "properties" in made:
        made["properties"] = {name: _as_v2(one) for name, one in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), Mapping):
            made[key] = _as_v2(made[key])
    return made
