"""A watch that lags, and is cut before its time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

import orjson

from lws.base.clock import Clock
from lws.client.errors import TransportError
from lws.client.requests import Request
from lws.sandbox.transport import LocalTransport
from lws.simulation.chance import Chance
from lws.simulation.lives import Life, Task, apart
from lws.simulation.weather import StreamEnd, Weather

GONE = {
    "type": "ERROR",
    "object": {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "too old resource version",
        "reason": "Expired",
        "code": 410,
    },
}


class Stream:
    """What the server sends waits here for its time."""

    def __init__(self, clock: Clock, lag: float, chance: Chance) -> None:
        self._clock = clock
        self._lag = lag
        self._chance = chance
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._news = asyncio.Event()
        self._end: StreamEnd | None = None
        self._is_drained = False
        """Has the server ended it by itself?"""
        self._silent_since: float | None = None
        self._closed_at: float | None = None
        self.tasks: list[Task] = []

    def put(self, line: bytes) -> None:
        """A line from the server."""
        if self._silent_since is None:
            self._waiting.append((self._clock.monotonic(), line))
            self._news.set()

    def drained(self) -> None:
        """No more will come."""
        self._is_drained = True
        self._news.set()

    def end(self, how: StreamEnd) -> None:
        """Before its time."""
        if how is StreamEnd.SILENT:
            self._silent_since = self._clock.monotonic()
        else:
            self._end = how
            self._news.set()

    def close(self) -> None:
        """The client has gone."""
        self._closed_at = self._closed_at or self._clock.monotonic()
        for task in self.tasks:
            task.cancel()

    def blind_seconds(self) -> float:
        """How old the oldest line is that has not been handed over."""
        now = self._clock.monotonic()
        unknown = [now]
        if self._waiting:
            unknown.append(self._waiting[0][0])
        if self._silent_since is not None:
            unknown.append(self._silent_since)
        if self._closed_at is not None:
            unknown.append(self._closed_at)
        return now - min(unknown)

    closed_blind_seconds = blind_seconds

    async def lines(self, life: Life, *, is_cut: Callable[[], bool]) -> AsyncIterator[bytes]:
        """To its end."""
        while True:
            await self._news.wait()
            await life.gate()
            if is_cut() or self._end is StreamEnd.RESET:
                raise TransportError("the watch was cut off")
            if self._end is StreamEnd.GONE:
                yield orjson.dumps(GONE) + b"\n"
                return
            if self._waiting:
                arrived, line = self._waiting[0]
                due = arrived + self._chance.between(0.0, self._lag)
                await self._clock.sleep(max(0.0, due - self._clock.monotonic()))
                await life.gate()
                if self._end is StreamEnd.HALF_A_LINE:
                    yield line[: len(line) // 2]
                    return
                self._waiting.popleft()
                yield line
            elif self._end is not None or self._is_drained:
                return
            else:
                self._news.clear()


async def open_stream(
    local: LocalTransport, request: Request, *, clock: Clock, chance: Chance, weather: Weather
) -> Stream:
    """Begin a watch; the server's refusal is raised."""
    stream = Stream(clock, weather.lag_of_stream(chance), chance)
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stream.tasks.append(apart(_pump(local, request, stream, opened)))
    try:
        await opened
    except BaseException:
        stream.close()
        raise
    ends = weather.stream_ends(chance)
    if ends is not None:
        stream.tasks.append(apart(_cut(stream, clock, *ends)))
    return stream


async def _pump(
    local: LocalTransport, request: Request, stream: Stream, opened: asyncio.Future[None]
) -> None:
    try:
        async with local.stream(request) as lines:
            if not opened.done():
                opened.set_result(None)
            async for line in lines:
                stream.put(line)
        stream.drained()
    except Exception as error:  # noqa: BLE001 - whoever opened it is told
        if not opened.done():
            opened.set_exception(error)


async def _cut(stream: Stream, clock: Clock, seconds: float, how: StreamEnd) -> None:
    await clock.sleep(seconds)
    stream.end(how)
