"""The loop runs passes, and a failing key is trouble for itself alone."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

import pytest
from structlog.testing import capture_logs

from lws.client.errors import Conflict, TooManyRequests, Unavailable
from lws.runtime.backoff import Backoff
from lws.runtime.clock import VirtualClock
from lws.runtime.controller import Controller, Unfinished
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics
from lws.runtime.queue import WorkQueue
from tests.unit.runtime.test_guard import Cache

Reconcile = Callable[[str], Awaitable[float | None]]


class World:
    """A controller on virtual time, and what its passes did."""

    def __init__(self, **arguments: Any) -> None:
        self.clock = VirtualClock()
        self.metrics = Metrics()
        self.queue: WorkQueue[str] = WorkQueue(
            clock=self.clock,
            backoff=Backoff(base=1, cap=300, jitter=0),
            metrics=self.metrics,
            name="test",
        )
        self.passes: list[tuple[str, float]] = []
        self.errors: dict[str, list[Exception]] = {}
        self.wake: float | None = None
        self.seconds = 0.0
        self.most_at_once = 0
        self.controller = Controller(
            name="test",
            queue=self.queue,
            reconcile=self.reconcile,
            clock=self.clock,
            metrics=self.metrics,
            **arguments,
        )
        self.task = asyncio.create_task(self.controller.run())

    async def reconcile(self, key: str) -> float | None:
        self.passes.append((key, round(self.clock.monotonic(), 2)))
        self.most_at_once = max(self.most_at_once, self.controller.in_flight)
        if self.seconds:
            await self.clock.sleep(self.seconds)
        if self.errors.get(key):
            raise self.errors[key].pop(0)
        return self.wake

    async def end(self) -> None:
        self.controller.stop()
        await self.task

    def results(self, result: str) -> float:
        name = "controller_runtime_reconcile_total"
        return self.metrics.value(name, controller="test", result=result)


async def test_a_pass_that_did_its_work_leaves_no_line_at_info() -> None:
    world = World()
    with capture_logs() as lines:
        world.queue.add("a")
        await world.clock.run_for(1000)
        await world.end()
    assert world.passes == [("a", 0.02)]
    assert lines == []
    assert world.results("success") == 1


async def test_a_pass_wakes_again_when_it_asked_to() -> None:
    world = World()
    world.wake = 60
    world.queue.add("a")
    await world.clock.run_for(100)
    assert world.passes == [("a", 0.02), ("a", 60.02)]
    assert world.results("requeue_after") == 2
    await world.end()


async def test_an_event_before_the_wake_time_leaves_only_one_later_pass() -> None:
    world = World()
    world.wake = 60
    world.queue.add("a")
    await world.clock.run_for(10)
    world.wake = None
    world.queue.add("a")
    await world.clock.run_for(1000)
    assert world.passes == [("a", 0.02), ("a", 10.02)]
    await world.end()


async def test_a_poisoned_key_backs_off_and_delays_nobody() -> None:
    world = World(concurrency=1)
    world.errors["poisoned"] = [KeyError("x")] * 100
    world.queue.add("poisoned")
    with capture_logs() as lines:
        for _ in range(100):
            world.queue.add("healthy")
            await world.clock.run_for(1)
        await world.end()
    healthy = [when for key, when in world.passes if key == "healthy"]
    assert healthy == [round(second + 0.02, 2) for second in range(100)]
    poisoned = [when for key, when in world.passes if key == "poisoned"]
    assert poisoned == [0.02, 1.02, 3.02, 7.02, 15.02, 31.02, 63.02]
    assert {line["event"] for line in lines} == {"pass failed by a mistake of ours"}
    assert all(line["exc_info"] for line in lines)
    assert world.metrics.value(
        "controller_runtime_reconcile_errors_total", controller="test"
    ) == len(poisoned)


async def test_a_backoff_that_has_grown_long_delays_nothing_that_has_a_time_of_its_own() -> None:
    world = World()
    world.errors["a"] = [Unfinished(Unavailable("away"), wake_after=10.0) for _ in range(9)]
    world.queue.add("a")
    await world.clock.sleep(60.0)
    times = [at for _, at in world.passes]
    assert max(later - sooner for sooner, later in itertools.pairwise(times)) == pytest.approx(10)
    assert times[1] - times[0] == pytest.approx(1)
    await world.end()


async def test_a_server_that_wants_to_hear_nothing_is_not_asked_for_what_has_a_time() -> None:
    world = World()
    busy = TooManyRequests("busy", retry_after=30.0)
    world.errors["a"] = [Unfinished(busy, wake_after=10.0)]
    world.queue.add("a")
    await world.clock.sleep(60.0)
    first, second = (at for _, at in world.passes)
    assert second - first == pytest.approx(30)
    await world.end()


async def test_success_makes_the_next_backoff_short_again() -> None:
    world = World()
    world.errors["a"] = [Unavailable(), Unavailable()]
    world.queue.add("a")
    await world.clock.run_for(10)
    assert [when for _, when in world.passes] == [0.02, 1.02, 3.02]
    assert world.queue.failures("a") == 0
    await world.end()


async def test_a_conflict_is_repeated_without_a_line() -> None:
    world = World()
    world.errors["a"] = [Conflict("changed")]
    world.queue.add("a")
    with capture_logs() as lines:
        await world.clock.run_for(10)
        await world.end()
    assert len(world.passes) == 2
    assert [line["log_level"] for line in lines] == ["debug"]
    assert world.results("requeue") == 1
    assert world.results("error") == 0


async def test_an_error_of_the_api_server_is_one_line_and_its_retry_after_is_kept() -> None:
    world = World()
    world.errors["a"] = [TooManyRequests(retry_after=30)]
    world.queue.add("a")
    with capture_logs() as lines:
        await world.clock.run_for(100)
        await world.end()
    assert [when for _, when in world.passes] == [0.02, 30.02]
    assert [(line["event"], line["log_level"]) for line in lines] == [("pass failed", "error")]
    assert "exc_info" not in lines[0]


async def test_no_more_passes_run_at_once_than_allowed_and_none_twice() -> None:
    world = World(concurrency=3)
    world.seconds = 5
    for number in range(10):
        world.queue.add(f"key {number}")
    await world.clock.run_for(1)
    for number in range(10):
        world.queue.add(f"key {number}")
    await world.clock.run_for(1000)
    assert world.most_at_once == 3
    assert len(world.passes) == 13  # those three that ran when it was added run again
    await world.end()


async def test_a_stop_lets_the_pass_in_flight_end_and_starts_no_other() -> None:
    world = World(concurrency=1)
    world.seconds = 5
    world.queue.add("a")
    world.queue.add("b")
    await world.clock.run_for(1)
    await world.end()
    assert world.passes == [("a", 0.02)]
    assert world.results("success") == 1
    assert world.clock.monotonic() == pytest.approx(5.02)


async def test_a_cancelled_run_lets_the_pass_in_flight_end_too() -> None:
    world = World()
    world.seconds = 5
    world.queue.add("a")
    await world.clock.run_for(1)
    world.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await world.task
    assert world.results("success") == 1


async def test_a_pass_that_hangs_is_cut_off_when_its_time_is_over() -> None:
    world = World(drain_seconds=10)
    world.seconds = 1e6
    world.queue.add("a")
    await world.clock.run_for(1)
    with capture_logs() as lines:
        await world.end()
    assert world.clock.monotonic() == 11
    assert lines[-1]["event"] == "passes cut off"
    assert world.controller.in_flight == 0


async def test_an_abort_cuts_off_at_once() -> None:
    world = World()
    world.seconds = 1e6
    world.queue.add("a")
    await world.clock.run_for(1)
    world.controller.abort()
    await world.task
    assert world.clock.monotonic() == 1
    assert world.results("success") == 0


async def test_a_queue_that_is_shut_down_ends_the_run() -> None:
    world = World()
    world.queue.add("a")
    await world.clock.run_for(1)
    world.queue.shut_down()
    await world.task
    assert len(world.passes) == 1


async def test_a_key_waits_while_the_cache_is_behind_our_write() -> None:
    guard, cache = Guard(), Cache()
    world = World(guard=guard)
    guard.wrote("a", cache, "7")
    world.queue.add("a")
    world.queue.add("b")
    await world.clock.run_for(3)
    assert world.passes == [("b", 0.02)]
    cache.last_seen = 7
    await world.clock.run_for(1.1)
    assert [key for key, _ in world.passes] == ["b", "a"]
    assert world.queue.failures("a") == 0
    assert world.results("error") == 0
    await world.end()


async def test_a_wait_for_the_cache_is_warned_of_once_and_goes_on() -> None:
    guard, cache = Guard(), Cache()
    world = World(guard=guard)
    guard.wrote("a", cache, "7")
    world.queue.add("a")
    with capture_logs() as lines:
        await world.clock.run_for(300)
    assert world.passes == []
    assert len(lines) == 1
    assert lines[0]["key"] == "a"
    polls = world.metrics.value("lws_reconcile_deferred_total", controller="test")
    assert 295 < polls < 315  # once a second, after the first few
    await world.end()


async def test_keys_of_one_family_wait_for_each_others_writes() -> None:
    def family_of(key: str) -> Hashable:
        return key.split("/")[0]

    guard, cache = Guard(), Cache()
    world = World(guard=guard, family_of=family_of)
    guard.wrote("set", cache, "7")
    for key in ("set/0", "set/1", "other/0"):
        world.queue.add(key)
    await world.clock.run_for(1)
    assert [key for key, _ in world.passes] == ["other/0"]
    await world.end()


async def test_a_key_without_a_family_is_a_failure_of_its_own() -> None:
    def family_of(key: str) -> Hashable:
        return {"good": "family"}[key]

    world = World(family_of=family_of)
    world.queue.add("bad")
    world.queue.add("good")
    with capture_logs():
        await world.clock.run_for(1)
        await world.end()
    assert [key for key, _ in world.passes] == ["good"]
