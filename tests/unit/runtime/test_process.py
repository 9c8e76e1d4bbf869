"""One dead task is the end of all, and every end is orderly."""

import asyncio
import gc
import signal
import threading
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from lws.runtime.clock import VirtualClock
from lws.runtime.process import EXIT_SECOND_SIGNAL, Process, freeze_heap, run
from lws.runtime.watchdog import LoopWatchdog


class World:
    """A process on virtual time, and in what order it ended."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.left: list[int] = []
        self.process = Process(clock=self.clock, grace_seconds=25, leave=self.left.append)
        self.order: list[str] = []
        self.process.spawn("server", self.forever("server"))
        for name in ("first", "second"):
            self.process.on_stop(name, self.step(name))

    async def forever(self, name: str) -> None:
        try:
            await self.clock.sleep(1e9)
        finally:
            self.order.append(f"{name} cancelled")

    def step(self, name: str, seconds: float = 0.0) -> Callable[[], Awaitable[None]]:
        async def callback() -> None:
            await self.clock.sleep(seconds)
            self.order.append(name)

        return callback


async def test_a_signal_runs_the_callbacks_in_order_and_then_cancels_the_rest() -> None:
    world = World()
    running = asyncio.create_task(world.process.run())
    await world.clock.settle()
    signal.raise_signal(signal.SIGTERM)
    assert await running == 0
    assert world.order == ["first", "second", "server cancelled"]
    assert world.process.check() is None


@pytest.mark.parametrize("ending", ["error", "return", "cancel"])
async def test_a_task_that_ends_ends_the_process_with_one_line_that_names_it(ending: str) -> None:
    world = World()

    async def die() -> None:
        await world.clock.sleep(5)
        if ending == "error":
            raise KeyError("lost")

    task = world.process.spawn("informer of pods", die())
    if ending == "cancel":
        task.cancel()
    with capture_logs() as lines:
        assert await world.process.run() == 1
    (line,) = [line for line in lines if line["log_level"] == "error"]
    assert line["task"] == "informer of pods"
    assert world.order == ["first", "second", "server cancelled"]
    assert world.process.check() == "task ended: informer of pods"


async def test_a_second_signal_ends_the_process_at_once() -> None:
    world = World()
    world.process.on_stop("slow", world.step("slow", 20))
    running = asyncio.create_task(world.process.run())
    await world.clock.settle()
    world.process.on_signal(signal.SIGTERM)
    await world.clock.run_for(1)
    world.process.on_signal(signal.SIGINT)
    assert world.left == [EXIT_SECOND_SIGNAL]
    await running


async def test_a_callback_that_hangs_or_fails_takes_no_other_its_turn() -> None:
    world = World()

    async def fail() -> None:
        raise KeyError("lost")

    world.process.on_stop("failing", fail)
    world.process.on_stop("hanging", world.step("hanging", 1e6))
    world.process.on_stop("last", world.step("last"))
    world.process.stop("test")
    with capture_logs() as lines:
        assert await world.process.run() == 0
    assert world.clock.monotonic() <= 25
    assert [line["step"] for line in lines if "step" in line] == ["failing", "hanging"]
    assert world.order == ["first", "second", "last", "server cancelled"]


async def test_tasks_that_end_while_stopping_are_no_deaths() -> None:
    world = World()
    ended = asyncio.Event()

    async def until_told() -> None:
        await ended.wait()

    async def tell() -> None:
        ended.set()

    world.process.spawn("controller", until_told())
    world.process.on_stop("tell", tell)
    world.process.stop("test")
    assert await world.process.run() == 0


async def test_a_run_that_is_cancelled_stops_in_order_too() -> None:
    world = World()
    running = asyncio.create_task(world.process.run())
    await world.clock.settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert world.order == ["first", "second", "server cancelled"]


async def test_a_task_that_cannot_be_cancelled_is_left_behind() -> None:
    world = World()
    stubborn_ended = asyncio.Event()

    async def stubborn() -> None:
        while not stubborn_ended.is_set():
            try:
                await world.clock.sleep(1e9)
            except asyncio.CancelledError:
                continue

    world.process.spawn("stubborn", stubborn())
    world.process.stop("test")
    with capture_logs() as lines:
        assert await world.process.run() == 0
    assert lines[-1]["tasks"] == ["stubborn"]
    stubborn_ended.set()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


def test_a_frozen_heap_is_not_collected_again() -> None:
    before = gc.get_freeze_count()
    try:
        freeze_heap()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


def test_run_gives_the_exit_code_of_the_main_function() -> None:
    async def main() -> int:
        return 7

    assert run(main) == 7


def test_a_blocked_loop_is_told_of_once_with_the_place_where_it_stands() -> None:
    clock = VirtualClock()
    watchdog = LoopWatchdog(clock=clock, blocked_seconds=10)
    clock.advance(9)
    assert watchdog.check() is None
    clock.advance(2)
    with capture_logs() as lines:
        watchdog.look()
        watchdog.look()
    assert len(lines) == 1
    assert "test_a_blocked_loop_is_told_of" in lines[0]["stack"]
    assert watchdog.check() == "the event loop gave no sign of life for 11 s"
    watchdog.beat()
    assert watchdog.check() is None


async def test_the_watchdogs_thread_ends_with_it() -> None:
    clock = VirtualClock(autojump=False)
    watchdog = LoopWatchdog(clock=clock)
    before = threading.active_count()
    watchdog.start(asyncio.get_running_loop())
    assert threading.active_count() == before + 1
    watchdog.stop()
    assert threading.active_count() == before


async def test_work_that_was_begun_may_end_but_not_fail() -> None:
    world = World()

    async def prepare(seconds: float, *, fails: bool) -> None:
        await world.clock.sleep(seconds)
        if fails:
            raise KeyError("lost")

    world.process.begin("start", prepare(1, fails=False))
    running = asyncio.create_task(world.process.run())
    await world.clock.run_for(2)
    assert not running.done()
    with capture_logs():
        world.process.begin("start again", prepare(1, fails=True))
        assert await running == 1
    assert world.process.check() == "task ended: start again"
