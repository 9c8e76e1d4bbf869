"""However a set fares, its status is late by a few seconds at most, and at rest it is right.

A set is changed at random moments: groups come, go, get ready and unready, the spec is scaled, the
process starts anew, writes are refused. A pass follows every change, and every wake-up that a pass
asked for; nothing else does.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws.api import names
from lws.api.kinds import Kind
from lws.controllers.statuses import Statuses
from lws.executor.perform import Family
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.planner.timing import LATEST_SECONDS
from tests.unit.planner.leaderworkerset.worlds import (
    KEY,
    OLD_KEY,
    a_set,
    at_rest,
    facts,
    statefulset_document,
)

ROLE = {
    "apiVersion": names.DS_API_VERSION,
    "kind": names.DS_KIND,
    "name": "pd",
    "uid": "ds-uid",
    "controller": True,
}
GROUPS = 40
RETRY_SECONDS = 0.25
"""How soon a pass that failed is repeated: its key's backoff."""
REFUSALS = 3
BOUND = LATEST_SECONDS + (REFUSALS + 1) * RETRY_SECONDS + 0.001


@dataclass
class Clock:
    """What a pass sees of time."""

    seconds: float = 0.0

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class World:
    """One set, its status as the API server has it, and when the next pass is due."""

    is_role: bool
    replicas: int = 3
    generation: int = 1
    ready: int = 0
    updated: int = GROUPS
    status: dict[str, Any] = field(default_factory=dict)
    refused: int = 0
    clock: Clock = field(default_factory=Clock)
    wake: float = math.inf
    differs_since: float | None = None
    writes: int = 0

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Another process: nothing is remembered, everything is looked at."""
        whole: Any = self
        self.statuses: Statuses[str] = Statuses(
            kind=Kind.LEADER_WORKER_SET, performer=whole, clock=whole.clock
        )
        self.differs_since = None

    def snapshot(self) -> LeaderWorkerSetSnapshot:
        meta = {"generation": self.generation, "ownerReferences": [ROLE] if self.is_role else []}
        lws = a_set(replicas=self.replicas, metadata=meta, status=self.status)
        groups = [
            facts(index, ready=index < self.ready, key=KEY if index < self.updated else OLD_KEY)
            for index in range(self.replicas)
        ]
        document = statefulset_document(
            replicas=self.replicas, status={"observedGeneration": 2, "replicas": self.replicas}
        )
        shown = at_rest(lws, document=document, groups=groups)
        return replace(shown, now=1_000_000.0 + self.clock.seconds)

    def planned(self) -> StatusPlan:
        return plan_status(
            self.snapshot(),
            wanted=KEY,
            restarts=(),
            trouble=Trouble(),
            timing=self.statuses.timing("one"),
        )

    async def strand(self, _: Family, actions: Any) -> Any:
        if self.refused:
            self.refused -= 1
            return "refused"
        self.status |= msgspec.to_builtins(actions[0].body["status"])
        self.writes += 1
        return None

    async def look(self) -> None:
        """A pass, as the controller makes it."""
        self.wake = math.inf
        planned = self.planned()
        if planned.status is None:
            self.statuses.stands("one")
            self.differs_since = None
            return
        if self.differs_since is None:
            self.differs_since = self.clock.seconds
        if planned.wait:
            self.statuses.put_off("one")
            self.wake = self.clock.seconds + planned.wait
            return
        failure = await self.statuses.write(
            "one",
            family=Family((), ("", "")),
            meta=self.snapshot().lws.metadata,
            fields=planned.status,
            events=(),
        )
        if failure is None:
            self.differs_since = None
        else:
            self.wake = self.clock.seconds + RETRY_SECONDS

    async def pass_until(self, moment: float) -> None:
        """Every wake-up that comes before; none of them finds a status that is too late."""
        while self.wake <= moment and self.wake < math.inf:
            self.clock.seconds = self.wake
            await self.look()
            self.require_in_time()
        if moment < math.inf:
            self.clock.seconds = moment

    def require_in_time(self) -> None:
        if self.differs_since is not None:
            assert self.clock.seconds - self.differs_since <= BOUND


async def scale(world: World, number: int) -> None:
    world.replicas, world.generation = number, world.generation + 1


async def get_ready(world: World, number: int) -> None:
    world.ready = number


async def update(world: World, number: int) -> None:
    world.updated = number


async def restart(world: World, _: int) -> None:
    world.restart()


async def refuse(world: World, number: int) -> None:
    """Before a difference is there: so that one is refused REFUSALS times at most."""
    if world.differs_since is None:
        world.refused = number % (REFUSALS + 1)


CHANGES = (scale, get_ready, get_ready, get_ready, update, restart, refuse)
histories = st.lists(
    st.tuples(
        st.floats(min_value=0, max_value=8),
        st.sampled_from(CHANGES),
        st.integers(min_value=0, max_value=GROUPS),
    ),
    max_size=40,
)


@pytest.mark.parametrize("is_role", [False, True], ids=["a set", "a role's set"])
@given(history=histories)
@settings(deadline=None, max_examples=100)
async def test_a_status_is_never_late_by_more_than_a_few_seconds(
    *, is_role: bool, history: list[Any]
) -> None:
    world = World(is_role=is_role)
    await world.look()
    for seconds, change, number in history:
        await world.pass_until(world.clock.seconds + seconds)
        await change(world, number)
        await world.look()
        world.require_in_time()
    stopped = world.clock.seconds
    await world.pass_until(math.inf)
    assert world.clock.seconds <= stopped + BOUND
    assert world.planned().status is None
    writes = world.writes
    await world.look()
    assert (world.writes, world.wake) == (writes, math.inf)
    assert world.status.get("readyReplicas", 0) == min(world.ready, world.replicas)


@pytest.mark.parametrize("seconds", [0.1, 1.0, 10.0])
async def test_a_set_that_comes_up_slowly_costs_no_more_writes_than_time_allows(
    seconds: float,
) -> None:
    """A group each so many seconds: never more than one write a group, and none for nothing."""
    world = World(is_role=False, replicas=GROUPS)
    await world.look()
    for number in range(1, GROUPS + 1):
        await world.pass_until(world.clock.seconds + seconds)
        world.ready = number
        await world.look()
    await world.pass_until(math.inf)
    assert world.status["readyReplicas"] == GROUPS
    assert world.writes <= min(GROUPS + 2, GROUPS * seconds + 3)
