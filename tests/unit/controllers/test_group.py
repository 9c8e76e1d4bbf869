"""One pass over one group: what it asks of the server before it makes anything."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lws.client.errors import NotFound
from lws.controllers.group import STALE_SECONDS, GroupController
from lws.executor.families import GroupKey
from lws.planner.pods.snapshot import GroupSnapshot
from tests.unit.planner.pods.worlds import NAMESPACE, a_group, a_pod

KEY = GroupKey(NAMESPACE, "lws", 0)


@dataclass
class World:
    """What the caches show, what the server has, and what was done."""

    snapshot: GroupSnapshot
    pod: dict[str, Any] | None = None
    asked: int = 0
    made: list[Any] = field(default_factory=list)

    def group(self, key: GroupKey, **_: Any) -> GroupSnapshot:
        return self.snapshot

    async def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        self.asked += 1
        if self.pod is None:
            raise NotFound("there is no such pod")
        return {"metadata": self.pod}

    async def strands(self, _: Any, strands: Any) -> list[Any]:
        self.made += strands
        return []

    async def reconcile(self) -> float | None:
        whole: Any = self
        controller = GroupController(families=whole, performer=whole, client=whole)
        return await controller.reconcile(KEY)


def without_workers() -> GroupSnapshot:
    """The StatefulSet of this very leader was there, and is gone."""
    return replace(a_group(), statefulset=None, workers=())


@pytest.mark.parametrize(
    "pod",
    [
        None,
        {"uid": "another-life"},
        {"uid": "lws-0-uid", "deletionTimestamp": "2026-08-01T10:00:00Z"},
    ],
    ids=["gone", "replaced", "being deleted"],
)
async def test_nothing_is_made_for_a_leader_that_is_gone_before_the_cache_knows(
    pod: dict[str, Any] | None,
) -> None:
    world = World(without_workers(), pod)
    assert await world.reconcile() == STALE_SECONDS
    assert world.made == []


async def test_workers_that_were_taken_from_a_leader_that_lives_are_made_again() -> None:
    world = World(without_workers(), {"uid": "lws-0-uid"})
    assert await world.reconcile() is None
    assert len(world.made) == 1


async def test_the_first_workers_of_a_leader_cost_no_question() -> None:
    world = World(a_group(statefulset=None, workers=(), leader=a_pod()))
    await world.reconcile()
    assert world.asked == 0
    assert len(world.made) == 1


async def test_a_group_that_is_whole_costs_no_question() -> None:
    world = World(a_group())
    await world.reconcile()
    assert (world.asked, world.made) == (0, [])
