"""One life of a process: its tasks, its clock, and what stops when it is frozen or dead."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context, ContextVar
from typing import Any

from lws.base.clock import Clock
from lws.simulation.acts import ACTING, Act

Task = asyncio.Task[Any]
KILL_ROUNDS = 50  # a finally-clause may await; nothing in it can do anything any more


class Life:
    """From the start of a process to its end, however it comes."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name = name
        self.clock = LifeClock(self, clock)
        self.tasks: dict[Task, None] = {}
        self.is_dead = False
        self.is_frozen = False
        self._thawed = asyncio.Event()
        self._thawed.set()

    async def gate(self) -> None:
        """Pass when it may run: not before it is thawed, never once it is dead."""
        while not self.is_dead and self.is_frozen:
            await self._thawed.wait()
        if self.is_dead:
            await asyncio.get_running_loop().create_future()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Task:
        """A task of this life; the tasks that it makes are, too."""
        context = Context()
        context.run(LIVING.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)

    def freeze(self) -> None:
        """SIGSTOP."""
        self.is_frozen = True
        self._thawed.clear()

    def thaw(self) -> None:
        """SIGCONT."""
        self.is_frozen = False
        self._thawed.set()

    async def kill(self) -> None:
        """SIGKILL: nothing of it runs when this returns."""
        self.is_dead = True
        self._thawed.set()
        for _ in range(KILL_ROUNDS):
            left = [task for task in self.tasks if not task.done()]
            if not left:
                return
            for task in left:
                task.cancel()
            await asyncio.sleep(0)
        raise AssertionError(f"a task outlives its process: {left}")


LIVING: ContextVar[Life | None] = ContextVar("living", default=None)


class LifeClock:
    """Goes on while the process is frozen; who sleeps in it wakes late."""

    def __init__(self, life: Life, clock: Clock) -> None:
        self._life = life
        self._clock = clock

    def now(self) -> float:
        """The wall's."""
        return self._clock.now()

    def monotonic(self) -> float:
        """The machine's: it does not stop."""
        return self._clock.monotonic()

    def random(self) -> float:
        """The run's own chance."""
        return self._clock.random()

    async def sleep(self, seconds: float) -> None:
        """At least so long."""
        await self._clock.sleep(seconds)
        await self._life.gate()


def new_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> Task:
    """A task factory that enters each task with the life that made it."""
    task = Task(work, loop=loop, **options)
    context: Context | None = options.get("context")
    life = LIVING.get() if context is None else context.get(LIVING)
    if life is not None:
        life.tasks[task] = None
        task.add_done_callback(lambda done: life.tasks.pop(done, None))
    return task


def apart(work: Coroutine[Any, Any, Any], act: Act | None = None) -> Task:
    """A task that belongs to no life: what a server does with a request goes on without him who
    asked."""
    context = Context()
    context.run(ACTING.set, act)
    return asyncio.get_running_loop().create_task(work, context=context)
