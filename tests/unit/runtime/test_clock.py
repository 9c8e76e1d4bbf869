"""Virtual time jumps, stands still, and lets nobody overtake."""

import asyncio

import pytest
import uvloop

from lws.runtime.clock import Deadline, RealClock, VirtualClock, unique_id


async def test_sleepers_wake_in_the_order_of_their_times_and_no_real_time_passes() -> None:
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    await asyncio.gather(sleeper("c", 3000), sleeper("a", 1), sleeper("b", 20))
    assert woken == [("a", 1), ("b", 20), ("c", 3000)]


async def test_time_stands_still_while_a_task_can_run() -> None:
    clock = VirtualClock()
    sleeper = asyncio.create_task(clock.sleep(1))
    for _ in range(100):
        await asyncio.sleep(0)
        assert clock.monotonic() == 0
    await sleeper
    assert clock.monotonic() == 1


async def test_without_autojump_time_passes_only_by_hand() -> None:
    clock = VirtualClock(autojump=False)
    sleeper = asyncio.create_task(clock.sleep(10))
    await clock.settle()
    clock.advance(9.5)
    await clock.settle()
    assert not sleeper.done()
    clock.advance(0.5)
    await clock.settle()
    assert sleeper.done()


async def test_run_for_lets_a_loop_of_short_sleeps_run_its_turns() -> None:
    clock = VirtualClock()
    moments: list[float] = []

    async def ticker() -> None:
        while True:
            await clock.sleep(2)
            moments.append(clock.monotonic())

    task = asyncio.create_task(ticker())
    await clock.run_for(7)
    assert moments == [2, 4, 6]
    assert clock.monotonic() == 7
    task.cancel()


async def test_settle_lets_work_be_done_and_no_time_pass() -> None:
    clock = VirtualClock()
    steps = 0

    async def work() -> None:
        nonlocal steps
        for _ in range(50):
            await asyncio.sleep(0)
            steps += 1
        await clock.sleep(1)
        steps += 1

    task = asyncio.create_task(work())
    await clock.settle()
    assert (steps, clock.monotonic()) == (50, 0)
    await task
    assert (steps, clock.monotonic()) == (51, 1)


async def test_two_that_settle_at_once_both_come_back() -> None:
    clock = VirtualClock()
    await asyncio.gather(clock.settle(), clock.settle(), clock.run_for(3), clock.sleep(2))


async def test_a_cancelled_sleeper_is_no_reason_to_jump() -> None:
    clock = VirtualClock()
    sleeper = asyncio.create_task(clock.sleep(1000))
    await clock.settle()
    sleeper.cancel()
    await clock.sleep(1)
    assert clock.monotonic() == 1


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two = VirtualClock(seed=7), VirtualClock(seed=7)
    assert [one.random() for _ in range(5)] == [two.random() for _ in range(5)]
    assert unique_id(one) == unique_id(two)
    assert len(unique_id(RealClock())) == 14


async def test_a_deadline_ends_what_takes_longer() -> None:
    clock = VirtualClock()
    with pytest.raises(TimeoutError):
        async with Deadline(clock, 5):
            await clock.sleep(6)
    assert clock.monotonic() == 5


async def test_a_deadline_leaves_alone_what_is_in_time() -> None:
    clock = VirtualClock()
    async with Deadline(clock, 5) as deadline:
        await clock.sleep(4)
    await clock.sleep(10)
    assert not deadline.is_expired


async def test_an_extended_deadline_counts_from_the_extension() -> None:
    clock = VirtualClock()

    async def work() -> None:
        async with Deadline(clock, 5) as deadline:
            for _ in range(4):
                await clock.sleep(3)
                deadline.extend(5)
            await clock.sleep(100)

    with pytest.raises(TimeoutError):
        await work()
    assert clock.monotonic() == 17


async def test_a_cancellation_from_outside_is_not_taken_for_the_deadline() -> None:
    clock = VirtualClock()

    async def work() -> None:
        async with Deadline(clock, 5):
            await clock.sleep(100)

    task = asyncio.create_task(work())
    await clock.settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_inner_of_two_deadlines_is_caught_inside() -> None:
    clock = VirtualClock()
    async with Deadline(clock, 10):
        with pytest.raises(TimeoutError):
            async with Deadline(clock, 1):
                await clock.sleep(100)
        await clock.sleep(1)
    assert clock.monotonic() == 2


async def test_both_of_two_deadlines_at_the_same_moment_count_as_the_outer() -> None:
    clock = VirtualClock()
    with pytest.raises(TimeoutError):
        async with Deadline(clock, 1), Deadline(clock, 1):
            await clock.sleep(100)
    await clock.sleep(1)


async def test_real_time_passes_by_itself() -> None:
    clock = RealClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before
    assert clock.now() > 1_700_000_000
    assert 0 <= clock.random() < 1


def test_nobody_wakes_too_soon_on_uvloop_either() -> None:
    clock = RealClock()

    async def overslept(seconds: float) -> float:
        start = clock.monotonic()
        await clock.sleep(seconds)
        return clock.monotonic() - start - seconds

    async def earliest() -> float:
        return min(await asyncio.gather(*(overslept(0.005 + n * 0.00037) for n in range(60))))

    assert uvloop.run(earliest()) >= 0
