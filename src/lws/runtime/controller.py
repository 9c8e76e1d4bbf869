"""The loop: keys from a queue, a few passes at once, each failure its own key's alone."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic

import structlog

from lws.base.clock import Clock
from lws.client.errors import ApiError, ClientError, Normal
from lws.runtime.backoff import Backoff
from lws.runtime.clock import Deadline
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics
from lws.runtime.queue import K, QueueShutDown, WorkQueue

log = structlog.get_logger(__name__)

GUARD_POLL = Backoff(base=0.01, cap=1.0, jitter=0.0)  # a watch event takes about 10 ms to come
GUARD_WARN_SECONDS = 60.0
DRAIN_SECONDS = 10.0  # a pass is a few requests; a third of the usual grace period of 30 s


class Unfinished(Exception):
    """Some of a pass failed, as `error` says, and the rest of it wants another at a time of its
    own: a backoff that has grown long holds back what failed, and nothing else."""

    def __init__(self, error: Exception, *, wake_after: float) -> None:
        super().__init__(str(error))
        self.error = error
        self.wake_after = wake_after


class Verdict(Enum):
    """What a failed pass means; all of them try again after the key's backoff."""

    NORMAL = auto()  # the world moved on; not worth a line
    EXPECTED = auto()  # the API server, or the way to it; one line
    MISTAKE = auto()  # ours; with its traceback


def classify(error: Exception) -> Verdict:
    """By the tree of errors: what is not in it is a mistake."""
    if isinstance(error, Normal):
        return Verdict.NORMAL
    if isinstance(error, ClientError | TimeoutError):
        return Verdict.EXPECTED
    return Verdict.MISTAKE


@dataclass(slots=True)
class _Deferral:
    """A key put off because the cache lies behind our writes."""

    since: float
    polls: int = 0
    warned: bool = False


class Controller(Generic[K]):
    """Runs `reconcile(key)` for every key of the queue; it returns the seconds after which the key
    wants another pass in any case, or None.

    A pass starts only while the caches show all that we wrote to its family. A cancelled `run`, as
    well as `stop`, lets the passes in flight end, within `drain_seconds`.
    """

    def __init__(
        self,
        *,
        name: str,
        queue: WorkQueue[K],
        reconcile: Callable[[K], Awaitable[float | None]],
        clock: Clock,
        concurrency: int = 8,
        guard: Guard | None = None,
        family_of: Callable[[K], Hashable] | None = None,
        classify: Callable[[Exception], Verdict] = classify,
        drain_seconds: float = DRAIN_SECONDS,
        metrics: Metrics | None = None,
    ) -> None:
        assert concurrency > 0, "nobody would work"
        self.name = name
        self._queue = queue
        self._reconcile = reconcile
        self._clock = clock
        self._free = asyncio.Semaphore(concurrency)
        self._guard = Guard() if guard is None else guard  # an empty one is false
        self._family_of = family_of or _itself
        self._classify = classify
        self._drain_seconds = drain_seconds
        self._deferrals: dict[K, _Deferral] = {}
        self._passes: set[asyncio.Task[None]] = set()
        self._dispatching: asyncio.Task[None] | None = None
        self._metrics = (metrics or Metrics()).controller(name)
        self._log = log.bind(controller=name)

    @property
    def in_flight(self) -> int:
        """How many passes run now."""
        return len(self._passes)

    async def run(self) -> None:
        """Work until stopped, cancelled, or the queue is shut down and empty."""
        self._dispatching = asyncio.create_task(self._dispatch(), name=f"{self.name} dispatcher")
        try:
            await asyncio.wait((self._dispatching,))
        finally:
            self._dispatching.cancel()
            await self._drain()
        if not self._dispatching.cancelled():
            self._dispatching.result()  # raises what ended it

    def stop(self) -> None:
        """Start no more passes; `run` returns when those in flight have ended."""
        if self._dispatching is not None:
            self._dispatching.cancel()

    def abort(self) -> None:
        """Start no more passes and cut off those in flight: this process must not act any more."""
        self.stop()
        for task in self._passes:
            task.cancel()

    async def _dispatch(self) -> None:
        while True:
            await self._free.acquire()
            try:
                key = await self._queue.get()
            except QueueShutDown:
                self._free.release()
                return
            if self._is_put_off(key):
                self._free.release()
                continue
            task = asyncio.create_task(self._pass(key), name=f"{self.name} pass")
            self._passes.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._passes.discard(task)
        self._free.release()

    async def _drain(self) -> None:
        if not self._passes:
            return
        try:
            async with Deadline(self._clock, self._drain_seconds):
                await asyncio.wait(set(self._passes))
        except TimeoutError:
            self._log.warning("passes cut off", passes=len(self._passes))
        finally:
            for task in self._passes:
                task.cancel()
        await asyncio.sleep(0)  # lets what was cancelled take note

    def _is_put_off(self, key: K) -> bool:
        """Must the key wait, because the cache lies behind our writes? That is no failure."""
        try:
            is_current = self._guard.is_current(self._family_of(key))
        except Exception as error:  # noqa: BLE001 - a key that has no family harms only itself
            self._failed(key, error)
            self._queue.done(key)
            return True
        if is_current:
            self._deferrals.pop(key, None)
        else:
            self._put_off(key)
        return not is_current

    def _put_off(self, key: K) -> None:
        now = self._clock.monotonic()
        deferral = self._deferrals.setdefault(key, _Deferral(since=now))
        if now - deferral.since >= GUARD_WARN_SECONDS and not deferral.warned:
            deferral.warned = True
            self._log.warning(
                "cache has not shown our last write yet, waiting on",
                key=str(key),
                seconds=round(now - deferral.since),
            )
        self._metrics.deferred.inc()
        self._queue.add_after(key, GUARD_POLL.delay(deferral.polls, 0.0))
        self._queue.done(key)
        deferral.polls += 1

    async def _pass(self, key: K) -> None:
        started = self._clock.monotonic()
        self._metrics.active.inc()
        try:
            wake_after = await self._reconcile(key)
        except Unfinished as unfinished:
            at_least = self._failed(key, unfinished.error)
            self._queue.add_after(key, max(unfinished.wake_after, at_least))
        except Exception as error:  # noqa: BLE001 - a failure is its own key's alone
            self._failed(key, error)
        else:
            self._succeeded(key, wake_after)
        finally:
            self._metrics.active.dec()
            self._metrics.seconds.observe(self._clock.monotonic() - started)
            self._queue.done(key)

    def _succeeded(self, key: K, wake_after: float | None) -> None:
        self._queue.forget(key)
        if wake_after is None:
            self._metrics.result("success").inc()
            return
        self._metrics.result("requeue_after").inc()
        self._queue.add_after(key, wake_after)

    def _failed(self, key: K, error: Exception) -> float:
        """See that it comes again; the seconds before which the server wants to hear nothing."""
        verdict = self._classify(error)
        at_least = (isinstance(error, ApiError) and error.retry_after) or 0.0
        seconds = self._queue.retry(key, at_least=at_least)
        if verdict is Verdict.NORMAL:
            self._metrics.result("requeue").inc()
            self._log.debug("pass to be repeated", key=str(key), error=str(error))
            return at_least
        self._metrics.result("error").inc()
        self._metrics.errors.inc()
        fields = {"key": str(key), "error": str(error), "retry_seconds": round(seconds, 3)}
        if verdict is Verdict.MISTAKE:
            self._metrics.panics.inc()
            self._log.error("pass failed by a mistake of ours", exc_info=error, **fields)
        else:
            self._log.error("pass failed", **fields)
        return at_least


def _itself(key: Hashable) -> Hashable:
    return key
