"""Watch: the changes of a kind as one client is to see them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from lws.sandbox.server import status
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.reads import Selection, list_objects, parse_version, selection_of
from lws.sandbox.server.verbs import EventType, ListOptions, WatchEvent, WatchOptions
from lws.sandbox.store import Change, ChangeType, Compacted

JsonObject = dict[str, Any]

BOOKMARK_SECONDS = 60.0
_INITIAL_END = "k8s.io/initial-events-end"


class StoreWatch:
    """One watch. Begins where it was made, not where it is first read."""

    def __init__(
        self, world: World, kind: Kind, namespace: str | None, options: WatchOptions
    ) -> None:
        self._world = world
        self._kind = kind
        self._namespace = namespace
        self._options = options
        self._selection = selection_of(kind, options.label_selector, options.field_selector)
        self._initial: list[JsonObject] = []
        revision = self._begin()
        try:
            self._cursor = world.store.cursor(kind.storage, revision)
        except Compacted as error:
            raise status.too_old(error.asked, error.oldest + 1) from None
        self._start_revision = revision
        self._news = asyncio.Event()
        self._unsubscribe: Callable[[], None] = self._cursor.subscribe(self._news.set)
        self._timers: list[asyncio.Task[None]] = []
        self._is_over = False
        self._is_bookmark_due = False

    async def __aenter__(self) -> Self:
        """Start the clocks of the timeout and the bookmarks."""
        loop = asyncio.get_running_loop()
        if self._options.timeout_seconds is not None:
            self._timers.append(loop.create_task(self._end(self._options.timeout_seconds)))
        if self._options.allow_bookmarks:
            self._timers.append(loop.create_task(self._remind()))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Forget it."""
        self._unsubscribe()
        for timer in self._timers:
            timer.cancel()
        await asyncio.gather(*self._timers, return_exceptions=True)

    def stop(self) -> None:
        """Ends after what has already happened."""
        self._is_over = True
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        """The events."""
        for obj in self._initial:
            yield WatchEvent(EventType.ADDED, obj)
        self._initial = []
        if self._options.send_initial_events and self._options.allow_bookmarks:
            yield self._bookmark(self._start_revision, is_initial_end=True)
        while True:
            try:
                changes = self._cursor.take()
            except Compacted as error:
                gone = status.too_old(self._start_revision, error.oldest + 1)
                yield WatchEvent(EventType.ERROR, gone.to_json())
                return
            for event in self._events(changes):
                yield event
            if changes:
                continue
            if self._is_over:
                return
            if self._is_bookmark_due:
                self._is_bookmark_due = False
                yield self._bookmark(self._world.store.revision)
            self._news.clear()
            await self._news.wait()

    def _begin(self) -> int:
        """The revision to start after; gathers the present objects, if they are to come first."""
        options = self._options
        version = options.resource_version
        has_initial = options.send_initial_events
        if has_initial is None:
            has_initial = version in ("", "0")
        if version not in ("", "0"):
            number = parse_version(version)
            if not has_initial:
                return number
            if number > self._world.store.revision:
                raise status.too_large_version(number, self._world.store.revision)
        if has_initial:
            chosen = ListOptions(
                label_selector=options.label_selector, field_selector=options.field_selector
            )
            listing = list_objects(self._world, self._kind, self._namespace, chosen)
            self._initial = list(listing.items)
        return self._world.store.revision

    def _events(self, changes: Iterable[Change]) -> Iterator[WatchEvent]:
        for change in changes:
            if self._namespace is not None and change.key.namespace != self._namespace:
                continue
            event = self._event(change)
            if event is not None:
                yield event

    def _event(self, change: Change) -> WatchEvent | None:
        obj = from_stored(self._kind, change.object)
        if self._selection.is_all:
            return WatchEvent(EventType(change.type.value), obj)
        return self._selected(self._selection, change, obj)

    def _selected(self, selection: Selection, change: Change, obj: JsonObject) -> WatchEvent | None:
        """What comes into the selection is added, what leaves it deleted."""
        was_in = change.old is not None and selection.includes(from_stored(self._kind, change.old))
        is_in = change.type is not ChangeType.DELETED and selection.includes(obj)
        if is_in:
            return WatchEvent(EventType.MODIFIED if was_in else EventType.ADDED, obj)
        if not was_in or change.old is None:
            return None
        last = from_stored(self._kind, change.old)
        metadata = {**last["metadata"], "resourceVersion": str(change.revision)}
        return WatchEvent(EventType.DELETED, {**last, "metadata": metadata})

    def _bookmark(self, revision: int, *, is_initial_end: bool = False) -> WatchEvent:
        metadata: JsonObject = {"resourceVersion": str(revision)}
        if is_initial_end:
            metadata["annotations"] = {_INITIAL_END: "true"}
        resource = self._kind.resource
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return WatchEvent(EventType.BOOKMARK, obj)

    async def _end(self, seconds: float) -> None:
        await self._world.clock.sleep(seconds)
        self.stop()

    async def _remind(self) -> None:
        while True:
            await self._world.clock.sleep(BOOKMARK_SECONDS)
            self._is_bookmark_due = True
            self._news.set()
