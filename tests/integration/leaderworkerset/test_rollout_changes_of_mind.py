"""A user changes something while an update runs."""

from collections import Counter

import pytest

from harness import pods
from harness.watching import Recorder
from tests.integration.leaderworkerset.manifests import pods_in
from tests.integration.leaderworkerset.worlds import World

_TWICE = pods_in([0, 1, 1, 2, 2, 3, 3, 4, 4])
"""Four groups and a surge group of which all but one were replaced by the first update already."""

pytestmark = [pytest.mark.timeout(300), pytest.mark.both_gates]


def test_a_second_update_in_mid_update_with_surge_stays_within_the_budgets(world: World) -> None:
    world.create(replicas=4, surge=1, unavailable=1)
    with world.watched(floor=3, ceiling=5) as seen:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.taken("serve:2") == {1, 2, 3, 4} and {3, 4} <= world.ready(),
            what="two groups are updated and two are on their way",
            meanwhile=world.releasing(3, 4),
        )
        world.push("serve:3")
        world.settle(meanwhile=world.releasing(1, 2))
    _require_second_thoughts(seen)
    assert world.images() == {"serve:3": 8}


@pytest.mark.slow
def test_a_second_update_frees_the_groups_that_the_first_one_broke(world: World) -> None:
    world.create(replicas=4, surge=1, unavailable=1)
    with world.watched(floor=3, ceiling=5) as seen:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.taken("serve:2") == {1, 2, 3, 4} and {3, 4} <= world.ready(),
            what="two groups are updated and two are stuck",
            meanwhile=world.releasing(3, 4),
        )
        world.push("serve:3")
        world.settle()
    _require_second_thoughts(seen)


def _require_second_thoughts(seen: Recorder) -> None:
    """The surge group's second leader may be given back before its worker was made."""
    assert seen.creations() == seen.deletions()
    assert seen.creations() in (_TWICE, _TWICE - Counter(["sample-4-1"]))


def test_back_to_the_old_template_gives_the_old_key_and_leaves_the_rest_alone(
    world: World,
) -> None:
    world.create(replicas=4)
    first, revision = world.keys(), set(world.revisions())
    with world.watched(floor=3, ceiling=4) as seen:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.taken("serve:2") == {2, 3} and 3 in world.ready(),
            what="one group is updated and one is on its way",
            meanwhile=world.releasing(3),
        )
        world.push("serve:1")
        world.settle(meanwhile=world.releasing(2))
    assert seen.creations() == seen.deletions() == pods_in([2, 2, 3, 3])
    assert world.keys() == first
    assert set(world.revisions()) == revision


def test_back_from_a_bad_template_touches_only_what_it_has_taken(world: World) -> None:
    world.create(replicas=3)
    first = world.keys()
    with world.watched(floor=2, ceiling=3) as seen:
        world.push("serve:bad", hold=True)
        world.until(lambda: world.taken("serve:bad") == {2}, what="one group is taken")
        world.push("serve:1")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in([2, 2])
    assert world.keys() == first


_SCALES = {  # replicas, groups that are made, groups that go
    "up": (6, [0, 1, 2, 3, 4, 5], [0, 1, 2, 3]),
    "down": (2, [0, 1, 3], [0, 1, 2, 3, 3]),
    "to nothing": (0, [3], [0, 1, 2, 3, 3]),
}


@pytest.mark.parametrize(("replicas", "made", "gone"), _SCALES.values(), ids=list(_SCALES))
def test_a_set_is_scaled_in_mid_update(
    world: World, replicas: int, made: list[int], gone: list[int]
) -> None:
    world.create(replicas=4)
    with world.watched(floor=min(3, max(0, replicas - 1)), ceiling=max(4, replicas)) as seen:
        world.push("serve:2", hold=True)
        world.until(lambda: world.taken("serve:2") == {3}, what="one group is on its way")
        world.change({"replicas": replicas})
        world.settle(meanwhile=world.releasing(*range(6)))
    assert seen.creations() == pods_in(made)
    assert seen.deletions() == pods_in(gone)
    world.change({"replicas": 2})
    world.settle(meanwhile=world.releasing(*range(6)))
    assert world.images() == {"serve:2": 4}


def test_a_canary_goes_on_as_far_as_the_partition_lets_it(world: World) -> None:
    world.create(replicas=4, partition=3)
    for partition, image in ((3, "serve:2"), (1, "serve:2"), (0, "serve:2")):
        before = world.groups_of("serve:2")
        with world.watched(floor=3, ceiling=4) as seen:
            if partition == 3:
                world.push(image)
            world.roll(partition=partition)
            world.settle()
        taken = set(range(partition, 4)) - before
        assert seen.creations() == seen.deletions() == pods_in(taken)
        assert world.groups_of("serve:1") == set(range(partition))
    assert len(world.revisions()) == 1


def test_a_canary_with_surge_keeps_its_surge_until_it_goes_on(world: World) -> None:
    world.create(replicas=3, surge=1, unavailable=0, partition=2)
    with world.watched(floor=3, ceiling=4) as seen:
        world.push("serve:2")
        world.until(
            lambda: world.groups_of("serve:2") >= {2} and world.ready() >= {0, 1, 2},
            what="the canary is there",
        )
        world.rest()
        assert world.groups_of("serve:1") == {0, 1}
        world.roll(partition=0)
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_an_old_group_that_restarts_in_mid_update_comes_back_whole_and_old(world: World) -> None:
    world.create(replicas=3, size=2)
    old = world.keys()
    with world.watched(floor=1, ceiling=3) as seen:
        world.push("serve:2", hold=True, size=3)
        world.until(lambda: world.taken("serve:2") == {2}, what="one group is on its way")
        pods.fail_container(world.kube, world.namespace, "sample-0-1")
        world.until(
            lambda: seen.creations()["sample-0-1"] == 1 and 0 in world.ready(),
            what="group 0 is back",
        )
        world.rest()
        assert {0, 1} == world.groups_of("serve:1")
        assert world.keys()[0] == old[0]
        assert "sample-0-2" not in world.pods.live()
        world.settle(meanwhile=world.releasing(0, 1, 2))
    assert seen.deletions() == pods_in([0, 0, 1, 2])
    assert seen.creations() == pods_in([0]) + pods_in([0, 1, 2], size=3)
    assert len(world.events("RecreateGroup")) == 1


def test_a_paused_update_takes_no_group_until_it_is_resumed(world: World) -> None:
    world.create(replicas=3, spec={"paused": True})
    with world.watched(floor=3, ceiling=4) as seen:
        world.push("serve:2")
        world.until(lambda: world.is_true("Paused"), what="it says that it is paused")
        world.change({"replicas": 4})
        world.until(lambda: world.ready() == {0, 1, 2, 3}, what="it was scaled while paused")
        world.rest()
        assert world.groups_of("serve:1") >= {0, 1, 2}
        assert seen.creations() == pods_in([3])
        world.change({"paused": False})
        world.settle()
    assert seen.deletions() == pods_in([0, 1, 2])
    assert seen.creations() == pods_in([0, 1, 2, 3])
    assert world.condition("Paused")["status"] == "False"


def test_a_pause_in_mid_update_holds_the_groups_that_are_left(world: World) -> None:
    world.create(replicas=3)
    with world.watched(floor=2, ceiling=3) as seen:
        world.push("serve:2", hold=True)
        world.until(lambda: world.taken("serve:2") == {2}, what="one group is on its way")
        world.change({"paused": True})
        world.until(lambda: 2 in world.ready(), what="it ends", meanwhile=world.releasing(2))
        world.rest()
        assert world.groups_of("serve:1") == {0, 1}
        world.change({"paused": None})
        world.settle(meanwhile=world.releasing(0, 1))
    assert seen.creations() == seen.deletions() == pods_in(range(3))
