"""Several logs as they are written: restarts, new pods and cut connections are sat out."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from lws.base.clock import Clock
from lws.cli.everyday.logs.basket import Basket
from lws.cli.everyday.logs.reading import Extent, Tell, Told, no_log, reason_of
from lws.cli.everyday.logs.sources import Life, Source
from lws.client import errors, requests
from lws.client.logs import LogLine, moment_of
from lws.client.requests import Request

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

LOOK_SECONDS = 1.0
GATHER_SECONDS = 0.05
"""Lines that come within this are shown in the order of their times."""
PATIENCE_SECONDS = 5.0
Look = Callable[[], Awaitable[Sequence[Source] | None]]
"""The sources as they are; None: what they belong to is gone."""
Show = Callable[[Sequence[Told]], None]


class Cursor:
    """How far one log has been read, so that it can be asked for from there again."""

    def __init__(self) -> None:
        self.time = ""
        self._moment = ""
        self._at_moment = 0
        self._to_skip = 0

    def rewind(self) -> None:
        """The log is asked for from `time` on, so lines of that moment come again."""
        self._to_skip = self._at_moment

    def is_new(self, line: LogLine) -> bool:
        """Has it not been read yet? Then it has now."""
        if not line.time:
            return True
        moment = moment_of(line.time)
        if moment < self._moment:
            return False
        if moment == self._moment and self._to_skip:
            self._to_skip -= 1
            return False
        self._at_moment = self._at_moment + 1 if moment == self._moment else 1
        self._moment, self.time, self._to_skip = moment, line.time, 0
        return True


class Following:
    """Who is followed, what has been said of whom."""

    def __init__(
        self, client: "KubernetesClient", look: Look, *, extent: Extent, tell: Tell, clock: Clock
    ) -> None:
        self._client = client
        self._look = look
        self._extent = extent
        self._tell = tell
        self._clock = clock
        self._basket = Basket()
        self._sources: dict[str, Source] = {}
        self._followed: set[tuple[str, Life]] = set()
        self._said: dict[str, str] = {}
        self._looked = asyncio.Event()

    async def run(self, show: Show) -> None:
        """Until what is followed is gone, or whoever runs this is cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                printing = tasks.create_task(self._show(show))
                logs = await self._watch(tasks)
                await _end(logs)
                self._basket.close()
                await printing
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several

    async def _show(self, show: Show) -> None:
        while not self._basket.is_closed:
            await self._basket.wait()
            await self._clock.sleep(GATHER_SECONDS)
            show(self._basket.take())
        show(self._basket.take())

    async def _watch(self, tasks: asyncio.TaskGroup) -> set[asyncio.Task[None]]:
        """Look once a second; the tasks that are left when there is nothing more to look at."""
        running: set[asyncio.Task[None]] = set()
        is_away, is_first = False, True
        while True:
            try:
                sources = await self._look()
            except errors.Retryable as error:
                if is_first:
                    raise
                if not is_away:
                    self._tell("lws", f"{error}; trying again")
                is_away = True
            else:
                is_away = False
                if sources is None:
                    for label in self._sources:
                        self._tell(label, "is gone")
                    self._sources = {}
                    self._looked.set()
                    return running
                for source in self._new(sources):
                    task = tasks.create_task(self._follow(source, is_late=not is_first))
                    running.add(task)
                    task.add_done_callback(running.discard)
                is_first = False
            await self._clock.sleep(LOOK_SECONDS)

    def _notice(self) -> None:
        """Wake those who wait for a look."""
        self._looked.set()
        self._looked = asyncio.Event()

    def _new(self, sources: Sequence[Source]) -> list[Source]:
        """Those to be followed from now on; what has changed is told."""
        before, self._sources = self._sources, {source.label: source for source in sources}
        for label in before.keys() - self._sources.keys():
            self._tell(label, "is gone")
            self._said.pop(label, None)
        new = []
        for source in sources:
            self._tell_of(before.get(source.label), source)
            key = (source.label, source.life)
            if source.state != "waiting" and key not in self._followed:
                self._followed.add(key)
                new.append(source)
        self._notice()
        return new

    def _tell_of(self, old: Source | None, now: Source) -> None:
        if old is not None and old.life.uid != now.life.uid:
            self._tell(now.label, "is another pod now")
        elif old is not None and old.life != now.life:
            self._tell(now.label, f"container {now.container} was restarted")
        if now.words and now.words != self._said.get(now.label):
            self._tell(now.label, now.words)
        self._said[now.label] = now.words

    async def _follow(self, source: Source, *, is_late: bool) -> None:
        """One run of a container to its end; what ran late is read from its beginning."""
        cursor, is_cut = Cursor(), False
        extent = Extent() if is_late else self._extent
        while True:
            now = self._sources.get(source.label)
            if now is None or now.life.uid != source.life.uid:
                return
            is_over = now.life != source.life or now.state != "running"
            request = _request(source, now, cursor, extent)
            try:
                await self._read(request, source, cursor)
            except errors.NotFound:
                return
            except errors.BadRequest as error:
                self._refused(source, error)
                return
            except errors.Retryable as error:
                if not is_cut and not isinstance(error, errors.SilentStream):
                    self._tell(source.label, _trouble(error))
                is_over, is_cut = False, True
            else:
                is_cut = False
            if is_over:
                return
            await self._looked.wait()
            await self._looked.wait()  # the first may have begun before the log ended

    def _refused(self, source: Source, error: errors.BadRequest) -> None:
        """Not there yet: the next look may find it."""
        words = no_log(source, error, previous=False)
        if words != self._said.get(source.label):
            self._tell(source.label, words)
            self._said[source.label] = words
        self._followed.discard((source.label, source.life))

    async def _read(self, request: Request, source: Source, cursor: Cursor) -> None:
        cursor.rewind()
        async with self._client.log_lines(request) as lines:
            async for line in lines:
                if cursor.is_new(line):
                    await self._basket.put(Told(source, line))


def _trouble(error: errors.Retryable) -> str:
    if isinstance(error, errors.TransportError):
        return "its log was cut off; connecting again"
    return f"its log cannot be read: {reason_of(error)}; trying again"


async def _end(logs: set[asyncio.Task[None]]) -> None:
    """A log of a pod that is gone ends by itself; a little patience, then none."""
    if logs:
        _, left = await asyncio.wait(logs, timeout=PATIENCE_SECONDS)
        for task in left:
            task.cancel()


def _request(source: Source, now: Source, cursor: Cursor, extent: Extent) -> Request:
    """From where it was read to; of a container that has been restarted since, its last run."""
    is_fresh = not cursor.time
    return requests.pod_log(
        namespace=source.namespace,
        name=source.pod,
        container=source.container,
        follow=now.life == source.life,
        previous=now.life != source.life,
        since_time=cursor.time or None,
        since_seconds=extent.since_seconds if is_fresh else None,
        tail_lines=extent.tail_lines if is_fresh else None,
    )
