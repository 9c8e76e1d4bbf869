"""An API server of one kind, in memory: lists by page, watches, and fails when told to."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from lws.api.meta import ObjectMeta, Struct
from lws.client.errors import Expired, TransportError
from lws.client.requests import Request
from lws.client.resources import Resource

THINGS = Resource("test.example", "v1", "things", "Thing")
NAMESPACE = "default"

Object = dict[str, Any]


class Thing(Struct, frozen=True, kw_only=True):
    """What the informer under test decodes."""

    metadata: ObjectMeta
    value: int = 0


decode_thing = msgspec.json.Decoder(Thing).decode


class FakeApi:
    """Every write has a revision; watchers get it at once, unless it is mute."""

    def __init__(self, *, revision: int = 100) -> None:
        self.revision = revision
        self.compacted = 0  # a watch from before this is expired
        self.objects: dict[str, Object] = {}
        self.requests: list[Request] = []
        self.failures: deque[BaseException | None] = deque()  # None: the next request succeeds
        self.hold: asyncio.Event | None = None  # lists wait for it
        self.ends_initial_events = True  # a list that streams is whole at once
        self.is_mute = False  # watchers hear nothing of what happens
        self._history: list[tuple[int, str, Object]] = []
        self._streams: list[asyncio.Queue[bytes | BaseException | None]] = []
        self._uids = 0
        self._pages: dict[str, tuple[int, list[Object]]] = {}

    @property
    def open_watches(self) -> int:
        return len(self._streams)

    def verbs(self) -> list[str]:
        return [request.verb for request in self.requests]

    def put(self, name: str, value: object = 0) -> Object:
        """Create or change; what it then is."""
        old = self.objects.get(name)
        self.revision += 1
        if old is None:
            self._uids += 1
        uid = old["metadata"]["uid"] if old else f"uid-{self._uids}"
        new = {
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "uid": uid,
                "resourceVersion": str(self.revision),
            },
            "value": value,
        }
        self.objects[name] = new
        self._record("MODIFIED" if old else "ADDED", new)
        return new

    def delete(self, name: str) -> None:
        old = self.objects.pop(name)
        self.revision += 1
        metadata = {**old["metadata"], "resourceVersion": str(self.revision)}
        self._record("DELETED", {**old, "metadata": metadata})

    def replace_quietly(self, name: str, value: object = 0) -> None:
        """Another life of the name, of which a watcher sees only one MODIFIED."""
        self.revision += 1
        self._uids += 1
        metadata = {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{self._uids}",
            "resourceVersion": str(self.revision),
        }
        self.objects[name] = {"metadata": metadata, "value": value}
        self._record("MODIFIED", self.objects[name])

    def compact(self) -> None:
        """Forget all history up to now."""
        self.compacted = self.revision
        self._history.clear()
        self._pages.clear()

    def cut(self, ending: BaseException | None = None) -> None:
        """End all watches: cleanly, or by an error."""
        for stream in self._streams:
            stream.put_nowait(ending)
        self._streams.clear()

    def send(self, kind: str, item: object) -> None:
        """Any event to all watchers."""
        self.send_line(line_of(kind, item))

    def send_line(self, line: bytes) -> None:
        for stream in self._streams:
            stream.put_nowait(line)

    def send_bookmark(self, *, ends_initial_events: bool = False) -> None:
        self.send("BOOKMARK", self._bookmark(ends_initial_events))

    def send_error(self, code: int, reason: str) -> None:
        """An ERROR event; after it the server ends the stream."""
        self.send("ERROR", {"kind": "Status", "code": code, "reason": reason, "message": reason})
        self.cut()

    def repeat_history(self, since: int, until: int | None = None) -> None:
        """Send again what watchers have had already, all of it or some."""
        for revision, kind, item in self._history:
            if revision > since and (until is None or revision <= until):
                self.send(kind, item)

    async def request_bytes(self, request: Request) -> bytes:
        self._begin(request)
        if self.hold is not None:
            await self.hold.wait()
        await asyncio.sleep(0)
        query = dict(request.query)
        limit = int(query.get("limit", 0))
        token = query.get("continue")
        if token is None:
            revision, rest = self.revision, list(self.objects.values())
        elif token in self._pages:
            revision, rest = self._pages[token]
        else:
            raise Expired("the continue token is too old", reason="Expired")
        page, rest = (rest[:limit], rest[limit:]) if limit else (rest, [])
        metadata = {"resourceVersion": str(revision)}
        if rest:
            metadata["continue"] = f"token-{len(self._pages)}-{revision}"
            self._pages[metadata["continue"]] = (revision, rest)
        return msgspec.json.encode({"metadata": metadata, "items": page})

    @asynccontextmanager
    async def watch_lines(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        self._begin(request)
        await asyncio.sleep(0)
        query = dict(request.query)
        stream: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        if query.get("sendInitialEvents") == "true":
            self._send_initial(stream)
        else:
            since = int(query["resourceVersion"])
            if since < self.compacted:
                raise Expired("too old resource version", reason="Expired")
            for revision, kind, item in self._history:
                if revision > since:
                    stream.put_nowait(line_of(kind, item))
        self._streams.append(stream)
        try:
            yield _lines(stream)
        finally:
            if stream in self._streams:
                self._streams.remove(stream)

    def _send_initial(self, stream: asyncio.Queue[bytes | BaseException | None]) -> None:
        for item in self.objects.values():
            stream.put_nowait(line_of("ADDED", item))
        if self.ends_initial_events:
            stream.put_nowait(line_of("BOOKMARK", self._bookmark(True)))

    def _bookmark(self, ends_initial_events: bool) -> Object:
        annotations = {"k8s.io/initial-events-end": "true"} if ends_initial_events else {}
        return {"metadata": {"resourceVersion": str(self.revision), "annotations": annotations}}

    def _begin(self, request: Request) -> None:
        self.requests.append(request)
        failure = self.failures.popleft() if self.failures else None
        if failure is not None:
            raise failure

    def _record(self, kind: str, item: Object) -> None:
        self._history.append((self.revision, kind, item))
        if not self.is_mute:
            self.send(kind, item)


def line_of(kind: str, item: object) -> bytes:
    return msgspec.json.encode({"type": kind, "object": item})


async def _lines(
    stream: asyncio.Queue[bytes | BaseException | None],
) -> AsyncIterator[bytes]:
    while (item := await stream.get()) is not None:
        if isinstance(item, BaseException):
            raise item
        yield item


def reset() -> TransportError:
    return TransportError("connection reset")
