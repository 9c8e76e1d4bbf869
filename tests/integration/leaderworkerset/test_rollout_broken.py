"""Updates of which some group is broken: the others are updated all the same."""

import pytest

from tests.integration.leaderworkerset.manifests import NAME, PREFIX, pods_in, pods_of
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300), pytest.mark.both_gates]


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


def test_a_set_of_which_every_group_is_broken_is_updated_within_its_budget(world: World) -> None:
    """They cost no availability; but should the new revision be bad as well, it gets one only."""
    world.create(replicas=3)
    for group in range(3):
        world.break_group(group)
    with world.watched(ceiling=3) as seen:
        world.push("serve:2", hold=True)
        world.until(lambda: world.taken("serve:2") == {2}, what="one group is taken")
        world.rest()
        assert world.groups_of("serve:2") == {2}
        world.settle(meanwhile=world.releasing(0, 1, 2))
    assert seen.creations() == seen.deletions() == pods_in(range(3))


@pytest.mark.parametrize(("surge", "unavailable"), [(0, 2), (1, 1)], ids=["no surge", "surge"])
def test_a_bad_revision_takes_no_more_groups_than_the_budget_and_the_fix_ends_it(
    world: World, surge: int, unavailable: int
) -> None:
    world.create(replicas=4, surge=surge, unavailable=unavailable)
    bad = {4 + surge - 1, 4 + surge - 2}
    with world.watched(floor=4 - unavailable, ceiling=4 + surge) as seen:
        world.push("serve:bad", hold=True)
        world.until(lambda: world.taken("serve:bad") == bad, what="two groups are taken")
        world.rest()
        assert world.groups_of("serve:bad") == bad
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in([*range(4 + surge), *bad])


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


def test_a_surge_group_for_which_there_is_no_node_does_not_stop_the_update(world: World) -> None:
    """One pod a node and as many groups as nodes: what is freed may go to the surge group."""
    nodes = len(world.plane.nodes)
    world.create(replicas=nodes, size=1, surge=1, unavailable=1, ready=False)
    template = pods_of(image="serve:0")
    template["leaderTemplate"]["spec"]["affinity"] = _NODE_OF_ITS_OWN
    world.change({"leaderWorkerTemplate": template})
    world.settle()
    with world.watched(floor=nodes - 1, ceiling=nodes + 1) as seen:
        world.push("serve:2", size=1)
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(nodes + 1), size=1)


_NODE_OF_ITS_OWN = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {f"{PREFIX}name": NAME}},
            }
        ]
    }
}
