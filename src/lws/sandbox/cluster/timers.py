"""Things that are to happen later, on the clock."""

import asyncio
from collections.abc import Callable

from lws.base.clock import Clock


class Timers:
    """Calls functions later; all are forgotten by `close`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def after(self, seconds: float, call: Callable[[], None]) -> asyncio.Task[None]:
        """Call once, so many seconds from now; cancel the task to prevent it."""
        task = asyncio.get_running_loop().create_task(self._call(seconds, call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Nothing happens any more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, seconds: float, call: Callable[[], None]) -> None:
        await self._clock.sleep(seconds)
        call()
