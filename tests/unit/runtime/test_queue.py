"""Keys are folded, served in turn, never twice at once, and forgotten by nobody."""

import asyncio

import pytest

from lws.runtime.backoff import Backoff
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.queue import QueueShutDown, WorkQueue


def queue_on(clock: VirtualClock, metrics: Metrics | None = None) -> WorkQueue[str]:
    backoff = Backoff(base=1, cap=300, jitter=0)
    return WorkQueue(clock=clock, backoff=backoff, metrics=metrics, name="test")


async def test_a_burst_of_events_about_a_key_is_one_pass() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    for _ in range(100):
        queue.add("a")
        clock.advance(0.0001)
    assert await queue.get() == "a"
    assert clock.monotonic() == pytest.approx(0.02)
    assert len(queue) == 0


async def test_the_fold_time_counts_from_the_first_event_and_is_not_extended() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add("a")
    await clock.sleep(0.015)
    queue.add("a")
    assert await queue.get() == "a"
    assert clock.monotonic() == pytest.approx(0.02)


async def test_a_key_that_is_added_during_its_pass_comes_again_after_it() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add("a")
    await queue.get()
    queue.add("a")
    second = asyncio.create_task(queue.get())
    await clock.run_for(10)
    assert not second.done()
    queue.done("a")
    assert await second == "a"


async def test_a_key_that_is_added_all_the_time_starves_nobody() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add("busy")
    queue.add("quiet")
    served = []
    for _ in range(3):
        key = await queue.get()
        served.append(key)
        queue.add("busy")
        queue.done(key)
    assert served == ["busy", "quiet", "busy"]


async def test_the_earlier_of_two_wishes_wins() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add_after("a", 60)
    queue.add_after("a", 5)
    queue.add_after("a", 30)
    await queue.get()
    assert clock.monotonic() == 5
    queue.done("a")
    assert not queue._waiting
    assert not queue._again


async def test_a_getter_that_waits_for_a_late_key_is_woken_by_an_earlier_one() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add_after("late", 60)
    getter = asyncio.create_task(queue.get())
    await clock.run_for(1)
    queue.add("early")
    assert await getter == "early"
    assert clock.monotonic() == pytest.approx(1.02)
    assert await queue.get() == "late"
    assert clock.monotonic() == 60


async def test_retries_back_off_until_the_key_is_forgotten() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    assert [queue.retry("a") for _ in range(4)] == [1, 2, 4, 8]
    assert queue.failures("a") == 4
    queue.forget("a")
    assert queue.retry("a") == 1
    assert queue.retry("b", at_least=7) == 7


def test_backoff_is_capped_and_jitter_only_shortens_it() -> None:
    backoff = Backoff(base=0.005, cap=300, jitter=0.5)
    assert backoff.delay(0, 0.0) == 0.005
    assert backoff.delay(1, 0.5) == pytest.approx(0.0075)
    assert backoff.delay(10_000, 0.0) == 300
    assert backoff.delay(10_000, 0.999) > 150


async def test_several_getters_get_different_keys() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    getters = [asyncio.create_task(queue.get()) for _ in range(3)]
    await clock.settle()
    for key in "abc":
        queue.add(key)
    assert sorted(await asyncio.gather(*getters)) == ["a", "b", "c"]


async def test_a_getter_that_is_cancelled_when_woken_passes_the_key_on() -> None:
    clock = VirtualClock(autojump=False)
    queue = queue_on(clock)
    first, second = (asyncio.create_task(queue.get()) for _ in range(2))
    await clock.settle()
    queue.add("a")
    await clock.settle()
    clock.advance(0.02)
    await asyncio.sleep(0)  # the timer rings and wakes the first
    first.cancel()
    await clock.settle()
    assert first.cancelled()
    assert second.done()


async def test_shutting_down_hands_out_what_is_ready_and_then_ends() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add("ready")
    queue.add_after("late", 60)
    clock.advance(1)
    queue.shut_down()
    queue.add("refused")
    assert await queue.get() == "ready"
    with pytest.raises(QueueShutDown):
        await queue.get()


async def test_shutting_down_wakes_those_who_wait() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    queue.add_after("late", 60)
    getters = [asyncio.create_task(queue.get()) for _ in range(2)]
    await clock.settle()
    queue.shut_down()
    results = await asyncio.gather(*getters, return_exceptions=True)
    assert [type(result) for result in results] == [QueueShutDown, QueueShutDown]


async def test_moving_a_key_forward_again_and_again_leaves_no_heap_behind() -> None:
    clock = VirtualClock()
    queue = queue_on(clock)
    for seconds in range(10_000, 0, -1):
        queue.add_after("a", seconds)
    assert len(queue._heap) < 100


async def test_what_dashboards_read_is_counted() -> None:
    clock, metrics = VirtualClock(), Metrics()
    queue = queue_on(clock, metrics)

    def value(family: str) -> float:
        return metrics.value(family, name="test")

    queue.add("a")
    queue.add("b")
    await clock.sleep(0.5)
    assert value("workqueue_depth") == 2
    await queue.get()
    await clock.sleep(3)
    queue.retry("a")
    queue.done("a")
    assert value("workqueue_depth") == 1
    assert value("workqueue_adds_total") == 3
    assert value("workqueue_retries_total") == 1
    assert value("workqueue_queue_duration_seconds_sum") == pytest.approx(0.5)
    assert value("workqueue_work_duration_seconds_sum") == pytest.approx(3)
