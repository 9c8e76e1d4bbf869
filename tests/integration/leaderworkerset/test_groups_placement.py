"""Where the pods of a group run: exclusive topologies of groups and of subgroups."""

import pytest

from harness import pods
from harness.nodes import RACK, node
from tests.integration.leaderworkerset.groups import (
    annotation,
    comes_to_rest,
    fail,
    label,
    make,
    names_of,
    require_once,
    worker_set,
)
from tests.integration.leaderworkerset.manifests import PREFIX
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]

_EXCLUSIVE = {f"{PREFIX}exclusive-topology": RACK}


def _racks(world: World, *names: str) -> set[str]:
    """Where these pods are."""
    rack_of = {
        found["metadata"]["name"]: found["metadata"]["labels"].get(RACK, "none")
        for found in world.kube.items("nodes")
    }
    return {rack_of[world.pods.live()[name]["spec"]["nodeName"]] for name in names}


def test_a_group_is_in_one_domain_and_no_two_share_one(world: World) -> None:
    make(world, replicas=4, annotations=_EXCLUSIVE)
    racks = [_racks(world, *names_of(group)) for group in range(4)]
    assert [len(rack) for rack in racks] == [1, 1, 1, 1]
    assert len(set.union(*racks)) == 4
    for group in range(4):
        selector = worker_set(world, group)["spec"]["template"]["spec"]["nodeSelector"]
        assert selector == {RACK: next(iter(racks[group]))}


def test_a_recreated_group_is_in_one_domain_of_its_own_again(world: World) -> None:
    make(world, replicas=3, annotations=_EXCLUSIVE)
    with world.watched() as seen:
        fail(world, "sample-1-2")
        world.until(lambda: seen.created("sample-1-2") == 1, what="the group is recreated")
        world.settle()
        require_once(seen, 1)
    racks = [_racks(world, *names_of(group)) for group in range(3)]
    assert [len(rack) for rack in racks] == [1, 1, 1]
    assert len(set.union(*racks)) == 3


def test_more_groups_than_domains_wait_and_the_others_run(world: World) -> None:
    make(world, replicas=5, size=2, annotations=_EXCLUSIVE, ready=False)
    world.until(lambda: len(world.ready()) == 4, what="as many as there are domains")
    comes_to_rest(world)
    waiting = next(iter(set(range(5)) - world.ready()))
    assert not worker_set(world, waiting), "no workers before the leader has a node"
    world.change({"replicas": 4})
    world.until(lambda: len(world.leaders()) == 4, what="scaled down")


def test_a_node_without_the_label_is_told_and_the_workers_wait_for_it(world: World) -> None:
    name = world.namespace
    machine = node(name, {})
    machine["spec"] = {"taints": [{"key": name, "effect": "NoSchedule"}]}
    world.kube.create(machine)
    tolerations = [{"key": name, "operator": "Exists", "effect": "NoSchedule"}]
    here = {"kubernetes.io/hostname": name}
    spec = {"tolerations": tolerations, "nodeSelector": here}
    key = "topology.test.lws/absent"
    # The scheduler asks for the key as well, unless it has no say.
    make(
        world,
        annotations={f"{PREFIX}exclusive-topology": key},
        both={"spec": spec},
        leader={"spec": {"nodeName": name}},
        ready=False,
    )
    world.until(lambda: world.events("MissingTopology"), what="told")
    (event,) = world.events("MissingTopology")
    assert event["type"] == "Warning"
    assert f"Node {name} of leader pod sample-0 has no label {key}" in event["note"]
    comes_to_rest(world)
    assert not worker_set(world, 0)
    world.kube.patch("nodes", name, {"metadata": {"labels": {key: "here"}}})
    pods.annotate(world.kube, world.namespace, "sample-0", look="again")
    world.settle()
    assert worker_set(world, 0)["spec"]["template"]["spec"]["nodeSelector"] == {**here, key: "here"}
    world.kube.delete("nodes", name)


def test_a_users_own_affinity_stays(world: World) -> None:
    terms = [
        {"topologyKey": RACK, "labelSelector": {"matchLabels": {"app": "nothing-like-it"}}},
    ]
    own = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    make(world, replicas=2, annotations=_EXCLUSIVE, both={"spec": {"affinity": own}})
    affinity = world.pods.live()["sample-0"]["spec"]["affinity"]
    required = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms[0] in required
    assert len(required) == 2
    assert len(affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]) == 1


def test_subgroups_are_each_in_a_domain_of_their_own(world: World) -> None:
    policy = {"subGroupPolicy": {"subGroupSize": 2}}
    annotations = {f"{PREFIX}subgroup-exclusive-topology": RACK}
    make(world, size=5, annotations=annotations, template=policy)
    live = world.pods.live()
    assert [label(live[pod], "subgroup-index") for pod in names_of(0, size=5)] == [
        *("0", "0", "0", "1", "1")
    ]
    first, second = names_of(0, size=5)[:3], names_of(0, size=5)[3:]
    assert len(_racks(world, *first)) == len(_racks(world, *second)) == 1
    assert _racks(world, *first) != _racks(world, *second)
    assert len({label(live[pod], "subgroup-key") for pod in first}) == 1
    assert all(annotation(live[pod], "subgroup-size") == "2" for pod in (*first, *second))


def test_a_leader_that_is_excluded_is_in_no_subgroup(world: World) -> None:
    policy = {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}
    annotations = {f"{PREFIX}subgroup-exclusive-topology": RACK}
    make(world, size=5, annotations=annotations, template={"subGroupPolicy": policy})
    live = world.pods.live()
    assert [label(live[pod], "subgroup-index") for pod in names_of(0, size=5)] == [
        *(None, "0", "0", "1", "1")
    ]
    assert "affinity" not in live["sample-0"]["spec"]
    first, second = names_of(0, size=5)[1:3], names_of(0, size=5)[3:]
    assert len(_racks(world, *first)) == len(_racks(world, *second)) == 1
    assert _racks(world, *first) != _racks(world, *second)
