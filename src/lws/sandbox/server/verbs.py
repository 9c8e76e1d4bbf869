"""What whoever is in this process may ask of the server: the verbs, as one protocol."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from lws.client.requests import PatchType, Propagation
from lws.client.resources import Resource
from lws.sandbox.server.authentication.users import Extra

JsonObject = dict[str, Any]
"""One object. Nobody changes one that came out of the server or went into it: the store keeps it
as it is; make a changed copy (`copy.deepcopy`, or new dicts along the changed path)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and how he wants his writes done."""

    user: str = "sandbox-admin"
    groups: tuple[str, ...] = ("system:masters", "system:authenticated")
    uid: str = ""
    extra: Extra = ()
    field_manager: str = "sandbox"
    dry_run: bool = False
    field_validation: str = "Ignore"
    """Strict, Warn or Ignore: what becomes of fields that the kind does not have."""


ADMIN = Caller()


class EventType(StrEnum):
    """What a watch tells."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event; the object of an ERROR is a Status, after which the watch is over."""

    type: EventType
    object: JsonObject


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list found, at one revision; `continue_token` is empty on the last page."""

    items: Sequence[JsonObject]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Which objects; the defaults choose all, as they are now."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """From where, and what of it. Without a resourceVersion the present objects come first."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    allow_bookmarks: bool = False
    send_initial_events: bool | None = None
    """True: the present objects first, and a bookmark after them. False: only what is to come."""
    timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """How to delete; None leaves it to the kind."""

    grace_period_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str = ""
    resource_version: str = ""


class Watch(Protocol):
    """`async with api.watch(...) as events: async for event in events:`; ends by itself on
    timeout and after an ERROR."""

    async def __aenter__(self) -> Self:
        """Begin."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Forget the cursor."""
        ...

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        """The events, in order."""
        ...


class Verbs(Protocol):
    """The verbs. Reads answer at once; writes wait for admission webhooks and for the journal.

    Every verb raises `ApiStatus`. A namespace of None means all namespaces (list, watch), or that
    the kind has none.
    """

    def get(
        self, resource: Resource, *, name: str, namespace: str | None = None, subresource: str = ""
    ) -> JsonObject:
        """One object, the newest there is."""
        ...

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        options: ListOptions = ListOptions(),
    ) -> Listing:
        """All objects that the options choose, at one revision, by namespace and name."""
        ...

    def watch(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        options: WatchOptions = WatchOptions(),
    ) -> Watch:
        """Every change after the options' resourceVersion; an Expired one raises at once."""
        ...

    async def create(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        name: str = "",
        subresource: str = "",
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """A new object as it was stored; or an action on one (subresource binding, eviction)."""
        ...

    async def update(
        self,
        resource: Resource,
        obj: Mapping[str, Any],
        *,
        namespace: str | None = None,
        name: str = "",
        subresource: str = "",
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """The whole object anew; a resourceVersion in it makes it a compare-and-swap.

        Subresource status changes only the status, any other but status' owner only the rest.
        """
        ...

    async def patch(
        self,
        resource: Resource,
        body: Any,
        *,
        patch_type: PatchType,
        name: str,
        namespace: str | None = None,
        subresource: str = "",
        force: bool = False,
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """A change to an object; PatchType.APPLY makes the object if there is none."""
        ...

    async def delete(
        self,
        resource: Resource,
        *,
        name: str,
        namespace: str | None = None,
        options: DeleteOptions = DeleteOptions(),
        caller: Caller = ADMIN,
    ) -> JsonObject:
        """The end of one object; the object if it stays for its finalizers or its grace, else a
        Status of success."""
        ...

    async def delete_collection(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selection: ListOptions = ListOptions(),
        options: DeleteOptions = DeleteOptions(),
        caller: Caller = ADMIN,
    ) -> Sequence[JsonObject]:
        """The end of all that the selection chooses; the objects as they were."""
        ...

    def resource_of(self, api_version: str, kind: str) -> Resource | None:
        """Where a kind is served, custom ones too; None if it is not."""
        ...

    def resources(self) -> Sequence[Resource]:
        """Every kind that can be listed, once each (the preferred version of its group)."""
        ...
