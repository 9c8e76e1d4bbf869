"""Keys that want a pass, each at most once at a time, each no earlier than it is due."""

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from lws.base.clock import Clock
from lws.runtime.backoff import Backoff
from lws.runtime.metrics import Metrics

K = TypeVar("K", bound=Hashable)

RETRIES = Backoff(base=0.005, cap=300.0)
FOLD_SECONDS = 0.02  # a burst of events about one key arrives within this, and costs one pass


class QueueShutDown(Exception):
    """There will be no more keys."""


@dataclass(slots=True)
class _Waiting:
    """When a key becomes ready; and since when it is wanted, for the metric."""

    due: float
    since: float


class WorkQueue(Generic[K]):
    """First due, first served. A key that is added while its pass runs waits for the pass's end.

    Not for threads. No call but `get` needs a running event loop.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        fold_seconds: float = FOLD_SECONDS,
        backoff: Backoff = RETRIES,
        metrics: Metrics | None = None,
        name: str = "",
    ) -> None:
        self._clock = clock
        self._fold_seconds = fold_seconds
        self._backoff = backoff
        self._metrics = (metrics or Metrics()).queue(name)
        self._metrics.watch_depth(lambda: float(len(self)))
        self._waiting: dict[K, _Waiting] = {}
        self._heap: list[tuple[float, int, K]] = []  # entries that _waiting contradicts are stale
        self._sequence = 0
        self._ready: deque[K] = deque()
        self._ready_since: dict[K, float] = {}
        self._running: dict[K, float] = {}
        self._again: dict[K, _Waiting] = {}
        self._failures: dict[K, int] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.Task[None] | None = None
        self._timer_at = 0.0
        self.is_shut_down = False

    def __len__(self) -> int:
        """How many keys could be handed out now."""
        self._promote()
        return len(self._ready)

    def add(self, key: K) -> None:
        """Something happened to this key: a pass after the fold time."""
        now = self._clock.monotonic()
        self._want(key, due=now + self._fold_seconds, since=now)

    def add_after(self, key: K, seconds: float) -> None:
        """A pass in so many seconds, unless one comes earlier."""
        due = self._clock.monotonic() + max(seconds, 0.0)
        self._want(key, due=due, since=due)

    def retry(self, key: K, *, at_least: float = 0.0) -> float:
        """A pass after this key's backoff, which grows until `forget`; the seconds until then."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._metrics.retries.inc()
        seconds = max(self._backoff.delay(failures, self._clock.random()), at_least)
        self.add_after(key, seconds)
        return seconds

    def forget(self, key: K) -> None:
        """This key's passes succeed: its next backoff is the shortest again."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """How many times in a row this key was retried."""
        return self._failures.get(key, 0)

    async def get(self) -> K:
        """The next key, as soon as one is ready; `done` must follow. QueueShutDown at the end."""
        while not len(self):
            if self.is_shut_down:
                raise QueueShutDown
            await self._wait()
        key = self._ready.popleft()
        now = self._clock.monotonic()
        self._metrics.queue_seconds.observe(max(now - self._ready_since.pop(key), 0.0))
        self._running[key] = now
        return key

    def done(self, key: K) -> None:
        """The pass of this key is over; what was added meanwhile counts now."""
        started = self._running.pop(key)
        self._metrics.work_seconds.observe(self._clock.monotonic() - started)
        again = self._again.pop(key, None)
        if again is not None:
            self._await_due(key, again)

    def shut_down(self) -> None:
        """Take no more keys; hand out those that are ready, forget those that are not yet."""
        self._promote()
        self.is_shut_down = True
        self._waiting.clear()
        self._heap.clear()
        self._again.clear()
        if self._timer is not None:
            self._timer.cancel()
        while self._getters:
            self._wake_one()

    def _want(self, key: K, *, due: float, since: float) -> None:
        if self.is_shut_down:
            return
        self._metrics.adds.inc()
        if key in self._ready_since:
            return
        if key in self._running:
            _earliest(self._again, key, due=due, since=since)
            return
        known = self._waiting.get(key)
        if known is None or due < known.due:
            self._await_due(key, _Waiting(due, min(since, known.since) if known else since))

    def _await_due(self, key: K, wanted: _Waiting) -> None:
        self._waiting[key] = wanted
        self._sequence += 1
        heapq.heappush(self._heap, (wanted.due, self._sequence, key))
        if len(self._heap) > 2 * len(self._waiting) + 64:
            self._drop_stale_entries()
        if self._getters:
            self._arm()

    def _drop_stale_entries(self) -> None:
        """Keys moved forward leave their old entry behind; rebuilt once they are the majority."""
        self._heap = [entry for entry in self._heap if self._is_current(entry)]
        heapq.heapify(self._heap)

    def _is_current(self, entry: tuple[float, int, K]) -> bool:
        waiting = self._waiting.get(entry[2])
        return waiting is not None and waiting.due == entry[0]

    def _promote(self) -> None:
        """Move what is due to the end of the line, in the order of its being due."""
        now = self._clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            if self._is_current(entry):
                key = entry[2]
                self._ready_since[key] = self._waiting.pop(key).since
                self._ready.append(key)

    async def _wait(self) -> None:
        """Until woken: something is due, or the queue shuts down."""
        getter = asyncio.get_running_loop().create_future()
        self._getters.append(getter)
        self._arm()
        try:
            await getter
        except asyncio.CancelledError:
            if getter in self._getters:
                self._getters.remove(getter)
            else:
                self._wake_one()  # the wake-up was for this one: pass it on
            raise

    def _wake_one(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _arm(self) -> None:
        """Have a timer for the first key that becomes due."""
        while self._heap and not self._is_current(self._heap[0]):
            heapq.heappop(self._heap)
        if not self._heap:
            return
        at = self._heap[0][0]
        if self._timer is not None and not self._timer.done():
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = asyncio.create_task(self._ring(at), name="work queue timer")

    async def _ring(self, at: float) -> None:
        while (left := at - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        self._timer = None
        self._promote()
        for _ in range(min(len(self._ready), len(self._getters))):
            self._wake_one()
        if self._getters:
            self._arm()


def _earliest(table: dict[K, _Waiting], key: K, *, due: float, since: float) -> None:
    known = table.get(key)
    if known is None or due < known.due:
        table[key] = _Waiting(due, min(since, known.since) if known else since)
