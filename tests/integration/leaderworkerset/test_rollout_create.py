"""The first start of a set, and its scale while no update runs."""

import json
from functools import partial

import pytest

from tests.integration.leaderworkerset.manifests import pods_in
from tests.integration.leaderworkerset.worlds import SETS, World

pytestmark = [pytest.mark.timeout(300)]


def test_a_first_create_with_partition_and_surge_makes_no_extra_groups(world: World) -> None:
    with world.watched(ceiling=3) as seen:
        world.create(replicas=3, partition=2, surge=2)
        world.settle()
    assert seen.creations() == pods_in([0, 1, 2])
    assert not seen.deletions()
    assert len(set(world.keys().values())) == 1


def _is_scaled(world: World, replicas: int) -> bool:
    return bool(world.lws()["spec"]["replicas"] == replicas)


def test_kubectl_scales_a_set_up_down_and_to_nothing(world: World) -> None:
    world.create(replicas=2)
    for replicas in (4, 1, 0, 2):
        before = set(world.leaders())
        fewer, more = sorted((len(before), replicas))
        with world.watched(floor=fewer, ceiling=more) as seen:
            world.plane.kubectl(
                "scale", "lws/sample", f"--replicas={replicas}", "-n", world.namespace
            )
            world.until(partial(_is_scaled, world, replicas), what="scaled")
            world.settle()
        after = set(range(replicas))
        assert seen.creations() == pods_in(after - before)
        assert seen.deletions() == pods_in(before - after)
        scale = world.kube.get(SETS, "sample", world.namespace, subresource="scale")
        assert scale["status"]["replicas"] == replicas


def test_the_scale_subresource_selects_the_leaders(world: World) -> None:
    world.create(replicas=3)
    path = f"{world.kube.resource(SETS).path(world.namespace, 'sample')}/scale"
    scale = json.loads(world.plane.kubectl("get", "--raw", path))
    chosen = world.kube.items("pods", world.namespace, selector=scale["status"]["selector"])
    assert {pod["metadata"]["name"] for pod in chosen} == {"sample-0", "sample-1", "sample-2"}
