"""Events, as the components of a cluster write them: the same again raises a count.

They are written one after another beside all other work; what cannot be written is dropped.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from lws.base.clock import Clock
from lws.base.times import format_time
from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.objects import name_of, namespace_of, uid_of, version_of
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, JsonObject, Verbs

EVENTS = Resource("", "v1", "events", "Event")
_REMEMBERED = 4096
_MESSAGE_MAX = 1024


@dataclass(frozen=True, slots=True)
class Source:
    """Who says so."""

    component: str
    host: str = ""

    @property
    def caller(self) -> Caller:
        """The same as a caller of the API."""
        return Caller(user=f"system:{self.component}", field_manager=self.component)


@dataclass(frozen=True, slots=True)
class _Said:
    """What makes two events the same."""

    source: Source
    kind: str
    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    type: str


class Recorder:
    """Writes events while `run` runs; a recorder that is off writes none."""

    def __init__(self, api: Verbs, clock: Clock, *, is_on: bool = True) -> None:
        self._api = api
        self._clock = clock
        self._is_on = is_on
        self._queue: asyncio.Queue[tuple[_Said, JsonObject]] = asyncio.Queue()
        self._known: OrderedDict[_Said, tuple[str, int]] = OrderedDict()
        self._number = 0

    def normal(self, source: Source, obj: JsonObject, reason: str, message: str) -> None:
        """Something went as it should."""
        self._say(source, obj, reason, message, "Normal")

    def warning(self, source: Source, obj: JsonObject, reason: str, message: str) -> None:
        """Something did not."""
        self._say(source, obj, reason, message, "Warning")

    async def run(self) -> None:
        """For ever."""
        while True:
            said, involved = await self._queue.get()
            try:
                await self._write(said, involved)
            except ApiStatus:
                self._known.pop(said, None)  # a namespace that goes takes no events

    def _say(self, source: Source, obj: JsonObject, reason: str, message: str, kind: str) -> None:
        if not self._is_on:
            return
        said = _Said(
            source,
            obj["kind"],
            namespace_of(obj),
            name_of(obj),
            uid_of(obj),
            reason,
            message[:_MESSAGE_MAX],
            kind,
        )
        self._queue.put_nowait((said, _involved(obj)))

    async def _write(self, said: _Said, involved: JsonObject) -> None:
        name, count = self._known.pop(said, ("", 0))
        namespace = said.namespace or "default"
        if not name or not await self._repeated(said, namespace, name, count + 1):
            name, count = self._new_name(said), 0
            event = self._event(said, involved, name)
            await self._api.create(EVENTS, event, namespace=namespace, caller=said.source.caller)
        self._known[said] = (name, count + 1)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    async def _repeated(self, said: _Said, namespace: str, name: str, count: int) -> bool:
        """Raise the count; False if the event has gone meanwhile."""
        change = {"count": count, "lastTimestamp": format_time(self._clock.now())}
        with may_be_gone():
            await self._api.patch(
                EVENTS,
                change,
                patch_type=PatchType.STRATEGIC,
                name=name,
                namespace=namespace,
                caller=said.source.caller,
            )
            return True
        return False

    def _new_name(self, said: _Said) -> str:
        self._number += 1
        stamp = int(self._clock.now() * 1e6) * 1000 + self._number % 1000
        return f"{said.name}.{stamp:x}"

    def _event(self, said: _Said, involved: JsonObject, name: str) -> JsonObject:
        now = format_time(self._clock.now())
        source = {"component": said.source.component}
        if said.source.host:
            source["host"] = said.source.host
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": involved.get("namespace") or "default"},
            "involvedObject": dict(involved),
            "reason": said.reason,
            "message": said.message,
            "type": said.type,
            "source": source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "reportingComponent": said.source.component,
            "reportingInstance": said.source.host,
        }


def _involved(obj: JsonObject) -> JsonObject:
    reference: Mapping[str, str] = {
        "kind": obj["kind"],
        "namespace": namespace_of(obj),
        "name": name_of(obj),
        "uid": uid_of(obj),
        "apiVersion": obj["apiVersion"],
        "resourceVersion": str(version_of(obj)),
    }
    return {key: value for key, value in reference.items() if value}
