"""The loop of a controller."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from lws.runtime.clock import VirtualClock
from lws.sandbox.cluster.worker import Again, Worker


@asynccontextmanager
async def running(
    clock: VirtualClock, handle: Callable[[str], Awaitable[None]]
) -> AsyncIterator[Worker[str]]:
    """A worker that works."""
    worker = Worker(clock, handle, parallel=3)
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_key_that_is_added_twice_is_handled_once() -> None:
    clock, handled = VirtualClock(), list[str]()

    async def handle(key: str) -> None:
        handled.append(key)

    async with running(clock, handle) as worker:
        for key in ("a", "b", "a"):
            worker.add(key)
        await clock.settle()
    assert handled == ["a", "b"]


async def test_a_key_that_is_added_while_it_is_handled_is_handled_again_afterwards() -> None:
    clock, log = VirtualClock(), list[str]()

    async def handle(key: str) -> None:
        log.append("begin")
        await clock.sleep(1)
        log.append("end")

    async with running(clock, handle) as worker:
        worker.add("a")
        await clock.run_for(0.5)
        worker.add("a")
        await clock.run_for(5)
        assert worker.is_idle
    assert log == ["begin", "end", "begin", "end"]


async def test_a_key_that_failed_is_tried_again_later_and_later() -> None:
    clock, times = VirtualClock(), list[float]()

    async def handle(key: str) -> None:
        times.append(clock.monotonic())
        if len(times) < 5:
            raise Again

    async with running(clock, handle) as worker:
        worker.add("a")
        await clock.run_for(10)
    waits = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert waits == pytest.approx([0.005, 0.01, 0.02, 0.04])


async def test_a_key_may_be_due_later() -> None:
    clock, times = VirtualClock(), list[float]()

    async def handle(key: str) -> None:
        times.append(clock.monotonic())

    async with running(clock, handle) as worker:
        worker.add_after("a", 3)
        await clock.run_for(2)
        assert times == []
        await clock.run_for(2)
    assert times == [3]


async def test_what_nobody_expected_is_not_hidden() -> None:
    clock = VirtualClock()

    async def handle(key: str) -> None:
        raise ZeroDivisionError

    worker = Worker(clock, handle)
    worker.add("a")
    with pytest.raises(ExceptionGroup):
        await worker.run()
