"""What is remembered of statuses between passes."""

import math
from typing import Any

from lws.api.kinds import Kind
from lws.api.meta import ObjectMeta
from lws.base.ids import UID
from lws.controllers.statuses import Statuses
from lws.executor.perform import Family
from lws.runtime.clock import VirtualClock

KEY = "one"
META = ObjectMeta(name="one", namespace="ns", uid=UID("uid"))


class World:
    """Takes what is written, or refuses it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.written: list[Any] = []
        self.refusal: Any = None
        performer: Any = self
        self.statuses: Statuses[str] = Statuses(
            kind=Kind.LEADER_WORKER_SET, performer=performer, clock=self.clock
        )

    async def strand(self, _: Family, actions: Any) -> Any:
        self.written += actions
        return self.refusal

    async def write(self) -> Any:
        family = Family((KEY,), ("ns", KEY))
        return await self.statuses.write(
            KEY, family=family, meta=META, fields={"replicas": 1}, events=()
        )

    def known(self) -> tuple[float, float]:
        timing = self.statuses.timing(KEY)
        return timing.age, timing.unsaid


async def test_of_a_status_that_was_never_written_nothing_is_known() -> None:
    assert World().known() == (math.inf, 0)


async def test_the_age_is_that_of_the_last_write() -> None:
    world = World()
    assert await world.write() is None
    (patch,) = world.written
    assert (patch.subresource, patch.body, patch.uid) == (
        "status",
        {"status": {"replicas": 1}},
        "uid",
    )
    await world.clock.run_for(3)
    assert world.known() == (3, 0)


async def test_what_is_put_off_is_unsaid_from_the_first_time() -> None:
    world = World()
    world.statuses.put_off(KEY)
    await world.clock.run_for(2)
    world.statuses.put_off(KEY)
    await world.clock.run_for(1)
    assert world.known() == (math.inf, 3)
    await world.write()
    assert world.known() == (0, 0)


async def test_what_went_back_to_what_stands_is_unsaid_no_more() -> None:
    world = World()
    world.statuses.put_off(KEY)
    await world.clock.run_for(2)
    world.statuses.stands(KEY)
    await world.clock.run_for(2)
    world.statuses.put_off(KEY)
    assert world.known() == (math.inf, 0)


async def test_a_write_that_was_refused_leaves_it_unsaid() -> None:
    world = World()
    world.refusal = "no"
    assert await world.write() == "no"
    await world.clock.run_for(2)
    assert world.known() == (math.inf, 2)


async def test_what_is_gone_is_forgotten() -> None:
    world = World()
    await world.write()
    world.statuses.forget(KEY)
    assert world.known() == (math.inf, 0)
