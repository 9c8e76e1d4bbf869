"""Requests as values: what would be sent, without sending it.

Every builder is pure. A body is anything that is JSON (dicts, lists, msgspec Structs, msgspec.Raw
inside them), or bytes that are sent as they are.
"""

from dataclasses import dataclass
from dataclasses import replace as with_fields
from enum import Enum, StrEnum
from typing import Any

import msgspec
import orjson

from lws.client.resources import PODS, Resource

Query = tuple[tuple[str, str], ...]
Body = Any  # whatever `encode` can write; a type of JSON would only be cast at every call

JSON = "application/json"
PAGE_SIZE = 500  # client-go's: a page of pods stays near 2 MB


class Priority(Enum):
    """Who goes first when the client holds itself back."""

    NORMAL = "normal"
    LEASE = "lease"  # never waits for others: a leader that queues behind its own work loses office


class PatchType(StrEnum):
    """The four ways to patch; the value is the content type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"  # JSON is YAML


class Propagation(StrEnum):
    """What a deletion does to what the object owns."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `verb` and `resource` are what metrics and RBAC call it."""

    method: str
    path: str
    query: Query = ()
    body: bytes | None = None
    content_type: str | None = None
    priority: Priority = Priority.NORMAL
    timeout_seconds: float | None = None  # of a watch: of silence; None: the transport's
    verb: str = ""
    resource: str = ""

    def at_priority(self, priority: Priority) -> "Request":
        """The same request, queued differently."""
        return with_fields(self, priority=priority)

    def within(self, seconds: float) -> "Request":
        """The same request, given up after so many seconds."""
        return with_fields(self, timeout_seconds=seconds)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def encode(body: Body) -> bytes:
    """JSON of a body, spelt as Go spells it; bytes are taken to be JSON already.

    The API server keeps the bytes of a ControllerRevision's data, spells them its own way when it
    patches the object, and refuses its own patch because immutable data "changed".
    """
    if isinstance(body, bytes):
        return body
    encoded = orjson.dumps(body, default=_fragment)
    for plain, escaped in _GO_ESCAPES:
        encoded = encoded.replace(plain, escaped)
    return encoded


_GO_ESCAPES = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "&<>\u2028\u2029"
)
"""JSON has these in strings only."""


def raw_get(path: str, query: Query = ()) -> Request:
    """A path that is no resource's: /version, /readyz, discovery."""
    return Request("GET", path, query=query, verb="get", resource=path)


def get(
    resource: Resource, *, namespace: str | None = None, name: str, subresource: str | None = None
) -> Request:
    """One object."""
    return Request(
        "GET",
        resource.path(namespace, name, subresource),
        verb="get",
        resource=_label(resource, subresource),
    )


def list_page(
    resource: Resource,
    *,
    namespace: str | None = None,
    label_selector: str | None = None,
    field_selector: str | None = None,
    limit: int | None = PAGE_SIZE,
    continue_token: str | None = None,
    resource_version: str | None = None,
    resource_version_match: str | None = None,
) -> Request:
    """One page of a collection; without a limit, all of it."""
    query = _query(
        labelSelector=label_selector,
        fieldSelector=field_selector,
        limit=limit,
        resourceVersion=resource_version,
        resourceVersionMatch=resource_version_match,
        **{"continue": continue_token},
    )
    return Request(
        "GET", resource.path(namespace), query=query, verb="list", resource=_label(resource)
    )


def watch(
    resource: Resource,
    *,
    namespace: str | None = None,
    label_selector: str | None = None,
    field_selector: str | None = None,
    resource_version: str,
    allow_bookmarks: bool = True,
    timeout_seconds: int | None = None,
    send_initial_events: bool = False,
    resource_version_match: str | None = None,
) -> Request:
    """Every change after `resource_version`, until the server ends it after `timeout_seconds`.

    `send_initial_events` asks for the present objects first, then a bookmark that says so; the
    server then insists on a match, which is NotOlderThan unless given.
    """
    if send_initial_events and resource_version_match is None:
        resource_version_match = "NotOlderThan"
    query = _query(
        watch=True,
        labelSelector=label_selector,
        fieldSelector=field_selector,
        resourceVersion=resource_version,
        allowWatchBookmarks=allow_bookmarks or None,
        timeoutSeconds=timeout_seconds,
        sendInitialEvents=send_initial_events or None,
        resourceVersionMatch=resource_version_match,
    )
    return Request(
        "GET", resource.path(namespace), query=query, verb="watch", resource=_label(resource)
    )


def pod_log(
    *,
    namespace: str,
    name: str,
    container: str,
    follow: bool = False,
    previous: bool = False,
    since_seconds: int | None = None,
    since_time: str | None = None,
    tail_lines: int | None = None,
) -> Request:
    """A container's log, each line behind its time. At most one of the two `since`."""
    query = _query(
        container=container,
        follow=follow or None,
        previous=previous or None,
        sinceSeconds=since_seconds,
        sinceTime=since_time,
        tailLines=tail_lines,
        timestamps=True,
    )
    path = PODS.path(namespace, name, "log")
    return Request("GET", path, query=query, verb="get", resource=_label(PODS, "log"))


def create(
    resource: Resource,
    *,
    namespace: str | None = None,
    body: Body,
    field_manager: str | None = None,
    dry_run: bool = False,
    subresource: str | None = None,
    name: str | None = None,
) -> Request:
    """A new object; `name` is only for a subresource of one that is there (eviction, token)."""
    return Request(
        "POST",
        resource.path(namespace, name, subresource),
        query=_query(fieldManager=field_manager, dryRun=_dry(dry_run)),
        body=encode(body),
        content_type=JSON,
        verb="create",
        resource=_label(resource, subresource),
    )


def replace(
    resource: Resource,
    *,
    namespace: str | None = None,
    name: str,
    body: Body,
    field_manager: str | None = None,
    dry_run: bool = False,
    subresource: str | None = None,
) -> Request:
    """The whole object anew; a resourceVersion in the body makes it a compare-and-swap."""
    return Request(
        "PUT",
        resource.path(namespace, name, subresource),
        query=_query(fieldManager=field_manager, dryRun=_dry(dry_run)),
        body=encode(body),
        content_type=JSON,
        verb="update",
        resource=_label(resource, subresource),
    )


def patch(
    resource: Resource,
    *,
    namespace: str | None = None,
    name: str,
    body: Body,
    patch_type: PatchType,
    field_manager: str | None = None,
    force: bool | None = None,
    subresource: str | None = None,
    dry_run: bool = False,
) -> Request:
    """A change to an object; `force` (apply only) takes fields over from other managers."""
    query = _query(fieldManager=field_manager, force=force, dryRun=_dry(dry_run))
    return Request(
        "PATCH",
        resource.path(namespace, name, subresource),
        query=query,
        body=encode(body),
        content_type=patch_type.value,
        verb="patch",
        resource=_label(resource, subresource),
    )


def apply(
    resource: Resource,
    *,
    namespace: str | None = None,
    name: str,
    body: Body,
    field_manager: str,
    force: bool = False,
    subresource: str | None = None,
    dry_run: bool = False,
) -> Request:
    """Server-side apply: make the object if there is none, else own exactly the fields given."""
    return patch(
        resource,
        namespace=namespace,
        name=name,
        body=body,
        patch_type=PatchType.APPLY,
        field_manager=field_manager,
        force=force,
        subresource=subresource,
        dry_run=dry_run,
    )


def delete(
    resource: Resource,
    *,
    namespace: str | None = None,
    name: str,
    propagation: Propagation | None = None,
    uid: str | None = None,
    resource_version: str | None = None,
    grace_period_seconds: int | None = None,
    dry_run: bool = False,
) -> Request:
    """The end of one object; with `uid` only of that life of it, with `resource_version` only if
    nobody has touched it since."""
    preconditions = _given(uid=uid, resourceVersion=resource_version)
    options = _given(
        propagationPolicy=propagation,
        gracePeriodSeconds=grace_period_seconds,
        preconditions=preconditions or None,
        dryRun=["All"] if dry_run else None,
    )
    return _deletion(resource.path(namespace, name), options, "delete", resource)


def delete_collection(
    resource: Resource,
    *,
    namespace: str | None = None,
    label_selector: str | None = None,
    field_selector: str | None = None,
    propagation: Propagation | None = None,
    grace_period_seconds: int | None = None,
) -> Request:
    """The end of everything that the selectors choose."""
    options = _given(propagationPolicy=propagation, gracePeriodSeconds=grace_period_seconds)
    request = _deletion(resource.path(namespace), options, "deletecollection", resource)
    query = _query(labelSelector=label_selector, fieldSelector=field_selector)
    return with_fields(request, query=query)


def _deletion(path: str, options: dict[str, Any], verb: str, resource: Resource) -> Request:
    """A DELETE whose options, if any, stand in the body: preconditions exist only there."""
    body = encode({"apiVersion": "v1", "kind": "DeleteOptions", **options}) if options else None
    return Request(
        "DELETE",
        path,
        body=body,
        content_type=JSON if body else None,
        verb=verb,
        resource=_label(resource),
    )


def _label(resource: Resource, subresource: str | None = None) -> str:
    return f"{resource.plural}/{subresource}" if subresource else resource.plural


def _dry(dry_run: bool) -> str | None:
    return "All" if dry_run else None


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _query(**parameters: str | int | bool | None) -> Query:
    """Parameters that are given, as the API server spells them."""
    return tuple((name, _spell(value)) for name, value in _given(**parameters).items())


def _spell(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fragment(part: object) -> orjson.Fragment:
    """What orjson does not know, by msgspec: Structs, and Raw JSON that is copied unread."""
    return orjson.Fragment(msgspec.json.encode(part))
