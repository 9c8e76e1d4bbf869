"""Whatever happens on the way to the API server, there are never two leaders; and when it stops
happening, there is one."""

import asyncio
import contextlib
from collections.abc import Callable

import hypothesis.strategies as st
from hypothesis import given, settings
from structlog.testing import capture_logs

from lws.base.errors import LwsError
from lws.client.errors import TransportError
from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.runtime.election import LeaderElector, LeadershipLost
from lws.runtime.metrics import Metrics
from tests.unit.runtime.fake_leases import LeaseApi, Line

METRICS = Metrics()
FAULTS = ["none", "none", "down", "slow", "lost_answer", "late", "hang"]


class Candidate:
    """Runs for office again after each loss, as a restarted pod does, on a machine whose wall clock
    is anywhere."""

    def __init__(self, api: LeaseApi, clock: VirtualClock, identity: str) -> None:
        self.api = api
        self.clock = clock
        self.identity = identity
        self.line = Line(api)
        self.line.fault = self.bend
        self.fault = "none"
        self.lives = 0
        self.late: set[asyncio.Task[None]] = set()
        self.elector = self.new_elector()
        self.task = asyncio.create_task(self.run())

    def new_elector(self) -> LeaderElector:
        self.lives += 1
        return LeaderElector(
            client=self.line,
            clock=self.clock,
            name="lease",
            namespace="system",
            identity=f"{self.identity} {self.lives}",
            metrics=METRICS,
        )

    async def run(self) -> None:
        while True:
            with contextlib.suppress(LeadershipLost):
                await self.elector.run()
            await self.clock.sleep(1)
            self.elector = self.new_elector()

    async def bend(self, request: Request, answer: Callable[[], bytes]) -> bytes:
        if self.fault == "down":
            raise TransportError("no route")
        if self.fault == "hang":
            await self.clock.sleep(1000)
        if self.fault == "late":  # the request arrives, long after we gave it up
            task = asyncio.create_task(self.arrive_late(answer))
            self.late.add(task)
            task.add_done_callback(self.late.discard)
            await self.clock.sleep(1000)
        body = answer()
        if self.fault == "lost_answer":
            raise TransportError("connection reset")
        if self.fault == "slow":
            await self.clock.sleep(4 * self.clock.random())
        return body

    async def arrive_late(self, answer: Callable[[], bytes]) -> None:
        await self.clock.sleep(20 * self.clock.random())
        try:
            answer()
        except LwsError:
            return


Step = tuple[int, str, float]
STEPS = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=1),
        st.sampled_from([*FAULTS, "release", "crash"]),
        st.sampled_from([0.5, 3.0, 9.0, 12.0, 20.0]),
    ),
    max_size=12,
)


async def elect(steps: list[Step], seed: int) -> None:
    api, clock = LeaseApi(), VirtualClock(seed=seed)
    candidates = [Candidate(api, clock, name) for name in ("one", "two")]
    for number, fault, seconds in steps:
        candidate = candidates[number]
        if fault == "release":
            await candidate.elector.release()
        elif fault == "crash":
            candidate.task.cancel()
            await clock.settle()
            candidate.elector = candidate.new_elector()
            candidate.task = asyncio.create_task(candidate.run())
        else:
            candidate.fault = fault
        await watch(candidates, clock, seconds)
    for candidate in candidates:
        candidate.fault = "none"
    await watch(candidates, clock, 60)
    assert sum(candidate.elector.is_leader for candidate in candidates) == 1
    assert not any(candidate.task.done() for candidate in candidates)


async def watch(candidates: list[Candidate], clock: VirtualClock, seconds: float) -> None:
    """Look at every moment at which something can change."""
    end = clock.monotonic() + seconds
    while (left := end - clock.monotonic()) > 0:
        step = clock.next_timer
        await clock.run_for(min(left, step if step is not None else left))
        leaders = [one.elector.is_leader for one in candidates]
        assert sum(leaders) <= 1, "two leaders"
        if leaders.count(True) and candidates[0].api.lease is None:
            raise AssertionError("a leader without a lease")


@settings(max_examples=40, deadline=None)
@given(steps=STEPS, seed=st.integers(min_value=0, max_value=1000))
def test_there_are_never_two_leaders(steps: list[Step], seed: int) -> None:
    with capture_logs():
        asyncio.run(elect(steps, seed))
