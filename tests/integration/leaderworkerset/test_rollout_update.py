"""Updates that nothing disturbs: every group is replaced once, within the budgets."""

import pytest

from harness.kube import Json
from harness.nodes import RACK
from tests.integration.leaderworkerset.manifests import PREFIX, pods_in, pods_of
from tests.integration.leaderworkerset.worlds import SETS, World

pytestmark = [pytest.mark.timeout(300), pytest.mark.both_gates]

_NODE = "kubernetes.io/hostname"
_BUDGETS = {  # maxSurge, maxUnavailable, groups added, groups that may be missing
    "default": (None, None, 0, 1),
    "surge 1": (1, 0, 1, 0),
    "unavailable 2": (0, 2, 0, 2),
    "surge 2 and unavailable 1": (2, 1, 2, 1),
    "half and a quarter": ("50%", "25%", 2, 1),
    "surge of all": ("100%", 0, 4, 0),
}


@pytest.mark.parametrize(
    ("surge", "unavailable", "added", "missing"), _BUDGETS.values(), ids=list(_BUDGETS)
)
def test_an_update_replaces_every_group_once_within_its_budgets(
    world: World, surge: int | str | None, unavailable: int | str | None, added: int, missing: int
) -> None:
    world.create(replicas=4, surge=surge, unavailable=unavailable)
    old = set(world.keys().values())
    with world.watched(floor=4 - missing, ceiling=4 + added) as seen:
        world.push("serve:2", ready_after="1s")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(4 + added))
    assert seen.bounds.fewest_ready == 4 - missing, "the budget is used"
    assert seen.bounds.most_there == 4 + added
    assert world.images() == {"serve:2": 8}
    assert old.isdisjoint(world.keys().values())


def test_surge_groups_are_given_back_before_the_last_group_is_ready(world: World) -> None:
    world.create(replicas=3, surge=2, unavailable=1)
    with world.watched(floor=2, ceiling=5) as seen:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.taken("serve:2") == {0, 1, 2} == world.leaders().keys(),
            what="one group is on its way and the surge is gone",
            meanwhile=world.releasing(1, 2, 3, 4),
        )
        assert world.ready() == {1, 2}
        world.settle(meanwhile=world.releasing(0))
    assert seen.creations() == seen.deletions() == pods_in(range(5))


def test_percentages_that_come_out_as_none_count_as_one_unavailable(world: World) -> None:
    world.create(replicas=10, size=1, surge="0%", unavailable="10%")
    scale = {"spec": {"replicas": 4}}
    world.kube.patch(SETS, "sample", scale, world.namespace, subresource="scale")
    world.until(lambda: len(world.leaders()) == 4, what="scaled down")
    with world.watched(floor=3, ceiling=4) as seen:
        world.push("serve:2")
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(4), size=1)


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1), (1, 2)])
def test_a_change_of_size_is_an_update(world: World, before: int, after: int) -> None:
    world.create(replicas=3, size=before)
    with world.watched(floor=2, ceiling=3) as seen:
        world.change({"leaderWorkerTemplate": {"size": after}})
        world.settle()
    assert seen.deletions() == pods_in(range(3), size=before)
    assert seen.creations() == pods_in(range(3), size=after)


def test_an_exclusive_topology_that_is_added_is_a_paced_update(world: World) -> None:
    world.create(replicas=4, size=1)
    first = world.keys()
    with world.watched(floor=3, ceiling=4) as seen:
        _place_by(world, _NODE)
    assert seen.creations() == seen.deletions() == pods_in(range(4), size=1)
    assert len(_nodes(world)) == 4
    with world.watched(floor=3, ceiling=4) as seen:
        _place_by(world, None)
    assert seen.creations() == seen.deletions() == pods_in(range(4), size=1)
    assert world.keys() == first


def test_another_exclusive_topology_is_a_paced_update(world: World) -> None:
    world.create(replicas=3, annotations={f"{PREFIX}exclusive-topology": RACK})
    with world.watched(floor=2, ceiling=3) as seen:
        _place_by(world, _NODE)
    assert seen.creations() == seen.deletions() == pods_in(range(3))
    assert len(_nodes(world)) == 3


def _place_by(world: World, topology: str | None) -> None:
    """Change the annotation, and wait for the update that this is."""
    old = set(world.keys().values())
    world.annotate(exclusive_topology=topology)
    world.until(lambda: old.isdisjoint(world.keys().values()), what="no group is of the old key")
    world.settle()


def _nodes(world: World) -> set[str]:
    """Where groups are; an AssertionError if one is on two nodes."""
    nodes: dict[str, str] = {}
    for pod in world.pods.live().values():
        group, node = pod["metadata"]["labels"][f"{PREFIX}group-index"], pod["spec"]["nodeName"]
        assert nodes.setdefault(group, node) == node, f"group {group} is on two nodes"
    return set(nodes.values())


def test_what_is_no_template_updates_nothing(world: World) -> None:
    world.create(replicas=2)
    revisions = set(world.revisions())
    with world.watched(floor=2, ceiling=2) as seen:
        world.roll(maxUnavailable=2, maxSurge=1, partition=1)
        world.change({"startupPolicy": "LeaderReady", "revisionHistoryLimit": 3})
        world.change({"leaderWorkerTemplate": {"maxGroupRestarts": 7}})
        world.until(
            lambda: world.statefulset()["spec"]["updateStrategy"]["rollingUpdate"]["partition"],
            what="the partition is taken over",
        )
        world.settle()
    assert not seen.creations()
    assert set(world.revisions()) == revisions


def test_another_way_to_write_a_template_updates_nothing(world: World) -> None:
    first = _with_container(ports=[{"containerPort": 80}], resources={"limits": {"cpu": "1"}})
    world.create(replicas=2, ready=False)
    world.change({"leaderWorkerTemplate": first})
    world.settle()
    same = _with_container(
        ports=[{"containerPort": 80, "protocol": "TCP"}],
        resources={"limits": {"cpu": "1000m"}, "requests": {}},
        env=[],
    )
    with world.watched(floor=2, ceiling=2) as seen:
        world.change({"leaderWorkerTemplate": same})
        world.settle()
    assert not seen.creations()
    assert len(world.revisions()) == 1


def _with_container(**fields: object) -> Json:
    template = pods_of()
    for part in ("leaderTemplate", "workerTemplate"):
        template[part]["spec"]["containers"][0] |= fields
    return template
