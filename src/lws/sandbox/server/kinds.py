"""What the server knows about a kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lws.client.resources import Resource
from lws.sandbox.schema import Schema
from lws.sandbox.server.status import Subject

JsonObject = dict[str, Any]

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class Subresource:
    """Part of an object that has its own path; the kind of its body, if not the object's own."""

    name: str
    verbs: tuple[str, ...] = STATUS_VERBS
    kind: str = ""
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where a kind keeps what the scale subresource shows; JSON paths without the leading dot."""

    replicas: tuple[str, ...] = ("spec", "replicas")
    status_replicas: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""
    json_path: str = ""
    """Of a custom column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind in one version."""

    resource: Resource
    singular: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    list_kind: str = ""
    read_schema: Callable[[], Schema]
    """Of a built-in kind only when it is first used: all of them take a moment to read."""
    stored_as: str = ""
    """`group/plural`, if not its own: two groups may show the same objects."""
    has_generation: bool = False
    needs_version: bool = False
    """An update must say which resourceVersion it was made from."""
    is_made_by_update: bool = False
    """An update of what is not there makes it."""
    is_custom: bool = False
    scale: ScalePaths | None = None
    columns: tuple[Column, ...] = ()
    """Of a custom kind."""
    selectable: tuple[str, ...] = ()
    """Fields for selectors, besides name and namespace."""
    deprecation: str = ""
    """What everybody who uses the kind is told."""
    storage_version: str = ""
    """Of a custom kind: the version in which its objects are kept."""

    @property
    def storage(self) -> str:
        """The store's name for its objects."""
        return self.stored_as or f"{self.resource.group}/{self.resource.plural}"

    @property
    def has_status(self) -> bool:
        """Is the status a subresource?"""
        return "status" in self.subresources

    @property
    def schema(self) -> Schema:
        """What its objects look like."""
        return self.read_schema()

    def subject(self, name: str = "", uid: str = "") -> Subject:
        """For a refusal that names the plural."""
        return Subject(self.resource.group, self.resource.plural, name, uid)

    def kind_subject(self, name: str = "", uid: str = "") -> Subject:
        """For a refusal that names the kind."""
        return Subject(self.resource.group, self.resource.kind, name, uid)
