"""The loop of a controller: keys that are due, each worked on by one at a time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from lws.base.clock import Clock
from lws.sandbox.cluster.timers import Timers
from lws.sandbox.server.status import ApiStatus

Key = TypeVar("Key", bound=Hashable)

_FIRST_RETRY = 0.005
_LAST_RETRY = 1000.0


class Again(Exception):
    """What a handler raises to be called again later; says why."""


class Worker(Generic[Key]):
    """Calls `handle` for every key that was added; never twice at once for the same key.

    A key that was refused by the API server is tried again, after 5 ms, 10 ms, 20 ms …
    """

    def __init__(
        self, clock: Clock, handle: Callable[[Key], Awaitable[None]], *, parallel: int = 10
    ) -> None:
        self._clock = clock
        self._handle = handle
        self._parallel = parallel
        self._timers = Timers(clock)
        self._due: deque[Key] = deque()
        self._waiting: set[Key] = set()
        self._busy: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._news = asyncio.Event()

    def add(self, key: Key) -> None:
        """It is due; once is enough."""
        if key in self._waiting:
            return
        self._waiting.add(key)
        if key not in self._busy:
            self._due.append(key)
            self._news.set()

    def add_after(self, key: Key, seconds: float) -> None:
        """It is due later."""
        if seconds <= 0:
            self.add(key)
        else:
            self._timers.after(seconds, lambda: self.add(key))

    @property
    def is_idle(self) -> bool:
        """Is nothing due and nothing under way? (Something may be due later.)"""
        return not self._waiting and not self._busy

    async def run(self) -> None:
        """For ever."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._parallel):
                    group.create_task(self._work())
        finally:
            await self._timers.close()

    async def _work(self) -> None:
        while True:
            while not self._due:
                self._news.clear()
                await self._news.wait()
            key = self._due.popleft()
            self._waiting.discard(key)
            self._busy.add(key)
            await self._try(key)
            self._busy.discard(key)
            if key in self._waiting:
                self._due.append(key)
                self._news.set()
            await self._clock.sleep(0)  # a handler may have had nothing to wait for

    async def _try(self, key: Key) -> None:
        try:
            await self._handle(key)
        except (ApiStatus, Again):
            count = self._failures.get(key, 0)
            self._failures[key] = count + 1
            self.add_after(key, min(_FIRST_RETRY * 2 ** min(count, 30), _LAST_RETRY))
        else:
            self._failures.pop(key, None)
