"""Time and chance: real, virtual, and what is built on a Clock alone.

The only module that imports time and random.
"""

import asyncio
import heapq
import itertools
import random
import time
from collections import deque
from types import TracebackType
from typing import Self

from lws.base.clock import Clock

_UVLOOP_TICK = 0.001


class RealClock:
    """The machine's time."""

    def __init__(self) -> None:
        self._random = random.Random()  # noqa: S311 - spreads load; no secret comes from it

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Never less than asked for: uvloop counts in whole milliseconds, and may wake too soon."""
        end = time.monotonic() + seconds
        await asyncio.sleep(max(seconds, 0.0))
        while (left := end - time.monotonic()) > 0:  # noqa: ASYNC110 - time has no event
            await asyncio.sleep(max(left, _UVLOOP_TICK))

    def random(self) -> float:
        return self._random.random()


class VirtualClock:
    """Time that stands still while anything can run, and then jumps to the next timer.

    It sees who can run by looking at the event loop's own queue, so only asyncio's loops will do.
    A task that waits for a socket, a thread or a process looks idle to it: use `autojump=False`
    there, and `advance`.
    """

    def __init__(
        self, *, start: float = 1_700_000_000.0, seed: int = 0, autojump: bool = True
    ) -> None:
        self.autojump = autojump
        self._start = start
        self._elapsed = 0.0
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._timers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._jump_pending = False
        self._settling = 0

    def now(self) -> float:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed

    def random(self) -> float:
        return self._random.random()

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        timer = asyncio.get_running_loop().create_future()
        heapq.heappush(self._timers, (self._elapsed + seconds, next(self._order), timer))
        self._arm()
        await timer

    @property
    def next_timer(self) -> float | None:
        """Seconds until the next sleeper wakes; None if nobody sleeps."""
        while self._timers and self._timers[0][2].done():
            heapq.heappop(self._timers)
        return self._timers[0][0] - self._elapsed if self._timers else None

    def advance(self, seconds: float) -> None:
        """Let time pass at once; whoever is due by then wakes, when its turn comes."""
        assert seconds >= 0, "time does not go back"
        self._move_to(self._elapsed + seconds)

    async def run_for(self, seconds: float) -> None:
        """Let time pass timer by timer, each with all that it sets going."""
        end = self._elapsed + seconds
        self._settling += 1  # keeps the jump off
        try:
            await self._until_idle()
            while (wait := self.next_timer) is not None and self._elapsed + wait <= end:
                self._move_to(self._elapsed + wait)
                await self._until_idle()
            self._move_to(end)
            await self._until_idle()
        finally:
            self._settling -= 1
            self._arm()

    async def settle(self) -> None:
        """Wait until nobody can run before time passes; no time passes."""
        await self.run_for(0.0)

    def _move_to(self, moment: float) -> None:
        while self._timers and self._timers[0][0] <= moment:
            when, _, timer = heapq.heappop(self._timers)
            self._elapsed = max(self._elapsed, when)
            if not timer.done():
                timer.set_result(None)
        self._elapsed = max(self._elapsed, moment)

    async def _until_idle(self) -> None:
        ready = _ready_queue()
        while True:
            await asyncio.sleep(0)
            ours = self._jump_pending + self._settling - 1  # our own callbacks, and other waiters
            if len(ready) <= ours:
                return

    def _arm(self) -> None:
        if self.autojump and self._timers and not self._jump_pending:
            self._jump_pending = True
            asyncio.get_running_loop().call_soon(self._jump)

    def _jump(self) -> None:
        self._jump_pending = False
        if self._settling:
            return  # run_for arms it again
        if not _ready_queue() and (wait := self.next_timer) is not None:
            self._move_to(self._elapsed + wait)
        self._arm()


def _ready_queue() -> deque[object]:
    """The callbacks that the running loop has still to call; asyncio has no public name for it."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    assert isinstance(ready, deque), "virtual time needs asyncio's own event loop"
    return ready


class Deadline:
    """`async with Deadline(clock, seconds):` TimeoutError if the body takes longer.

    asyncio.timeout goes by the loop's time; this goes by a Clock. `extend` costs one assignment.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._at = 0.0
        self.is_expired = False

    def extend(self, seconds: float) -> None:
        """So many seconds from now."""
        self._at = self._clock.monotonic() + seconds

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self.extend(self._seconds)
        self._watch = asyncio.create_task(self._expire())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.cancel()
        if not self.is_expired:
            return
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError("took longer than its deadline") from error

    async def _expire(self) -> None:
        while (left := self._at - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        self.is_expired = True
        self._task.cancel()


def unique_id(clock: Clock) -> str:
    """14 hexadecimal digits that no other process draws."""
    return f"{int(clock.random() * 2**53):014x}"
