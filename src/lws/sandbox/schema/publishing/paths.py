"""The operations of a kind, as far as clients look at them: which there are, and their options."""

from typing import Any

from lws.sandbox.schema.publishing.kinds import ServedKind

JsonObject = dict[str, Any]

_WRITES = {
    "dryRun": "When present, indicates that modifications should not be persisted.",
    "fieldManager": "The name of the actor that is making these changes.",
    "fieldValidation": "What to do with unknown and duplicate fields: Ignore, Warn or Strict.",
}
_BODIES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC = "application/strategic-merge-patch+json"
"""Not of custom kinds; kubectl looks here before it chooses a patch."""
_ACTIONS = {"get": "get", "put": "put", "patch": "patch", "delete": "delete", "post": "post"}


def paths_of(kind: ServedKind, schema: str, *, prefix: str, is_v3: bool) -> dict[str, JsonObject]:
    """Every path of the kind; `schema` is its schema's name, `prefix` begins references."""
    reference = {"$ref": prefix + schema}
    middle = "/namespaces/{namespace}" if kind.namespaced else ""
    many = f"{kind.root}{middle}/{kind.plural}"
    one = f"{many}/{{name}}"
    make = _Maker(kind, reference, is_v3=is_v3)
    found = {
        many: {
            "get": make.operation("get", "list"),
            "post": make.operation("post", "post"),
            "delete": make.operation("delete", "deletecollection"),
        },
        one: {verb: make.operation(verb, _ACTIONS[verb]) for verb in _ONE},
    }
    if kind.namespaced:
        found[f"{kind.root}/{kind.plural}"] = {"get": make.operation("get", "list")}
    for name in kind.subresources:
        if name in ("status", "scale"):
            found[f"{one}/{name}"] = {verb: make.operation(verb, verb) for verb in _PART}
    return found


_ONE = ("get", "put", "patch", "delete")
_PART = ("get", "put", "patch")


class _Maker:
    """Makes operations of one kind."""

    def __init__(self, kind: ServedKind, reference: JsonObject, *, is_v3: bool) -> None:
        self._kind = kind
        self._reference = reference
        self._is_v3 = is_v3

    def operation(self, verb: str, action: str) -> JsonObject:
        """One operation."""
        made: JsonObject = {
            "parameters": self._parameters(verb),
            "responses": {"200": self._response()},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self._kind.group_version_kind,
        }
        bodies = _BODIES if self._kind.is_custom else (*_BODIES, _STRATEGIC)
        if verb == "patch" and self._is_v3:
            made["requestBody"] = {"content": {kind: {} for kind in bodies}}
        elif verb == "patch":
            made["consumes"] = list(bodies)
        return made

    def _response(self) -> JsonObject:
        if not self._is_v3:
            return {"description": "OK", "schema": self._reference}
        content = {"application/json": {"schema": self._reference}}
        return {"description": "OK", "content": content}

    def _parameters(self, verb: str) -> list[JsonObject]:
        names = [] if verb == "get" else list(_WRITES)
        if verb == "delete":
            names = ["dryRun"]
        return [self._parameter(name, _WRITES[name]) for name in names]

    def _parameter(self, name: str, description: str) -> JsonObject:
        made: JsonObject = {"name": name, "in": "query", "description": description}
        if self._is_v3:
            made["schema"] = {"type": "string", "uniqueItems": True}
        else:
            made |= {"type": "string", "uniqueItems": True}
        return made
