"""How fast we ask."""

import asyncio

import pytest

from lws.client.limiter import RateLimiter
from lws.client.requests import Priority
from tests.unit.client.support import OwnClock, settle


async def admitted(limiter: RateLimiter, name: str, order: list[str]) -> None:
    """Notes when it is this one's turn."""
    await limiter.admit(Priority.LEASE if name.startswith("lease") else Priority.NORMAL)
    order.append(name)


async def test_a_burst_passes_at_once_and_the_rest_at_the_rate() -> None:
    clock, order = OwnClock(is_instant=False), list[str]()
    limiter = RateLimiter(qps=10, burst=2, clock=clock)
    tasks = [asyncio.create_task(admitted(limiter, f"r{i}", order)) for i in range(5)]
    await settle()
    assert order == ["r0", "r1"]
    await clock.advance(0.1)
    assert order == ["r0", "r1", "r2"]
    await clock.advance(0.2)
    assert order == ["r0", "r1", "r2", "r3", "r4"]
    await asyncio.gather(*tasks)


async def test_the_lease_passes_a_queue_of_a_thousand() -> None:
    clock, order = OwnClock(is_instant=False), list[str]()
    limiter = RateLimiter(qps=1, burst=1, clock=clock)
    tasks = [asyncio.create_task(admitted(limiter, f"r{i}", order)) for i in range(1000)]
    await settle()
    await admitted(limiter, "lease", order)
    assert order == ["r0", "lease"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_leases_token_is_paid_by_those_who_come_after() -> None:
    clock = OwnClock()
    limiter = RateLimiter(qps=10, burst=1, clock=clock)
    await limiter.admit(Priority.LEASE)
    await limiter.admit(Priority.NORMAL)
    assert clock.slept == [pytest.approx(0.1)]


async def test_who_gives_up_waiting_gives_its_token_back() -> None:
    clock = OwnClock(is_instant=False)
    limiter = RateLimiter(qps=1, burst=1, clock=clock)
    await limiter.admit(Priority.NORMAL)
    waiting = asyncio.create_task(limiter.admit(Priority.NORMAL))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await clock.advance(1)
    await limiter.admit(Priority.NORMAL)


async def test_a_pause_does_not_save_up_more_than_a_burst() -> None:
    clock = OwnClock()
    limiter = RateLimiter(qps=100, burst=3, clock=clock)
    clock.seconds += 3600
    for _ in range(4):
        await limiter.admit(Priority.NORMAL)
    assert clock.slept == [pytest.approx(0.01)]


async def test_a_rate_of_zero_is_no_limit() -> None:
    clock = OwnClock()
    limiter = RateLimiter(qps=0, burst=0, clock=clock)
    for _ in range(1000):
        await limiter.admit(Priority.NORMAL)
    assert clock.slept == []
