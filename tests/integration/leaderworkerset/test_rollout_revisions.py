"""The record of a set's templates: kept, put away, brought back, deleted by hand."""

import pytest

from harness import kwok, pods
from tests.integration.leaderworkerset.manifests import pods_in
from tests.integration.leaderworkerset.worlds import REVISIONS, World

pytestmark = [pytest.mark.timeout(300)]

_FIRST_GROUP = {"sample-0", "sample-0-1"}


def _update(world: World, image: str) -> str:
    """Update to it; the key of its revision."""
    world.push(image)
    world.settle()
    (key,) = set(world.keys().values())
    return key


def test_a_template_of_long_ago_is_brought_back_with_its_key(world: World) -> None:
    world.create(replicas=1, size=1)
    (first,) = world.revisions()
    second = _update(world, "serve:2")
    third = _update(world, "serve:3")
    assert set(world.revisions()) == {third}
    assert set(world.revisions(retired=True)) == {first, second}
    with world.watched(ceiling=1) as seen:
        assert _update(world, "serve:1") == first
    assert seen.creations() == pods_in([0], size=1)
    active, retired = world.revisions(), world.revisions(retired=True)
    assert set(active) == {first}
    assert set(retired) == {second, third}
    assert active[first]["revision"] == 4 > max(one["revision"] for one in retired.values())


@pytest.mark.parametrize("limit", [0, 1])
def test_no_more_revisions_are_kept_than_the_limit(world: World, limit: int) -> None:
    world.create(replicas=1, size=1, spec={"revisionHistoryLimit": limit})
    keys = [*world.revisions(), *(_update(world, f"serve:{number}") for number in (2, 3, 4))]
    world.until(
        lambda: list(world.revisions(retired=True)) == keys[3 - limit : 3],
        what="the older ones are gone",
    )
    assert set(world.revisions()) == {keys[3]}


def test_a_revision_that_a_group_is_of_is_not_put_away(world: World) -> None:
    world.create(replicas=2, partition=1, spec={"revisionHistoryLimit": 0})
    (first,) = world.revisions()
    second = _canary(world, "serve:2")
    third = _canary(world, "serve:3")
    world.rest()
    assert {first, third} <= set(world.revisions())
    assert second not in world.keys().values()


def _canary(world: World, image: str) -> str:
    world.push(image)
    world.settle()
    return world.keys()[1]


def test_a_revision_that_a_pod_on_its_way_out_is_of_is_not_put_away(world: World) -> None:
    world.create(replicas=2)
    (first,) = world.revisions()
    pods.annotate(world.kube, world.namespace, "sample-1-1", **{kwok.STUCK: "yes"})
    world.change({"replicas": 1})
    world.until(
        lambda: world.pods.live().keys() == _FIRST_GROUP | {"sample-1-1"}, what="one is stuck"
    )
    world.push("serve:2")
    world.until(lambda: world.images() == {"serve:1": 1, "serve:2": 2}, what="it is updated")
    world.until(lambda: world.is_true("Available"), what="and ready")
    world.rest()
    assert first in world.revisions()
    pods.force_delete(world.kube, world.namespace, "sample-1-1")
    world.settle()
    assert first in world.revisions(retired=True)


def test_a_revision_deleted_by_hand_comes_back_with_its_key_and_rolls_nothing(
    world: World,
) -> None:
    world.create(replicas=2)
    (key,) = world.revisions()
    old = world.revisions()[key]["metadata"]
    with world.watched(floor=2, ceiling=2) as seen:
        world.kube.delete(REVISIONS, old["name"], world.namespace)
        world.until(
            lambda: world.revisions()[key]["metadata"]["uid"] != old["uid"], what="it is back"
        )
        world.settle()
    assert not seen.creations()
    with world.watched(floor=1, ceiling=2) as seen:
        _update(world, "serve:2")
        assert _update(world, "serve:1") == key
    assert seen.creations() == pods_in([0, 0, 1, 1])


def test_all_revisions_deleted_in_mid_update_stop_nothing(world: World) -> None:
    world.create(replicas=3)
    with world.watched(floor=2, ceiling=3) as seen:
        world.push("serve:2", hold=True)
        world.until(lambda: world.taken("serve:2") == {2}, what="one group is on its way")
        world.until(lambda: len(world.revisions()) == 2, what="two revisions")
        for revision in world.revisions().values():
            world.kube.delete(REVISIONS, revision["metadata"]["name"], world.namespace)
        world.settle(meanwhile=world.releasing(0, 1, 2))
    assert seen.creations() == seen.deletions() == pods_in(range(3))
