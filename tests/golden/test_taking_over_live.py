"""The operator started on golden worlds that live: nothing restarts, and rollouts go on."""

from collections import Counter

import pytest

from lws.api import names
from lws.client import resources
from lws.client.requests import PatchType
from lws.client.resources import Resource
from tests.golden.life import Life, living
from tests.golden.worlds import Document, load

AT_REST = (
    "lws-plain",
    "lws-leader-template",
    "lws-unique-per-replica",
    "lws-subgroups",
    "lws-exclusive",
    "lws-canary-held",
    "ds-at-rest",
    "ds-slices",
)
PLACE = {"nowhere": "x"}
"""The label that the new revisions of the worlds in mid-update wait for."""
OURS: tuple[Resource, ...] = (
    resources.STATEFULSETS,
    resources.SERVICES,
    resources.CONTROLLERREVISIONS,
    resources.LEADERWORKERSETS,
    resources.DISAGGREGATEDSETS,
    resources.PODS,
)


def everything(life: Life) -> dict[tuple[str, str], str]:
    """Every object, by kind and name: its resourceVersion."""
    return {
        (resource.kind, one["metadata"]["name"]): one["metadata"]["resourceVersion"]
        for resource in OURS
        for one in life.all(resource)
    }


@pytest.mark.parametrize("world", AT_REST)
async def test_a_world_at_rest_is_not_touched(world: str) -> None:
    async with living(load(world)) as life:
        await life.clock.sleep(30.0)
        before = everything(life)
        await life.start_operator()
        await life.clock.sleep(600.0)
        assert list(map(str, life.writes)) == []
        assert everything(life) == before


async def test_an_update_that_waits_for_its_surge_is_left_waiting() -> None:
    async with living(load("lws-mid-update-surge")) as life:
        before, templates = life.pods(), life.templates()
        await life.start_operator()
        await life.clock.sleep(600.0)
        assert list(map(str, life.writes)) == []
        assert (life.pods(), life.templates()) == (before, templates)


def leaders(life: Life, lws: str) -> list[Document]:
    return [
        pod
        for pod in life.all(resources.PODS)
        if pod["metadata"]["labels"].get(names.NAME) == lws
        and pod["metadata"]["labels"].get(names.WORKER_INDEX) == "0"
    ]


def is_ready(pod: Document) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return "deletionTimestamp" not in pod["metadata"] and any(
        one["type"] == "Ready" and one["status"] == "True" for one in conditions
    )


def keys(life: Life, lws: str) -> Counter[str]:
    """Ready leaders by revision."""
    return Counter(
        pod["metadata"]["labels"][names.REVISION_KEY] for pod in leaders(life, lws) if is_ready(pod)
    )


def statefulset(life: Life, name: str) -> Document:
    return next(one for one in life.all(resources.STATEFULSETS) if one["metadata"]["name"] == name)


async def test_an_update_whose_surge_finds_room_goes_on_within_its_bounds_and_ends() -> None:
    async with living(load("lws-mid-update-surge")) as life:
        template = life.templates()["surging"]
        await life.start_operator()
        await life.label_nodes(PLACE)
        fewest = [4]

        def look() -> None:
            fewest.append(sum(keys(life, "surging").values()))
            assert 4 <= statefulset(life, "surging")["spec"]["replicas"] <= 6

        await life.until(
            lambda: (
                keys(life, "surging") == {"758b5cccfc": 4} and len(leaders(life, "surging")) == 4
            ),
            seconds=300,
            look=look,
        )
        assert min(fewest) == 4
        assert life.templates()["surging"] == template
        assert _created(life) == []
        await at_rest_from_here(life)


async def test_a_held_canary_goes_on_when_its_partition_is_lowered() -> None:
    async with living(load("lws-canary-held")) as life:
        before, template = life.pods(), life.templates()["canary"]
        await life.start_operator()
        await patch(life, "canary", {"partition": 0})
        await life.until(
            lambda: len(keys(life, "canary")) == 1 and keys(life, "canary").total() == 4,
            seconds=300,
            look=lambda: None,
        )
        kept = {name: uid for name, uid in life.pods().items() if before.get(name) == uid}
        assert sorted(kept) == ["canary-2", "canary-2-1", "canary-3", "canary-3-1"]
        assert life.templates()["canary"] == template
        assert _created(life) == []
        await at_rest_from_here(life)


async def test_roles_in_the_middle_of_an_update_are_rolled_to_its_end_in_step() -> None:
    async with living(load("ds-mid-update")) as life:
        templates = {name: one for name, one in life.templates().items() if name.count("-") == 3}
        await life.start_operator()
        await life.label_nodes(PLACE)
        fewest = {"prefill": 2, "decode": 3}

        def look() -> None:
            for role in fewest:
                ready = sum(
                    keys(life, f"pd-0-{key}-{role}").total() for key in ("f0650f18", "b60b9b30")
                )
                fewest[role] = min(fewest[role], ready)
            for name, template in life.templates().items():
                assert templates.get(name, template) == template

        def is_over() -> bool:
            sets = life.all(resources.LEADERWORKERSETS)
            ready = {one["metadata"]["name"]: one["status"].get("readyReplicas") for one in sets}
            return ready == {"pd-0-b60b9b30-prefill": 2, "pd-0-b60b9b30-decode": 3}

        await life.until(is_over, seconds=600, look=look)
        assert fewest == {"prefill": 2, "decode": 3}
        await at_rest_from_here(life)


async def at_rest_from_here(life: Life) -> None:
    """Once all is told, nothing more is written."""
    await life.clock.sleep(30.0)
    told = len(life.writes)
    await life.clock.sleep(300.0)
    assert list(map(str, life.writes[told:])) == []


async def patch(life: Life, name: str, rolling: Document) -> None:
    await life.plane.server.api.patch(
        resources.LEADERWORKERSETS,
        {"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": rolling}}},
        patch_type=PatchType.MERGE,
        name=name,
        namespace="golden",
    )


def _created(life: Life) -> list[str]:
    """Revisions that were made anew: an update that is only gone on with records none."""
    return [one.path for one in life.writes if one.method == "POST" and "revisions" in one.path]
