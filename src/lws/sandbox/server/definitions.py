"""Custom resource definitions: what they serve, and what is said about them."""

from collections.abc import Iterator
from typing import Any

from lws.base.times import format_time
from lws.client.resources import Resource
from lws.sandbox.patch import updated
from lws.sandbox.schema import Schema
from lws.sandbox.schema.structural import read_crd_schema
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Column, Kind, ScalePaths, Subresource
from lws.sandbox.server.operations import World
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SCALE = Subresource("scale", kind="Scale", group="autoscaling", version="v1")
_AGE = Column(
    "Age",
    "date",
    description=(
        "CreationTimestamp is a timestamp representing the server time when this object was"
        " created. It is not guaranteed to be set in happens-before order across separate"
        " operations. Clients may not set this value. It is represented in RFC3339 form and is in"
        " UTC.\n\nPopulated by the system. Read-only. Null for lists. More info:"
        " https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
        "#metadata"
    ),
    json_path=".metadata.creationTimestamp",
)


def kinds_of(definition: JsonObject) -> Iterator[Kind]:
    """What an established definition serves: one kind for each served version."""
    spec = definition["spec"]
    for version in spec["versions"]:
        if version.get("served"):
            yield _kind(spec, version)


def _kind(spec: JsonObject, version: JsonObject) -> Kind:
    names = spec["names"]
    group, name = spec["group"], version["name"]
    schema = read_crd_schema(part(version, "schema", "openAPIV3Schema") or {})
    namespaced = spec["scope"] == "Namespaced"
    return Kind(
        resource=Resource(group, name, names["plural"], names["kind"], namespaced=namespaced),
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        verbs=CUSTOM_VERBS,
        subresources={one.name: one for one in _subresources(version)},
        list_kind=names.get("listKind") or f"{names['kind']}List",
        read_schema=_Constant(schema),
        has_generation=True,
        needs_version=True,
        is_custom=True,
        scale=_scale(version),
        columns=tuple(_columns(version)),
        selectable=tuple(
            one["jsonPath"].lstrip(".") for one in version.get("selectableFields") or ()
        ),
        deprecation=_deprecation(version, f"{group}/{name} {names['kind']}"),
        storage_version=next(one["name"] for one in spec["versions"] if one.get("storage")),
    )


def _deprecation(version: JsonObject, shown: str) -> str:
    if not version.get("deprecated"):
        return ""
    return version.get("deprecationWarning") or f"{shown} is deprecated"


class _Constant:
    """A schema that is already read."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def __call__(self) -> Schema:
        return self._schema


def _subresources(version: JsonObject) -> Iterator[Subresource]:
    parts = version.get("subresources") or {}
    if "status" in parts:
        yield Subresource("status")
    if "scale" in parts:
        yield _SCALE


def _scale(version: JsonObject) -> ScalePaths | None:
    paths = part(version, "subresources", "scale")
    if paths is None:
        return None
    selector = paths.get("labelSelectorPath") or ""
    return ScalePaths(
        replicas=_steps(paths["specReplicasPath"]),
        status_replicas=_steps(paths["statusReplicasPath"]),
        selector=_steps(selector) if selector else (),
    )


def _steps(json_path: str) -> tuple[str, ...]:
    return tuple(json_path.lstrip(".").split("."))


def _columns(version: JsonObject) -> Iterator[Column]:
    yield Column("Name", "string", "name", description=_NAME)
    described = version.get("additionalPrinterColumns")
    if not described:
        yield _AGE
        return
    for one in described:
        yield Column(
            one["name"],
            one["type"],
            one.get("format") or "",
            one.get("priority") or 0,
            one.get("description")
            or f"Custom resource definition column (in JSONPath format): {one['jsonPath']}",
            one["jsonPath"],
        )


_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some"
    " resources may allow a client to request the generation of an appropriate name automatically."
    " Name is primarily intended for creation idempotence and configuration definition. Cannot be"
    " updated. More info:"
    " https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)


class Definitions:
    """Keeps the registry in step with the definitions in the store."""

    def __init__(self, world: World) -> None:
        self._world = world

    def load(self) -> None:
        """Serve what the store's definitions say."""
        for _, definition in self._world.store.list(DEFINITIONS).items:
            self._serve(definition)

    def on_write(self, kind: Kind, new: JsonObject | None, old: JsonObject | None) -> None:
        """A definition that is new is accepted; one that is gone serves nothing."""
        if kind.storage != DEFINITIONS:
            return
        if new is None:
            assert old is not None, "a write has at least one side"
            self._world.registry.replace(old["metadata"]["name"], ())
            return
        if old is None or new["spec"] != old["spec"]:
            accepted = self._accepted(new)
            self._serve(accepted)

    def _serve(self, definition: JsonObject) -> None:
        name = definition["metadata"]["name"]
        self._world.registry.replace(name, tuple(kinds_of(definition)))

    def _accepted(self, definition: JsonObject) -> JsonObject:
        """With the status that its controllers would give it, as a revision of its own."""
        status = definition.get("status") or {}
        accepted = {**definition["spec"]["names"]}
        conditions = self._conditions(status)
        wanted = {**status, "acceptedNames": accepted, "conditions": conditions}
        stored = [one["name"] for one in definition["spec"]["versions"] if one.get("storage")]
        known = status.get("storedVersions") or []
        wanted["storedVersions"] = [*known, *(one for one in stored if one not in known)]
        fresh = {**definition, "status": wanted}
        if fresh == definition:
            return definition
        fresh = self._owned(definition, fresh)
        key = Key(DEFINITIONS, "", definition["metadata"]["name"])
        return self._world.store.update(key, fresh, expected=definition)

    def _owned(self, old: JsonObject, new: JsonObject) -> JsonObject:
        """The status is the API server's own."""
        kind = self._world.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert kind is not None, "definitions are built in"
        return updated(
            old=old,
            new=new,
            schema=kind.schema,
            manager="kube-apiserver",
            api_version=kind.resource.api_version,
            subresource="status",
            now=self._world.clock.now(),
        )

    def _conditions(self, status: JsonObject) -> list[JsonObject]:
        if status.get("conditions"):
            return list(status["conditions"])
        now = format_time(self._world.clock.now())
        return [
            _condition(now, "NamesAccepted", "NoConflicts", "no conflicts found"),
            _condition(now, "Established", "InitialNamesAccepted", _ESTABLISHED),
        ]


_ESTABLISHED = "the initial names have been accepted"


def _condition(now: str, kind: str, reason: str, message: str) -> JsonObject:
    return {
        "lastTransitionTime": now,
        "message": message,
        "reason": reason,
        "status": "True",
        "type": kind,
    }
