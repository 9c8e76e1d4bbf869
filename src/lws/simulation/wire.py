"""The way from one process to the API server, with all that happens on it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from lws.base.clock import Clock
from lws.client.errors import TransportError
from lws.client.requests import Request
from lws.client.responses import Response, error_of
from lws.sandbox.transport import LocalTransport
from lws.simulation.acts import Act
from lws.simulation.chance import Chance
from lws.simulation.lives import Life, apart
from lws.simulation.streams import Stream, open_stream
from lws.simulation.weather import Fate, Weather

TIMEOUT_SECONDS = 60.0
LATE_SECONDS = 30.0
PASS_SECONDS = 6.0
"""How old a decision may be by the work on it alone."""
REMEMBERED_SECONDS = 20.0


class Watcher(Protocol):
    """Sees what is sent, at the moment of its sending."""

    def on_send(self, act: Act) -> None: ...

    def on_answer(self, act: Act, response: Response) -> None: ...


@dataclass(slots=True, kw_only=True)
class Surroundings:
    """What all machines share, and what changes with the weather."""

    clock: Clock
    chance: Chance
    weather: Weather
    watcher: Watcher
    crash: Callable[[Life], Coroutine[Any, Any, None]]
    cut_off: set[str] = field(default_factory=set)
    """Machines that reach nothing."""


class Wire:
    """A `Transport` of one life."""

    def __init__(self, life: Life, local: LocalTransport, around: Surroundings) -> None:
        self._life = life
        self._local = local
        self._around = around
        self._streams: dict[str, Stream] = {}
        self._blind: list[tuple[float, float]] = []

    # Requests

    async def send(self, request: Request) -> Response:
        """The whole answer; TransportError if none came."""
        await self._life.gate()
        around = self._around
        weather = around.weather
        fate = weather.fate(request, around.chance)
        is_late = fate is Fate.LATE
        act = self._act(request, is_late=is_late)
        if request.method != "GET":
            around.watcher.on_send(act)
        await around.clock.sleep(weather.seconds_on_the_way(around.chance))
        if self._is_cut_off:
            fate = Fate.NEVER_SENT
        answer = await self._met(fate, act)
        await around.clock.sleep(weather.seconds_on_the_way(around.chance))
        await self._life.gate()
        return answer

    async def _met(self, fate: Fate, act: Act) -> Response:
        request, clock, chance = act.request, self._around.clock, self._around.chance
        limit = request.timeout_seconds or TIMEOUT_SECONDS
        match fate:
            case Fate.NEVER_SENT:
                await clock.sleep(min(limit, chance.between(0.0, 3.0)))
                raise await self._lost(f"{request}: no connection", was_sent=False)
            case Fate.HANGS:
                await clock.sleep(limit)
                raise await self._lost(f"{request}: no answer in time")
            case Fate.LATE:
                apart(self._deliver(act, after=chance.between(0.0, LATE_SECONDS)), act)
                await clock.sleep(min(limit, chance.between(0.0, 5.0)))
                raise await self._lost(f"{request}: no answer in time")
            case Fate.SHED | Fate.BROKEN | Fate.CONFLICT:
                return _refusal(fate, chance)
            case Fate.CRASH_BEFORE:
                await self._die()
        answer: Response = await asyncio.shield(apart(self._deliver(act), act))
        if fate is Fate.CRASH_AFTER:
            await self._die()
        if fate is Fate.ANSWER_LOST:
            raise await self._lost(f"{request}: connection reset")
        return answer

    async def _lost(self, message: str, *, was_sent: bool = True) -> TransportError:
        await self._life.gate()
        return TransportError(message, was_sent=was_sent)

    async def _die(self) -> None:
        apart(self._around.crash(self._life))
        await asyncio.get_running_loop().create_future()

    async def _deliver(self, act: Act, *, after: float = 0.0) -> Response:
        if after:
            await self._around.clock.sleep(after)
        answer = await self._local.send(act.request)
        if act.request.method != "GET":
            self._around.watcher.on_answer(act, answer)
        return answer

    def _act(self, request: Request, *, is_late: bool) -> Act:
        now = self._around.clock.monotonic()
        return Act(self._life.name, request, now, self.blind_seconds() + PASS_SECONDS, is_late)

    @property
    def _is_cut_off(self) -> bool:
        return self._life.name.partition("/")[0] in self._around.cut_off

    # Watches

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The body as it comes; the errors of `Transport.stream`."""
        await self._life.gate()
        around = self._around
        await around.clock.sleep(around.weather.seconds_on_the_way(around.chance))
        fate = around.weather.fate(request, around.chance)
        if self._is_cut_off or fate in (Fate.NEVER_SENT, Fate.ANSWER_LOST, Fate.LATE, Fate.HANGS):
            await around.clock.sleep(around.chance.between(0.0, 3.0))
            raise await self._lost(f"{request}: no connection", was_sent=False)
        if fate in (Fate.SHED, Fate.BROKEN):
            raise error_of(_refusal(fate, around.chance), request)
        stream = await open_stream(
            self._local, request, clock=around.clock, chance=around.chance, weather=around.weather
        )
        self._streams[request.path] = stream
        try:
            yield stream.lines(self._life, is_cut=lambda: self._is_cut_off)
        finally:
            stream.close()
            if self._streams.get(request.path) is stream:
                self._note_blindness(stream.closed_blind_seconds())

    def blind_seconds(self) -> float:
        """How old the oldest news is that this life does not know yet, now or lately."""
        now = self._around.clock.monotonic()
        seconds = max((one.blind_seconds() for one in self._streams.values()), default=0.0)
        self._note_blindness(seconds)
        self._blind = [one for one in self._blind if now - one[0] <= REMEMBERED_SECONDS]
        # What was so old then has had time to be acted upon since.
        return max((now - then + was for then, was in self._blind if was > 0), default=0.0)

    def _note_blindness(self, seconds: float) -> None:
        if seconds > 0:
            self._blind.append((self._around.clock.monotonic(), seconds))


def _refusal(fate: Fate, chance: Chance) -> Response:
    headers: dict[str, str] = {}
    if fate is Fate.SHED:
        code, reason = 429, "TooManyRequests"
        headers["retry-after"] = str(chance.integer(1, 3))
    elif fate is Fate.CONFLICT:
        code, reason = 409, "Conflict"
    else:
        code, reason = chance.one_of(_BROKEN)
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": f"simulated {reason}",
        "reason": reason,
        "code": code,
    }
    return Response(code, headers, orjson.dumps(body))


_BROKEN = (
    (500, "InternalError"),
    (502, ""),
    (503, "ServiceUnavailable"),
    (504, "Timeout"),
)
