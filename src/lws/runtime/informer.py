"""One kind of object, listed and watched: a store that follows the API server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol

import msgspec
import structlog

from lws.base.clock import Clock
from lws.client import requests
from lws.client.errors import (
    ApiError,
    ClientError,
    Expired,
    MalformedAnswer,
    Retryable,
    SilentStream,
    TransportError,
)
from lws.client.requests import Request
from lws.client.resources import Resource
from lws.client.watch import EventType, WatchEvent, decode_event, error_of_event
from lws.runtime.backoff import Backoff
from lws.runtime.clock import Deadline
from lws.runtime.metrics import Metrics
from lws.runtime.reflection import Change, Identity, Reflection
from lws.runtime.store import Key, Store, T, key_of

log = structlog.get_logger(__name__)

IDLE_SECONDS = 180.0  # bookmarks come every minute; the first of a quiet kind may take two
WATCH_SECONDS = (1800.0, 3600.0)  # drawn by chance, so that not all watches end together
RETRIES = Backoff(base=0.2, cap=30.0)
HEALTHY_SECONDS = 5.0  # a watch that was open so long did not fail, whatever cut it in the end
REFUSALS_MAX = 5  # so many in a row of one version, and the version is given up
OPAQUE_MAX = 10_000  # versions that are no numbers, kept to recognise our own writes


class Client(Protocol):
    """The part of the client that an informer uses."""

    async def request_bytes(self, request: Request) -> bytes: ...

    def watch_lines(
        self, request: Request
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]: ...


Decode = Callable[[bytes | msgspec.Raw], T]
Handler = Callable[[Change[T]], None]


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_token: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _BookmarkMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] = {}


class _Bookmark(msgspec.Struct):
    metadata: _BookmarkMeta

    @property
    def ends_initial_events(self) -> bool:
        return self.metadata.annotations.get("k8s.io/initial-events-end") == "true"


class _Partial(msgspec.Struct):
    metadata: Identity = Identity()


_decode_list = msgspec.json.Decoder(_List).decode
_decode_bookmark = msgspec.json.Decoder(_Bookmark).decode
_decode_partial = msgspec.json.Decoder(_Partial).decode


class Informer(Generic[T]):
    """Lists once, then watches; lists again only when the server has forgotten where we were.

    Lists ask for the latest state (no resourceVersion): a server's own cache may lie behind what
    this process or the leader before it has seen already, and since Kubernetes 1.31 the latest
    state costs the same. An object that cannot be read is left out, and dropped if it was there.
    """

    def __init__(
        self,
        *,
        client: Client,
        resource: Resource,
        decode: Decode[T],
        clock: Clock,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        page_size: int = requests.PAGE_SIZE,
        streams_list: bool = False,
        on_malformed: Callable[[Identity, Exception], None] | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.store: Store[T] = Store()
        self.resource = resource
        self.last_seen = 0
        self._client = client
        self._decode = decode
        self._clock = clock
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._page_size = page_size
        self._streams_list = streams_list
        self._on_malformed = on_malformed
        self._handlers: list[Handler[T]] = []
        self._reflection = Reflection(self.store, publish=self._publish, refuse=self._refuse)
        self._synced = asyncio.Event()
        self._resume = ""  # the version to watch from; empty: list first
        self._opaque: dict[str, None] = {}
        self._failures = 0
        self._refusals = 0
        self._last_word = clock.monotonic()
        self._metrics = (metrics or Metrics()).informer(resource.plural)
        self._metrics.objects.set_function(lambda: float(len(self.store)))
        self._metrics.lag.set_function(lambda: clock.monotonic() - self._last_word)
        self._log = log.bind(resource=resource.plural)

    def add_handler(self, handler: Handler[T]) -> None:
        """Call it with every change, after the store shows it; objects that are there come first,
        as additions. Its failures are logged, and stop nothing."""
        self._handlers.append(handler)
        self.replay(handler)

    def replay(self, handler: Handler[T]) -> None:
        """Call it with every object that is there, as an addition; its failures are logged, and
        stop nothing."""
        for thing in list(self.store.values()):
            self._call(handler, Change(None, thing))

    @property
    def is_synced(self) -> bool:
        """Has the store ever been whole?"""
        return self._synced.is_set()

    async def synced(self) -> None:
        """Wait until the store is whole for the first time."""
        await self._synced.wait()

    def has_seen(self, resource_version: str) -> bool:
        """Does the store reflect that version of the resource?"""
        if resource_version.isdecimal():
            return self.last_seen >= int(resource_version)
        return resource_version in self._opaque

    async def run(self) -> None:
        """Follow the server until cancelled; whatever the server does, try again."""
        while True:
            wait = 0.0
            try:
                await self._follow()
            except Expired:
                self._log.debug("watch expired, listing again")
                self._resume = ""
            except (ClientError, TimeoutError) as error:
                wait = self._note(error)
            delay = RETRIES.delay(self._failures, self._clock.random())
            self._failures += 1
            await self._clock.sleep(max(delay, wait))

    async def _follow(self) -> None:
        """One list if needed, then one watch, to its end."""
        if not self._resume and self._streams_list:
            await self._watch(initial={})
            return
        if not self._resume:
            await self._list()
        await self._watch()

    def _note(self, error: ClientError | TimeoutError) -> float:
        """Draw the conclusions from a failure; how long the server wants us to wait."""
        if isinstance(error, SilentStream | TimeoutError):
            self._log.debug("watch fell silent", error=str(error))
        else:
            self._log.warning("list or watch failed", error=str(error), attempt=self._failures + 1)
        if not isinstance(error, Retryable | TimeoutError) or isinstance(error, MalformedAnswer):
            self._refusals += 1
        if self._refusals >= REFUSALS_MAX or _is_from_the_future(error):
            self._refusals = 0
            self._resume = ""  # this version will never be served: after a restore, for one
        return (isinstance(error, ApiError) and error.retry_after) or 0.0

    async def _list(self) -> None:
        things, version = await self._read_all()
        self._accept(things, version)

    def _accept(self, things: dict[Key, T], version: str) -> None:
        """These are all objects, as of this version. That is no success yet: where no watch from
        there comes to be, the next list waits for longer."""
        self._metrics.lists.inc()
        self._reflection.reset(things)
        for thing in things.values():
            if not thing.metadata.resource_version.isdecimal():
                self._recognise(thing.metadata.resource_version)
        failures = self._failures
        self._saw(version)
        self._failures = failures
        self._synced.set()

    async def _read_all(self) -> tuple[dict[Key, T], str]:
        """All objects, page by page; in one piece if the pages expire while we turn them."""
        try:
            return await self._read_pages(self._page_size)
        except Expired:
            return await self._read_pages(None)

    async def _read_pages(self, limit: int | None) -> tuple[dict[Key, T], str]:
        things: dict[Key, T] = {}
        token: str | None = None
        while True:
            page = await self._read_page(limit, token)
            for raw in page.items or ():
                thing = self._decoded(raw)
                if thing is not None:
                    things[key_of(thing)] = thing
            if not page.metadata.continue_token:
                return things, page.metadata.resource_version
            token = page.metadata.continue_token

    async def _read_page(self, limit: int | None, token: str | None) -> _List:
        request = requests.list_page(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            limit=limit,
            continue_token=token,
        )
        body = await self._client.request_bytes(request)
        self._last_word = self._clock.monotonic()
        try:
            return _decode_list(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswer(f"not a list ({error}): {body[:200]!r}") from error

    async def _watch(self, initial: dict[Key, T] | None = None) -> None:
        """One watch to its end; with `initial`, the server sends what is there first."""
        self._metrics.watches.inc()
        streams = initial is not None
        if streams:
            self._streams_list = False  # until it has worked, the next attempt is by pages
        request = self._watch_request(streams)
        async with (
            Deadline(self._clock, IDLE_SECONDS) as idle,
            self._client.watch_lines(request) as lines,
        ):
            opened = self._clock.monotonic()
            try:
                async for line in lines:
                    idle.extend(IDLE_SECONDS)
                    self._last_word = self._clock.monotonic()
                    event = decode_event(line)
                    if initial is not None:
                        initial = self._gather(event, initial)
                    else:
                        self._handle(event)
            finally:
                if self._clock.monotonic() - opened >= HEALTHY_SECONDS:
                    self._failures = 0
        if initial is not None:
            raise TransportError("the watch ended before it had sent what there is")

    def _watch_request(self, streams: bool) -> Request:
        shortest, longest = WATCH_SECONDS
        return requests.watch(
            self.resource,
            namespace=self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=self._resume,
            timeout_seconds=int(shortest + (longest - shortest) * self._clock.random()),
            send_initial_events=streams,
        )

    def _gather(self, event: WatchEvent, things: dict[Key, T]) -> dict[Key, T] | None:
        """An event before the list is whole; None once it is. These come in no order of versions,
        so none of them says how far we have seen."""
        if event.type is EventType.ERROR:
            raise error_of_event(event)
        if event.type is EventType.BOOKMARK:
            bookmark = self._bookmark(event.object_bytes)
            if not bookmark.ends_initial_events:
                return things
            self._accept(things, bookmark.metadata.resource_version)
            self._streams_list = True
            return None
        thing = self._decoded(event.object_bytes)
        if thing is not None and event.type is EventType.DELETED:
            things.pop(key_of(thing), None)
        elif thing is not None:
            things[key_of(thing)] = thing
        return things

    def _handle(self, event: WatchEvent) -> None:
        if event.type is EventType.BOOKMARK:
            version = self._bookmark(event.object_bytes).metadata.resource_version
            if not self._is_past(version):
                self._saw(version)
            return
        if event.type is EventType.ERROR:
            raise error_of_event(event)
        self._metrics.events.inc()
        thing = self._decoded(event.object_bytes)
        if thing is None:
            identity = _identity_of(event.object_bytes)
            if not self._is_past(identity.resource_version):
                self._reflection.drop((identity.namespace, identity.name))
                self._saw(identity.resource_version)
            return
        version = thing.metadata.resource_version
        if event.type is EventType.DELETED:
            self._reflection.absent(thing)
        elif not self._is_past(version):  # else it would bring back what was deleted since
            self._reflection.present(thing)
        if not self._is_past(version):
            self._saw(version)

    def _bookmark(self, raw: msgspec.Raw) -> _Bookmark:
        try:
            return _decode_bookmark(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswer(f"not a bookmark ({error})") from error

    def _is_past(self, version: str) -> bool:
        """Is that older than where the watch is now? Servers send each event once, proxies may
        not. (Not by `last_seen`: after a restore from a backup, versions are used again.)"""
        if not version.isdecimal() or not self._resume.isdecimal():
            return False
        return int(version) < int(self._resume)

    def _saw(self, version: str) -> None:
        """The store reflects everything up to this version."""
        if not version:
            return
        self._resume = version
        self._failures = self._refusals = 0
        if version.isdecimal():
            self.last_seen = max(self.last_seen, int(version))
        else:
            self._recognise(version)

    def _recognise(self, version: str) -> None:
        self._opaque[version] = None
        if len(self._opaque) > OPAQUE_MAX:
            del self._opaque[next(iter(self._opaque))]

    def _decoded(self, raw: msgspec.Raw) -> T | None:
        try:
            return self._decode(raw)
        except Exception as error:  # noqa: BLE001 - a malformed object never stops the others
            self._refuse(_identity_of(raw), error)
            return None

    def _refuse(self, identity: Identity, error: Exception) -> None:
        self._metrics.malformed.inc()
        self._log.error(
            "object cannot be read, left out",
            namespace=identity.namespace,
            name=identity.name,
            error=str(error),
        )
        if self._on_malformed is None:
            return
        try:
            self._on_malformed(identity, error)
        except Exception:  # noqa: BLE001 - as of any handler
            self._log.exception("handler of malformed objects failed")

    def _publish(self, change: Change[T]) -> None:
        for handler in self._handlers:
            self._call(handler, change)

    def _call(self, handler: Handler[T], change: Change[T]) -> None:
        try:
            handler(change)
        except Exception:  # noqa: BLE001 - one handler's mistake is not the cache's
            self._metrics.handler_errors.inc()
            metadata = change.latest.metadata
            self._log.exception("handler failed", namespace=metadata.namespace, name=metadata.name)


def _identity_of(raw: msgspec.Raw) -> Identity:
    """Who an unreadable object is, as far as even that can be read."""
    try:
        return _decode_partial(raw).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Identity()


def _is_from_the_future(error: Exception) -> bool:
    """Does the server say that it has never reached the version we ask for?"""
    if not isinstance(error, ApiError):
        return False
    reasons = {cause.reason for cause in error.causes}
    return "ResourceVersionTooLarge" in reasons or "Too large resource version" in error.message
