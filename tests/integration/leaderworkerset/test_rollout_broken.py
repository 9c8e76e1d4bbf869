"""Updates of which some group is broken: the others are updated all the same."""

import pytest

from tests.integration.leaderworkerset.manifests import pods_in
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.both_gates]


@pytest.mark.slow
def test_one_broken_old_group_does_not_stop_the_update_that_heals_it(world: World) -> None:
    world.create(replicas=4)
    world.break_group(1)
    with world.watched(floor=3, ceiling=4) as seen:
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(4))


@pytest.mark.slow
def test_a_broken_old_group_is_healed_while_surge_is_out(world: World) -> None:
    world.create(replicas=3, surge=1, unavailable=0)
    world.break_group(0)
    with world.watched(floor=2, ceiling=4) as seen:
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_a_fix_reaches_a_set_of_which_every_group_is_broken(world: World) -> None:
    world.create(replicas=3)
    for group in range(3):
        world.break_group(group)
    with world.watched(ceiling=3) as seen:
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(3))


def test_a_bad_revision_takes_no_more_groups_than_the_budget_and_the_fix_ends_it(
    world: World,
) -> None:
    world.create(replicas=4, unavailable=2)
    with world.watched(floor=2, ceiling=4) as seen:
        world.push("serve:bad", hold=True)
        world.until(lambda: world.groups_of("serve:bad") == {2, 3}, what="two groups are taken")
        world.rest()
        assert world.groups_of("serve:bad") == {2, 3}
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in([0, 1, 2, 2, 3, 3])


def test_a_broken_node_at_the_tail_leaves_the_others_to_be_updated(world: World) -> None:
    world.create(replicas=4, unavailable=2)
    with world.watched(floor=2, ceiling=4) as seen:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.ready() == {0, 1, 2} == world.groups_of("serve:2") - {3},
            what="all but the group on the broken node are updated",
            meanwhile=world.releasing(0, 1, 2),
        )
        world.rest()
        assert world.is_true("Progressing")
        world.settle(meanwhile=world.releasing(3))
    assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_a_surge_group_that_never_starts_does_not_stop_the_update(world: World) -> None:
    world.create(replicas=3, surge=1, unavailable=1)
    with world.watched(floor=2, ceiling=4) as seen:
        world.push("serve:2", hold=True)
        world.settle(meanwhile=world.releasing(0, 1, 2))
    assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_a_surge_group_that_the_quota_has_no_room_for_does_not_stop_the_update(
    world: World,
) -> None:
    world.create(replicas=3, surge=1, unavailable=1)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "full"},
        "spec": {"hard": {"pods": "6"}},
    }
    world.kube.create(quota, world.namespace)
    with world.watched(floor=2, ceiling=4) as seen:
        world.push("serve:2")
        world.settle()
    assert seen.deletions() - pods_in([3]) == pods_in(range(3))
    assert world.images() == {"serve:2": 6}
