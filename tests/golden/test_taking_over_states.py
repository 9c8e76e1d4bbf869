"""Taken over in every state of an update: it goes on within its bounds, and that is all."""

from dataclasses import dataclass
from functools import cache

import pytest

from lws.api import names
from lws.client import resources
from lws.executor.families import GroupKey
from lws.planner.actions import Apply, Delete
from lws.planner.meaning import differing_fields
from lws.planner.pods.group import plan_group
from tests.golden.life import Life, living
from tests.golden.states import LWS, Group, State, states, world_in
from tests.golden.test_taking_over import World
from tests.golden.test_taking_over_live import (
    at_rest_from_here,
    everything,
    is_ready,
    keys,
    leaders,
)

OLD, BROKEN, NEW = Group.OLD, Group.OLD_BROKEN, Group.NEW
STARTING, GONE = Group.NEW_STARTING, Group.GONE
KEY = "79b5bf6cc8"
STATES = states()


@dataclass(frozen=True, slots=True)
class Taken:
    """What the first pass writes."""

    writes: tuple[Apply | Delete, ...]
    document: dict[str, object]

    @property
    def applied(self) -> Apply | None:
        """Of the leader StatefulSet."""
        return next((one for one in self.writes if isinstance(one, Apply)), None)

    @property
    def deleted(self) -> set[int]:
        """Groups whose leader is deleted."""
        return {int(one.name.rpartition("-")[2]) for one in self.writes if isinstance(one, Delete)}


@cache
def taken(state: State) -> Taken:
    world = World(world_in(state))
    (key,) = world.sets()
    planned = world.plan(key)
    writes = [one for strand in planned.strands for one in strand]
    for facts in world.families.facts(key):
        snapshot = world.families.group(GroupKey(*key, facts.index))
        assert snapshot is not None
        assert plan_group(snapshot) == (), "no group gets another child"
    assert planned.restart_deletes == ()
    assert planned.wanted == KEY
    kept = tuple(one for one in writes if isinstance(one, Apply | Delete))
    return Taken(kept, dict(world.snapshot(key).document))


@pytest.mark.parametrize("state", STATES, ids=str)
def test_no_template_is_changed_and_the_bounds_are_kept(state: State) -> None:
    found = taken(state)
    partition = state.partition
    if found.applied is not None:
        spec = found.applied.body["spec"]
        template = {"template": spec["template"]}
        live = {"template": found.document["spec"]["template"]}  # type: ignore[index]
        assert differing_fields(template, live, kind="StatefulSetSpec") == []
        labels = found.applied.body["metadata"]["labels"]
        assert labels[names.REVISION_KEY] == KEY
        assert state.replicas <= spec["replicas"] <= state.replicas + state.surge
        partition = spec["updateStrategy"].get("rollingUpdate", {}).get("partition", partition)
        assert partition <= max(state.partition, state.replicas)
    _assert_serving(state, found, partition=partition)


def _assert_serving(state: State, found: Taken, *, partition: int) -> None:
    """As many groups are ready as before, or as may be missing; and no more are in flight."""
    serving = [
        group.is_ready and not (group is OLD and index >= state.partition)
        for index, group in enumerate(state.groups)
    ]
    newly = {
        index
        for index, group in enumerate(state.groups)
        if group is OLD and partition <= index < state.partition
    }
    assert found.deleted <= {
        index
        for index, group in enumerate(state.groups)
        if group in (OLD, BROKEN) and (index >= state.partition or group is BROKEN)
    }
    kept = len(state.groups)
    if found.applied is not None:
        kept = found.applied.body["spec"]["replicas"]
    after = sum(one and index not in newly and index < kept for index, one in enumerate(serving))
    assert after >= min(sum(serving), state.replicas - state.unavailable)
    in_flight = sum(
        not group.is_ready and index >= state.partition for index, group in enumerate(state.groups)
    )
    if newly:
        assert len(newly) + in_flight <= state.surge + state.unavailable


def test_there_are_worlds_in_which_it_waits_and_worlds_in_which_it_goes_on() -> None:
    moved = [state for state in STATES if taken(state).writes]
    assert len(STATES) > 100
    assert 0.3 * len(STATES) < len(moved) < 0.9 * len(STATES)


LIVED = (
    State((OLD, OLD, OLD, NEW), 3),
    State((OLD, OLD, OLD, STARTING), 3),
    State((OLD, OLD, GONE, NEW), 2),
    State((OLD, OLD, NEW, NEW, STARTING, STARTING), 2, surge=2, unavailable=0),
    State((OLD, OLD, OLD, OLD, NEW), 4, surge=1, unavailable=0),
    State((BROKEN, OLD, NEW, NEW), 2),
    State((OLD, OLD, OLD, NEW), 2),
    State((NEW, NEW, NEW, NEW, NEW), 0, surge=1, unavailable=0),
    State((OLD, STARTING, NEW, NEW, NEW), 1, surge=1, unavailable=1),
)


@pytest.mark.parametrize("state", LIVED, ids=str)
async def test_it_goes_on_to_its_end(state: State) -> None:
    async with living(world_in(state)) as life:
        before, template = life.pods(), life.templates()[LWS]
        least = min(
            sum(group.is_ready for group in state.groups), state.replicas - state.unavailable
        )
        await life.start_operator()

        def look() -> None:
            ready = sum(is_whole(life, pod) for pod in leaders(life, LWS))
            assert ready >= least, (ready, least)
            assert len(life.pods()) <= 2 * (state.replicas + state.surge)

        await life.until(
            lambda: (
                keys(life, LWS) == {KEY: state.replicas}
                and len(leaders(life, LWS)) == state.replicas
            ),
            seconds=600,
            look=look,
        )
        kept = {name for name, uid in life.pods().items() if before.get(name) == uid}
        expected = {
            f"{LWS}-{index}{worker}"
            for index, group in enumerate(state.groups[: state.replicas])
            if group.is_new
            for worker in ("", "-1")
        }
        assert kept == expected, "a group that was new already is not made anew"
        assert life.templates()[LWS] == template
        assert [
            one.path for one in life.writes if one.method == "POST" and "revis" in one.path
        ] == []
        await at_rest_from_here(life)


def is_whole(life: Life, leader: dict[str, object]) -> bool:
    """Leader and worker are ready."""
    name = leader["metadata"]["name"]  # type: ignore[index]
    pods = {pod["metadata"]["name"]: pod for pod in life.all(resources.PODS)}
    worker = pods.get(f"{name}-1")
    return is_ready(leader) and worker is not None and is_ready(worker)


async def test_one_that_waits_for_what_is_starting_writes_nothing_meanwhile() -> None:
    state = State((OLD, OLD, OLD, STARTING), 3)
    async with living(world_in(state)) as life:
        await life.start_operator()
        before = everything(life)
        await life.clock.sleep(2.0)
        assert list(map(str, life.writes)) == []
        assert everything(life).keys() == before.keys()
