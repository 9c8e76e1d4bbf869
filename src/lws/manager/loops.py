"""The loops of some controllers, started and ended together."""

import asyncio
from typing import Any

from lws.runtime.controller import Controller
from lws.runtime.process import Process


class Loops:
    """From `start` they act; `stop` lets the passes in flight end, `abort` cuts them off."""

    def __init__(self, *loops: Controller[Any]) -> None:
        self._loops = loops
        self._tasks: list[asyncio.Task[Any]] = []
        self._aborted = False

    @property
    def may_act(self) -> bool:
        """They have been started, and this process still leads."""
        return bool(self._tasks) and not self._aborted

    def start(self, process: Process) -> None:
        """Act: once this process leads."""
        self._tasks = [process.spawn(f"{loop.name} controller", loop.run()) for loop in self._loops]

    async def stop(self) -> None:
        """No pass is in flight when this returns."""
        for loop in self._loops:
            loop.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def abort(self) -> None:
        """Another process may lead from now on: nothing that is begun goes on."""
        self._aborted = True
        for loop in self._loops:
            loop.abort()
