"""Events for people, by events.k8s.io/v1: the first at once, repeats counted and written rarely."""

import asyncio
import heapq
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from lws.base.clock import Clock
from lws.base.times import format_micro_time
from lws.client import requests
from lws.client.errors import (
    AlreadyExists,
    ClientError,
    Forbidden,
    NotFound,
    Retryable,
)
from lws.client.requests import PatchType, Request
from lws.client.resources import EVENTS
from lws.runtime.backoff import Backoff
from lws.runtime.clock import Deadline
from lws.runtime.metrics import Metrics

log = structlog.get_logger(__name__)

SERIES_PATCH_SECONDS = 300.0  # a repeat is told at most so often
SERIES_FORGOTTEN_SECONDS = 360.0  # after so long without a repeat, it is another event
HOUSEKEEPING_SECONDS = 30.0
NOTES_MAX = 10  # of one kind
PENDING_MAX = 1000
SERIES_MAX = 10_000
ATTEMPTS_MAX = 5
RETRIES = Backoff(base=0.5, cap=10.0)
NOTE_BYTES_MAX = 1024  # the API server refuses a longer note,
WORD_CHARACTERS_MAX = 128  # a longer reason, action or reporting instance,
NAME_CHARACTERS_MAX = 253  # and a longer name


class Client(Protocol):
    """The part of the client that a recorder uses."""

    async def request_bytes(self, request: Request) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectReference:
    """What an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a person may want to know; `type` is Normal or Warning."""

    regarding: ObjectReference
    type: str
    reason: str
    action: str
    note: str
    notes_max: int = NOTES_MAX
    """So many of its kind tell their own note; the rest are counted in the last one."""
    fold_seconds: float = 0.0
    """How long the first waits, to be written together with its repeats."""


Kind = tuple[str, str, str, str]
"""What happens to whom; its notes tell one time from another."""
Identity = tuple[str, str, str, str, str]


def kind_of(event: Event) -> Kind:
    """Events that are equal in this differ in their notes alone."""
    return event.regarding.uid, event.type, event.reason, event.action


def identity_of(event: Event) -> Identity:
    """Events that are equal in this are one event that repeats."""
    return (*kind_of(event), event.note)


@dataclass(slots=True, kw_only=True, eq=False)
class _Series:
    """One event, and how often it has been seen and written."""

    event: Event
    first: float
    last: float
    last_monotonic: float
    written_monotonic: float
    name: str = ""
    count: int = 1
    written: int = 0
    attempts: int = 0
    is_pending: bool = False


class EventRecorder:
    """`emit` never waits and never fails; what cannot be written is dropped, and counted."""

    def __init__(
        self,
        *,
        client: Client,
        clock: Clock,
        component: str,
        instance: str,
        metrics: Metrics | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._instance = instance[:WORD_CHARACTERS_MAX]
        self._metrics = metrics or Metrics()
        self._series: dict[Identity, _Series] = {}
        self._notes: dict[Kind, list[str]] = {}  # of the series above, the latest last
        self._pending: deque[_Series] = deque()
        self._wake = asyncio.Event()
        self._held: list[tuple[float, int, _Series]] = []  # a heap, by when they are let go
        self._holding = asyncio.Event()
        self._last_stamp = 0

    def emit(self, event: Event) -> None:
        """Write it now, or count it if it is a repeat, or one of very many of its kind."""
        identity = self._identity(event)
        known = self._take(identity)
        now, monotonic = self._clock.now(), self._clock.monotonic()
        if known is not None and monotonic - known.last_monotonic < SERIES_FORGOTTEN_SECONDS:
            known.count += 1
            known.last, known.last_monotonic = now, monotonic
        else:
            known = _Series(
                event=event,
                first=now,
                last=now,
                last_monotonic=monotonic,
                written_monotonic=monotonic,
            )
            self._take_in(known)
        self._series[identity] = known  # at the end: the map is in the order of the last repeat
        self._notes.setdefault(identity[:4], []).append(identity[4])
        if len(self._series) > SERIES_MAX:
            self._take(next(iter(self._series)))

    def _identity(self, event: Event) -> Identity:
        """Its own, or that of the last of its kind where there are many already.

        A hundred groups that are made say what ten say; the note of each costs a write.
        """
        kind = kind_of(event)
        notes = self._notes.get(kind, [])
        is_one_of_many = len(notes) >= event.notes_max and event.note not in notes
        return (*kind, notes[-1] if is_one_of_many else event.note)

    def _take(self, identity: Identity) -> _Series | None:
        """Take a series out of those that are remembered."""
        series = self._series.pop(identity, None)
        if series is not None:
            notes = self._notes[identity[:4]]
            notes.remove(identity[4])
            if not notes:
                del self._notes[identity[:4]]
        return series

    async def run(self) -> None:
        """Write what is emitted, until cancelled; then `flush` writes the rest."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._write_all_forever())
            tasks.create_task(self._let_go_forever())
            tasks.create_task(self._keep_house())

    async def flush(self, *, seconds: float = 3.0) -> None:
        """Write what is not written yet, repeats too, in so many seconds at most."""
        for series in self._series.values():
            if series.written < series.count:
                self._enqueue(series)
        try:
            async with Deadline(self._clock, seconds):
                while self._pending:
                    await self._write_next()
        except TimeoutError:
            self._metrics.events_dropped.labels("shutdown").inc(len(self._pending))

    def _take_in(self, series: _Series) -> None:
        """A first one: now, or with those that follow within a while."""
        seconds = series.event.fold_seconds
        if not seconds or len(self._held) >= PENDING_MAX:
            self._enqueue(series)
            return
        heapq.heappush(self._held, (self._clock.monotonic() + seconds, id(series), series))
        self._holding.set()

    async def _let_go_forever(self) -> None:
        while True:
            await self._holding.wait()
            self._holding.clear()
            while self._held:
                await self._clock.sleep(max(0.0, self._held[0][0] - self._clock.monotonic()))
                _, _, series = heapq.heappop(self._held)
                if not series.written:
                    self._enqueue(series)

    def _enqueue(self, series: _Series) -> None:
        if series.is_pending:
            return
        series.is_pending = True
        self._pending.append(series)
        self._wake.set()
        if len(self._pending) > PENDING_MAX:
            self._give_up(self._pending.popleft(), "overflow")

    def _give_up(self, series: _Series, why: str) -> None:
        series.is_pending = False
        series.attempts = 0
        self._metrics.events_dropped.labels(why).inc()
        identity = identity_of(series.event)
        if not series.name and self._series.get(identity) is series:
            self._take(identity)  # never tried: the next one is a first one again

    async def _write_all_forever(self) -> None:
        while True:
            self._wake.clear()
            while self._pending:
                await self._write_next()
            await self._wake.wait()

    async def _keep_house(self) -> None:
        while True:
            await self._clock.sleep(HOUSEKEEPING_SECONDS)
            self._tend_series()

    def _tend_series(self) -> None:
        now = self._clock.monotonic()
        for identity, series in list(self._series.items()):
            has_news = series.count > series.written
            is_over = now - series.last_monotonic >= SERIES_FORGOTTEN_SECONDS
            if is_over:
                self._take(identity)
            if has_news and (is_over or now - series.written_monotonic >= SERIES_PATCH_SECONDS):
                self._enqueue(series)

    async def _write_next(self) -> None:
        """Write the oldest; if that fails for now, put it back and wait."""
        series = self._pending.popleft()
        try:
            await self._write(series)
        except Retryable as error:
            await self._try_later(series, error)
        except ClientError as error:
            log.debug("event dropped", reason=series.event.reason, error=str(error))
            self._give_up(series, _why(error))
        except asyncio.CancelledError:
            self._pending.appendleft(series)  # a second creation of its name does no harm
            raise
        else:
            series.is_pending = False

    async def _try_later(self, series: _Series, error: Retryable) -> None:
        series.attempts += 1
        if series.attempts >= ATTEMPTS_MAX:
            log.warning("event dropped", reason=series.event.reason, error=str(error))
            self._give_up(series, "failed")
            return
        self._pending.appendleft(series)
        delay = RETRIES.delay(series.attempts - 1, self._clock.random())
        await self._clock.sleep(max(delay, getattr(error, "retry_after", None) or 0.0))

    async def _write(self, series: _Series) -> None:
        count = series.count
        if series.written:
            try:
                await self._client.request_bytes(self._patch(series))
            except NotFound:  # events live for an hour
                series.written, series.name = 0, ""
        if not series.written:
            series.name = series.name or self._new_name(series.event)
            try:
                await self._client.request_bytes(self._create(series))
            except AlreadyExists:
                log.debug("event was written after all", name=series.name)
        series.written = count
        series.attempts = 0
        series.written_monotonic = self._clock.monotonic()
        self._metrics.events_written.inc()

    def _new_name(self, event: Event) -> str:
        """The object's name and a moment that no other event of ours has."""
        self._last_stamp = max(self._last_stamp + 1, int(self._clock.now() * 1e9))
        suffix = f".{self._last_stamp:x}"
        return event.regarding.name[: NAME_CHARACTERS_MAX - len(suffix)] + suffix

    def _create(self, series: _Series) -> Request:
        event = series.event
        namespace = _namespace(event)
        body: dict[str, Any] = {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": series.name, "namespace": namespace},
            "eventTime": format_micro_time(series.first),
            "reportingController": self._component,
            "reportingInstance": self._instance,
            "type": event.type,
            "reason": event.reason[:WORD_CHARACTERS_MAX],
            "action": event.action[:WORD_CHARACTERS_MAX],
            "note": cut_note(event.note),
            "regarding": _reference(event.regarding),
        }
        if series.count > 1:
            body["series"] = _series(series)
        return requests.create(EVENTS, namespace=namespace, body=body)

    def _patch(self, series: _Series) -> Request:
        return requests.patch(
            EVENTS,
            namespace=_namespace(series.event),
            name=series.name,
            body={"series": _series(series)},
            patch_type=PatchType.MERGE,
        )


def _why(error: ClientError) -> str:
    if isinstance(error, Forbidden) and error.is_namespace_terminating:
        return "namespace terminating"
    return "refused"


def _namespace(event: Event) -> str:
    """Events about what has no namespace stand in `default`."""
    return event.regarding.namespace or "default"


def _series(series: _Series) -> dict[str, Any]:
    return {"count": series.count, "lastObservedTime": format_micro_time(series.last)}


def _reference(reference: ObjectReference) -> dict[str, str]:
    fields = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "namespace": reference.namespace,
        "name": reference.name,
        "uid": reference.uid,
        "resourceVersion": reference.resource_version,
    }
    return {name: value for name, value in fields.items() if value}


def cut_note(note: str) -> str:
    """At most 1024 bytes, whole characters, the cut visible."""
    whole = note.encode("utf-8", errors="replace")
    if len(whole) <= NOTE_BYTES_MAX:
        return whole.decode("utf-8")
    mark = "…"
    room = NOTE_BYTES_MAX - len(mark.encode())
    return whole[:room].decode("utf-8", errors="ignore") + mark
