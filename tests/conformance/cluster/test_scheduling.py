"""The scheduler: where pods go, and what it says of those that go nowhere."""

from typing import Any

import pytest

from tests.conformance.cluster.worlds.objects import pod
from tests.conformance.cluster.worlds.world import Json, World

ZONE, RACK = "topology.kubernetes.io/zone", "topology.test.lws/rack"
HOSTNAME = "kubernetes.io/hostname"


def needing(name: str, **resources: str) -> Json:
    """A pod with requests; short names of resources."""
    names = {"gpu": "nvidia.com/gpu"}
    wanted = {names.get(key, key): one for key, one in resources.items()}
    container = {
        "name": "main",
        "image": "app:1",
        "resources": {"requests": wanted, "limits": wanted},
    }
    return pod(name, containers=[container])


def affine(kind: str, key: str, labels: dict[str, str], **fields: Any) -> Json:
    """A required pod (anti-)affinity."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **fields}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_too_much_is_asked_of_every_node(world: World) -> None:
    world.create(needing("big", gpu="10001"))
    none = "0/8 nodes are available"
    assert _why(world, "big") == (
        f"{none}: 8 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption:"
        f" {none}: 8 Preemption is not helpful for scheduling."
    )


def test_the_condition_of_a_pod_that_has_no_place(world: World) -> None:
    world.create(needing("big", gpu="10001"))
    message = _why(world, "big")
    (condition,) = world.get("pods", "big")["status"]["conditions"]
    assert condition.pop("lastTransitionTime").endswith("Z")
    assert condition == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "observedGeneration": 1,
        "lastProbeTime": None,
    }


def test_the_condition_of_a_pod_that_has_its_place(world: World) -> None:
    made = pod("one")
    made["metadata"]["annotations"] = {"test.lws/hold": "yes"}
    world.create(made)
    _node(world, "one")
    world.settle()
    (condition,) = world.get("pods", "one")["status"]["conditions"]
    assert condition.pop("lastTransitionTime").endswith("Z")
    assert condition == {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
    }


def test_two_resources_are_short(world: World) -> None:
    world.create(needing("big", gpu="10001", cpu="10001", memory="101Ti"))
    none = "0/8 nodes are available"
    assert _why(world, "big").startswith(
        f"{none}: 8 Insufficient cpu, 8 Insufficient memory, 8 Insufficient nvidia.com/gpu. "
    )


def test_a_pod_goes_where_its_selector_says(world: World) -> None:
    world.create(pod("one", nodeSelector={RACK: "rack-2"}))
    assert _node(world, "one") in ("node-4", "node-5")


def test_a_selector_that_no_node_fulfils(world: World) -> None:
    world.create(pod("one", nodeSelector={RACK: "none"}))
    none = "0/8 nodes are available"
    assert _why(world, "one") == (
        f"{none}: 8 node(s) didn't match Pod's node affinity/selector. no new claims to"
        f" deallocate, preemption: {none}: 8 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    ("expression", "nodes"),
    [
        ({"key": RACK, "operator": "In", "values": ["rack-3"]}, {"node-6", "node-7"}),
        (
            {"key": RACK, "operator": "NotIn", "values": ["rack-0", "rack-1", "rack-2"]},
            {"node-6", "node-7"},
        ),
        ({"key": HOSTNAME, "operator": "In", "values": ["node-3"]}, {"node-3"}),
    ],
)
def test_node_affinity(world: World, expression: Json, nodes: set[str]) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    world.create(pod("one", affinity=affinity))
    assert _node(world, "one") in nodes


def test_affinity_to_a_pod_that_is_there(world: World) -> None:
    world.create(pod("first", labels={"role": "leader"}, nodeSelector={RACK: "rack-1"}))
    _node(world, "first")
    affinity = affine("podAffinity", RACK, {"role": "leader"})
    world.create(pod("second", affinity=affinity))
    assert _node(world, "second") in ("node-2", "node-3")


def test_affinity_to_a_pod_that_is_not_there_waits_for_it(world: World) -> None:
    affinity = affine("podAffinity", RACK, {"role": "leader"})
    world.create(pod("second", affinity=affinity))
    none = "0/8 nodes are available"
    assert _why(world, "second") == (
        f"{none}: 8 node(s) didn't match pod affinity rules. no new claims to deallocate,"
        f" preemption: {none}: 8 Preemption is not helpful for scheduling."
    )
    world.create(pod("first", labels={"role": "leader"}, nodeSelector={RACK: "rack-1"}))
    assert _node(world, "second") in ("node-2", "node-3")


def test_the_first_of_those_that_seek_each_other_goes_anywhere(world: World) -> None:
    affinity = affine("podAffinity", RACK, {"group": "a"})
    for name in ("one", "two", "three"):
        world.create(pod(name, labels={"group": "a"}, affinity=affinity))
    nodes = [_node(world, name) for name in ("one", "two", "three")]
    assert len({int(name[-1]) // 2 for name in nodes}) == 1


def test_affinity_only_looks_at_its_own_namespace(world: World) -> None:
    affinity = affine("podAffinity", RACK, {"app": "first"}, namespaces=["elsewhere"])
    world.create(pod("first"))
    _node(world, "first")
    world.create(pod("second", affinity=affinity))
    assert "didn't match pod affinity rules" in _why(world, "second")


def test_anti_affinity_spreads_until_there_is_no_place(world: World) -> None:
    affinity = affine("podAntiAffinity", RACK, {"group": "a"})
    for number in range(5):
        world.create(pod(f"one-{number}", labels={"group": "a"}, affinity=affinity))
    placed = [one for one in range(5) if _is_placed(world, f"one-{one}")]
    racks = {int(_node(world, f"one-{number}")[-1]) // 2 for number in placed}
    assert racks == {0, 1, 2, 3}
    (left,) = set(range(5)) - set(placed)
    none = "0/8 nodes are available"
    assert _why(world, f"one-{left}") == (
        f"{none}: 8 node(s) didn't match pod anti-affinity rules. no new claims to deallocate,"
        f" preemption: {none}: 8 No preemption victims found for incoming pod."
    )
    world.delete("pods", f"one-{placed[0]}")
    _node(world, f"one-{left}")


def test_others_do_not_want_a_pod_beside_them(world: World) -> None:
    selector = {"matchExpressions": [{"key": "group", "operator": "Exists"}]}
    term = {"topologyKey": "kubernetes.io/os", "labelSelector": selector}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    world.create(pod("first", labels={"x": "y"}, affinity=affinity))
    _node(world, "first")
    world.create(pod("second", labels={"group": "b"}))
    none = "0/8 nodes are available"
    assert _why(world, "second") == (
        f"{none}: 8 node(s) didn't satisfy existing pods anti-affinity rules. no new claims to"
        f" deallocate, preemption: {none}: 8 No preemption victims found for incoming pod."
    )
    world.delete("pods", "first")
    _node(world, "second")


def test_exclusive_groups_take_a_rack_each(world: World) -> None:
    for group in ("a", "b", "c", "d"):
        world.create(_exclusive(f"leader-{group}", group))
    racks = [int(_node(world, f"leader-{one}")[-1]) // 2 for one in ("a", "b", "c", "d")]
    assert sorted(racks) == [0, 1, 2, 3]
    for group in ("a", "b", "c", "d"):
        world.create(_exclusive(f"worker-{group}", group))
    assert [int(_node(world, f"worker-{one}")[-1]) // 2 for one in ("a", "b", "c", "d")] == racks
    world.create(_exclusive("leader-e", "e"))
    assert "didn't match pod anti-affinity rules" in _why(world, "leader-e")


def test_a_hard_spread_keeps_the_difference_small(world: World) -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"group": "a"}},
    }
    for number in range(6):
        spread = pod(f"one-{number}", labels={"group": "a"}, topologySpreadConstraints=[constraint])
        world.create(spread)
        _node(world, f"one-{number}")
    zones = [int(_node(world, f"one-{number}")[-1]) // 4 for number in range(6)]
    assert sorted(zones) == [0, 0, 0, 1, 1, 1]


def test_a_gated_pod_is_left_alone_until_its_gates_go(world: World) -> None:
    world.create(pod("one", schedulingGates=[{"name": "test.lws/gate"}]))
    world.settle()
    found = world.get("pods", "one")
    assert "nodeName" not in found["spec"]
    assert found["status"]["conditions"][0]["reason"] == "SchedulingGated"
    world.patch("pods", "one", {"spec": {"schedulingGates": None}})
    _node(world, "one")


def test_pods_of_another_scheduler_are_left_alone(world: World) -> None:
    world.create(pod("one", schedulerName="somebody-else"))
    world.settle()
    found = world.get("pods", "one")
    assert "nodeName" not in found["spec"]
    assert "conditions" not in found["status"]


def test_a_pod_may_share_no_host_port(world: World) -> None:
    def with_port(name: str) -> Json:
        container = {
            "name": "main",
            "image": "app:1",
            "ports": [{"containerPort": 80, "hostPort": 8123}],
        }
        return pod(name, containers=[container], nodeSelector={HOSTNAME: "node-0"})

    world.create(with_port("one"))
    _node(world, "one")
    world.create(with_port("two"))
    why = _why(world, "two")
    assert "1 node(s) didn't have free ports for the requested pod ports" in why
    assert "7 node(s) didn't match Pod's node affinity/selector" in why
    assert why.endswith(
        "0/8 nodes are available: 1 No preemption victims found for incoming pod,"
        " 7 Preemption is not helpful for scheduling."
    )


def test_the_scheduler_tells_by_events_too(world: World) -> None:
    world.create(pod("one"))
    node = _node(world, "one")
    world.create(needing("big", gpu="10001"))
    why = _why(world, "big")
    world.settle()
    told = {
        (one["reason"], one.get("message") or one.get("note"), one["type"])
        for one in world.items("events")
        if one["involvedObject"]["kind"] == "Pod"
    }
    space = world.namespace
    assert ("Scheduled", f"Successfully assigned {space}/one to {node}", "Normal") in told
    assert ("FailedScheduling", why, "Warning") in told


def _exclusive(name: str, group: str) -> Json:
    same = {"key": "group", "operator": "In", "values": [group]}
    other = {"key": "group", "operator": "NotIn", "values": [group]}
    exists = {"key": "group", "operator": "Exists"}
    rule = "requiredDuringSchedulingIgnoredDuringExecution"
    together = {"topologyKey": RACK, "labelSelector": {"matchExpressions": [same]}}
    apart = {"topologyKey": RACK, "labelSelector": {"matchExpressions": [exists, other]}}
    affinity = {"podAffinity": {rule: [together]}, "podAntiAffinity": {rule: [apart]}}
    return pod(name, labels={"group": group}, affinity=affinity)


def _is_placed(world: World, name: str) -> bool:
    world.settle()
    return bool(world.get("pods", name)["spec"].get("nodeName"))


def _node(world: World, name: str) -> str:
    world.until(lambda: world.get("pods", name)["spec"].get("nodeName"), what=f"{name} placed")
    node: str = world.get("pods", name)["spec"]["nodeName"]
    return node


def _why(world: World, name: str) -> str:
    world.until(lambda: _message(world, name), what=f"the scheduler says why not {name}")
    return _message(world, name)


def _message(world: World, name: str) -> str:
    for condition in world.get("pods", name)["status"].get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            assert condition["reason"] == "Unschedulable"
            message: str = condition["message"]
            return message
    return ""
