"""The controllers of one kind: what they watch, and their loops, started and ended together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lws.base.clock import Clock
from lws.executor.perform import Family
from lws.runtime.controller import Controller
from lws.runtime.guard import Guard
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.runtime.queue import K, WorkQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the loops of one kind stand on."""

    clock: Clock
    guard: Guard
    metrics: Metrics
    concurrency: int
    """Passes of one controller in flight; each is a few requests."""

    def loop(
        self,
        name: str,
        *,
        queue: WorkQueue[K],
        reconcile: Callable[[K], Awaitable[float | None]],
        family_of: Callable[[K], Family],
    ) -> Controller[K]:
        """One controller; `family_of`: whose writes its passes make."""
        return Controller(
            name=name,
            queue=queue,
            reconcile=reconcile,
            clock=self.clock,
            concurrency=self.concurrency,
            guard=self.guard,
            family_of=lambda key: family_of(key).key,
            metrics=self.metrics,
        )


class Caches(Protocol):
    """What a kind's controllers read; `check` names the first lists that are missing."""

    def check(self) -> str | None: ...

    async def synced(self) -> None: ...


class Families(Protocol):
    """What belongs to each object, kept up to date event by event; wakes keys."""

    def start(self) -> None: ...

    def wake_all(self) -> None: ...


class Controllers:
    """The controllers of one kind in one process.

    They take events in from `follow` and act from `start`; `stop` lets the passes in flight end,
    `abort` cuts them off.
    """

    name: str
    """Of the kind."""

    def __init__(
        self,
        *loops: Controller[Any],
        caches: Caches,
        families: Families,
        informers: Sequence[Informer[Any]],
    ) -> None:
        self._caches = caches
        self._families = families
        self._loops = loops
        self._tasks: list[asyncio.Task[Any]] = []
        self._aborted = False
        self.informers = tuple(informers)
        """What it watches, in the order in which they are started."""

    @property
    def may_act(self) -> bool:
        """They have been started, and this process still leads."""
        return bool(self._tasks) and not self._aborted

    def check(self) -> str | None:
        """For the readiness probe: which first lists are missing."""
        return self._caches.check()

    async def synced(self) -> None:
        """Every first list is in."""
        await self._caches.synced()

    def follow(self) -> None:
        """Take in every event from here on, leading or not; every cache has its first list."""
        self._families.start()

    def start(self, process: Process) -> None:
        """Act: once this process leads."""
        self._families.wake_all()
        self._tasks = [process.spawn(f"{loop.name} controller", loop.run()) for loop in self._loops]

    async def stop(self) -> None:
        """No pass is in flight when this returns."""
        for loop in self._loops:
            loop.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def abort(self) -> None:
        """Act no more, at once: another process may lead from now on."""
        self._aborted = True
        for loop in self._loops:
            loop.abort()
