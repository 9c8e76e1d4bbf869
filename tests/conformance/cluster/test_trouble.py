"""What may befall containers, pods and nodes: the sandbox's own doing, in virtual time."""

from typing import Any

import pytest

from lws.sandbox.server.status import ApiStatus
from tests.conformance.cluster.worlds.objects import (
    pod,
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import Json

TOLERATED = 300
_PATIENT = {
    "key": "broken",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 30,
}


def fail(sandbox: SandboxWorld, name: str, **fields: Any) -> None:
    """A container of a pod ends."""
    sandbox.do(sandbox.cluster.fail_container(sandbox.namespace, name, **fields))


def start(sandbox: SandboxWorld, made: Json) -> None:
    """A pod that is ready."""
    sandbox.create(made)
    sandbox.until(lambda: _is_ready(sandbox, made["metadata"]["name"]), what="ready")


# Containers


def test_the_first_failure_of_a_container_is_followed_by_a_restart_at_once(
    sandbox: SandboxWorld,
) -> None:
    start(sandbox, pod("one"))
    since = len(sandbox.changes())
    fail(sandbox, "one", exit_code=137, reason="OOMKilled")
    sandbox.pass_time(0)
    main = _container(sandbox, "one")
    assert main["restartCount"] == 1
    assert main["lastState"]["terminated"]["exitCode"] == 137
    assert main["lastState"]["terminated"]["reason"] == "OOMKilled"
    assert _is_ready(sandbox, "one")
    ready = [_ready(one) for _, one in sandbox.changes()[since:]]
    assert ready == [False, True]


def test_further_failures_wait_longer_and_longer(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    for count, delay in enumerate((0, 10, 20, 40, 80, 160, 300, 300), start=1):
        fail(sandbox, "one", reason="Error", exit_code=1)
        sandbox.pass_time(max(0, delay - 1))
        if delay:
            waiting = _container(sandbox, "one")["state"]["waiting"]
            assert waiting["reason"] == "CrashLoopBackOff"
            assert waiting["message"].startswith(f"back-off {delay}s restarting failed")
            assert not _is_ready(sandbox, "one")
        sandbox.pass_time(2)
        assert _container(sandbox, "one")["restartCount"] == count
        assert _is_ready(sandbox, "one")


def test_a_container_that_ran_for_long_is_restarted_at_once_again(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    for _ in range(3):
        fail(sandbox, "one")
        sandbox.pass_time(60)
    sandbox.pass_time(600)
    fail(sandbox, "one")
    sandbox.pass_time(0)
    assert _is_ready(sandbox, "one")


def test_a_restarted_container_takes_its_time_to_be_ready(sandbox: SandboxWorld) -> None:
    made = pod("one")
    made["metadata"]["annotations"] = {"test.lws/ready-after": "5s"}
    start(sandbox, made)
    fail(sandbox, "one")
    sandbox.pass_time(4)
    assert not _is_ready(sandbox, "one")
    sandbox.pass_time(2)
    assert _is_ready(sandbox, "one")


@pytest.mark.parametrize(
    ("policy", "exit_code", "phase"),
    [
        ("Never", 1, "Failed"),
        ("Never", 0, "Succeeded"),
        ("OnFailure", 0, "Succeeded"),
        ("OnFailure", 1, "Running"),
        ("Always", 0, "Running"),
    ],
)
def test_the_restart_policy_decides(
    sandbox: SandboxWorld, policy: str, exit_code: int, phase: str
) -> None:
    start(sandbox, pod("one", restartPolicy=policy))
    fail(sandbox, "one", exit_code=exit_code, reason="Error")
    sandbox.pass_time(1)
    assert sandbox.get("pods", "one")["status"]["phase"] == phase


def test_a_pod_goes_on_while_another_container_runs(sandbox: SandboxWorld) -> None:
    containers = [{"name": "main", "image": "a"}, {"name": "side", "image": "b"}]
    start(sandbox, pod("one", restartPolicy="Never", containers=containers))
    fail(sandbox, "one", container="side", exit_code=1)
    sandbox.pass_time(1)
    assert sandbox.get("pods", "one")["status"]["phase"] == "Running"
    fail(sandbox, "one", container="main", exit_code=0)
    sandbox.pass_time(1)
    assert sandbox.get("pods", "one")["status"]["phase"] == "Failed"


def test_a_sidecar_and_an_init_container_count_their_restarts(sandbox: SandboxWorld) -> None:
    init = [
        {"name": "prepare", "image": "a"},
        {"name": "beside", "image": "b", "restartPolicy": "Always"},
    ]
    start(sandbox, pod("one", initContainers=init))
    for name in ("prepare", "beside"):
        fail(sandbox, "one", container=name, exit_code=1)
        sandbox.pass_time(1)
    counts = {
        one["name"]: one["restartCount"]
        for one in sandbox.get("pods", "one")["status"]["initContainerStatuses"]
    }
    assert counts == {"prepare": 1, "beside": 1}
    assert _is_ready(sandbox, "one")


def test_a_held_pod_s_init_container_may_fail(sandbox: SandboxWorld) -> None:
    made = pod("one", initContainers=[{"name": "prepare", "image": "a"}])
    made["metadata"]["annotations"] = {"test.lws/hold": "yes"}
    sandbox.create(made)
    sandbox.settle()
    fail(sandbox, "one", container="prepare", exit_code=1)
    status = sandbox.get("pods", "one")["status"]
    assert status["phase"] == "Pending"
    assert status["initContainerStatuses"][0]["restartCount"] == 1


def test_a_container_that_is_not_there_cannot_fail(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    with pytest.raises(LookupError, match="has no container other"):
        fail(sandbox, "one", container="other")
    with pytest.raises(ApiStatus, match='pods "two" not found'):
        fail(sandbox, "two")


# Pods


def test_a_failed_pod_stays_failed_and_its_set_replaces_it(sandbox: SandboxWorld) -> None:
    sandbox.create(stateful_set(replicas=2))
    sandbox.ready(2)
    old = sandbox.get("pods", "web-1")["metadata"]["uid"]
    sandbox.do(sandbox.cluster.fail_pod(sandbox.namespace, "web-1", reason="Lost"))
    sandbox.settle()
    found = sandbox.get("pods", "web-1")
    assert found["metadata"]["uid"] != old
    assert _is_ready(sandbox, "web-1")
    failed = [one for _, one in sandbox.changes() if one["status"].get("reason") == "Lost"]
    assert failed[0]["status"]["phase"] == "Failed"


def test_an_evicted_pod_says_so(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    sandbox.do(sandbox.cluster.evict(sandbox.namespace, "one"))
    status = sandbox.get("pods", "one")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    target = next(one for one in status["conditions"] if one["type"] == "DisruptionTarget")
    assert target["reason"] == "TerminationByKubelet"


def test_readiness_may_come_and_go(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    sandbox.do(sandbox.cluster.set_ready(sandbox.namespace, "one", False))
    sandbox.settle()
    assert not _is_ready(sandbox, "one")
    sandbox.do(sandbox.cluster.set_ready(sandbox.namespace, "one", True))
    sandbox.settle()
    assert _is_ready(sandbox, "one")


def test_a_pod_that_ends_slower_than_its_grace_is_killed(sandbox: SandboxWorld) -> None:
    made = pod("one", terminationGracePeriodSeconds=3)
    made["metadata"]["annotations"] = {"test.lws/terminate-after": "1m"}
    start(sandbox, made)
    sandbox.delete("pods", "one")
    sandbox.pass_time(2)
    assert sandbox.find("pods", "one") is not None
    sandbox.pass_time(2)
    assert sandbox.find("pods", "one") is None
    last = sandbox.changes()[-1][1]["status"]["containerStatuses"][0]
    assert last["state"]["terminated"]["exitCode"] == 137


def test_a_shorter_grace_that_comes_later_counts(sandbox: SandboxWorld) -> None:
    made = pod("one", terminationGracePeriodSeconds=60)
    made["metadata"]["annotations"] = {"test.lws/terminate-after": "2m"}
    start(sandbox, made)
    sandbox.delete("pods", "one")
    sandbox.pass_time(5)
    sandbox.delete("pods", "one", grace=10)
    sandbox.pass_time(4)
    assert sandbox.find("pods", "one") is not None
    sandbox.pass_time(2)
    assert sandbox.find("pods", "one") is None


# Nodes


def test_a_silent_node_is_lost_after_its_grace(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    node = sandbox.get("pods", "one")["spec"]["nodeName"]
    sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.pass_time(45)
    assert _condition(sandbox.get("nodes", node), "Ready")["status"] == "True"
    sandbox.pass_time(10)
    lost = sandbox.get("nodes", node)
    assert _condition(lost, "Ready")["status"] == "Unknown"
    assert _condition(lost, "Ready")["reason"] == "NodeStatusUnknown"
    taints = {(one["key"], one["effect"]) for one in lost["spec"]["taints"]}
    unreachable = "node.kubernetes.io/unreachable"
    assert taints == {(unreachable, "NoSchedule"), (unreachable, "NoExecute")}
    assert not _is_ready(sandbox, "one")


def test_pods_of_a_lost_node_are_deleted_after_what_they_tolerate(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    node = sandbox.get("pods", "one")["spec"]["nodeName"]
    sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.pass_time(50 + TOLERATED - 5)
    assert "deletionTimestamp" not in sandbox.get("pods", "one")["metadata"]
    sandbox.pass_time(10)
    found = sandbox.get("pods", "one")
    assert "deletionTimestamp" in found["metadata"]
    target = _condition(found, "DisruptionTarget")
    assert target["reason"] == "DeletionByTaintManager"
    sandbox.pass_time(600)
    assert sandbox.find("pods", "one") is not None, "nobody is there to end it"


def test_a_node_that_comes_back_ends_what_was_to_go(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    node = sandbox.get("pods", "one")["spec"]["nodeName"]
    sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.delete("pods", "one")
    sandbox.pass_time(100)
    assert sandbox.find("pods", "one") is not None
    sandbox.do(sandbox.cluster.revive_node(node))
    sandbox.pass_time(1)
    assert sandbox.find("pods", "one") is None
    back = sandbox.get("nodes", node)
    assert _condition(back, "Ready")["status"] == "True"
    assert not back["spec"].get("taints")


def test_pods_of_a_node_that_comes_back_in_time_are_ready_again(sandbox: SandboxWorld) -> None:
    start(sandbox, pod("one"))
    node = sandbox.get("pods", "one")["spec"]["nodeName"]
    sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.pass_time(60)
    assert not _is_ready(sandbox, "one")
    sandbox.do(sandbox.cluster.revive_node(node))
    sandbox.pass_time(1)
    assert _is_ready(sandbox, "one")
    sandbox.pass_time(400)
    assert "deletionTimestamp" not in sandbox.get("pods", "one")["metadata"]


def test_a_pod_that_was_called_ready_on_a_lost_node_stays_so_when_the_node_is_back(
    sandbox: SandboxWorld,
) -> None:
    """Its kubelet has nothing to correct, so nobody may doubt the pod once more after it."""
    start(sandbox, pod("one"))
    node = sandbox.get("pods", "one")["spec"]["nodeName"]
    sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.pass_time(60)
    sandbox.do(sandbox.cluster.set_ready(sandbox.namespace, "one", True))
    sandbox.pass_time(10)
    sandbox.do(sandbox.cluster.revive_node(node))
    sandbox.pass_time(60)
    assert _condition(sandbox.get("nodes", node), "Ready")["status"] == "True"
    assert _is_ready(sandbox, "one")


def test_pods_go_to_no_node_that_is_lost(sandbox: SandboxWorld) -> None:
    for node in sandbox.nodes[1:]:
        sandbox.do(sandbox.cluster.kill_node(node))
    sandbox.pass_time(60)
    for number in range(4):
        start(sandbox, pod(f"one-{number}"))
        assert sandbox.get("pods", f"one-{number}")["spec"]["nodeName"] == sandbox.nodes[0]
    sandbox.do(sandbox.cluster.kill_node(sandbox.nodes[0]))
    sandbox.pass_time(60)
    sandbox.create(pod("last"))
    sandbox.settle()
    message = _condition(sandbox.get("pods", "last"), "PodScheduled")["message"]
    assert message.startswith("0/8 nodes are available: 8 node(s) had untolerated taint(s).")


def test_a_cordoned_node_takes_nothing_new(sandbox: SandboxWorld) -> None:
    for node in sandbox.nodes:
        sandbox.patch("nodes", node, {"spec": {"unschedulable": True}})
    sandbox.create(pod("one"))
    sandbox.settle()
    message = _condition(sandbox.get("pods", "one"), "PodScheduled")["message"]
    assert message.startswith("0/8 nodes are available: 8 node(s) were unschedulable.")
    sandbox.patch("nodes", sandbox.nodes[3], {"spec": {"unschedulable": None}})
    sandbox.until(lambda: _is_ready(sandbox, "one"), what="ready")
    assert sandbox.get("pods", "one")["spec"]["nodeName"] == sandbox.nodes[3]


def test_a_taint_evicts_what_does_not_tolerate_it(sandbox: SandboxWorld) -> None:
    tolerations = [_PATIENT]
    start(sandbox, pod("short", nodeSelector={"kubernetes.io/hostname": "node-0"}))
    patient = pod(
        "long", nodeSelector={"kubernetes.io/hostname": "node-0"}, tolerations=tolerations
    )
    start(sandbox, patient)
    taint = {"key": "broken", "effect": "NoExecute"}
    sandbox.patch("nodes", "node-0", {"spec": {"taints": [taint]}})
    sandbox.pass_time(20)
    assert sandbox.find("pods", "short") is None
    assert sandbox.find("pods", "long") is not None
    sandbox.pass_time(20)
    assert sandbox.find("pods", "long") is None


def test_pods_of_a_node_that_is_removed_are_collected(sandbox: SandboxWorld) -> None:
    sandbox.create(with_pod_annotations(stateful_set(replicas=1), stuck="yes"))
    sandbox.ready(1)
    found = sandbox.get("pods", "web-0")
    node, old = found["spec"]["nodeName"], found["metadata"]["uid"]
    sandbox.delete("nodes", node)
    sandbox.pass_time(30)
    assert sandbox.get("pods", "web-0")["metadata"]["uid"] == old
    sandbox.pass_time(60)
    found = sandbox.get("pods", "web-0")
    assert found["metadata"]["uid"] != old
    assert found["spec"]["nodeName"] != node


def test_a_node_that_is_made_later_is_used(sandbox: SandboxWorld) -> None:
    sandbox.create(pod("one", nodeSelector={"kind": "new"}))
    sandbox.settle()
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "late", "labels": {"kind": "new"}},
    }
    sandbox.create(node)
    sandbox.until(lambda: _is_ready(sandbox, "one"), what="ready")
    assert _condition(sandbox.get("nodes", "late"), "Ready")["status"] == "True"


def test_a_node_that_is_not_there_cannot_be_killed(sandbox: SandboxWorld) -> None:
    with pytest.raises(ApiStatus, match='nodes "none" not found'):
        sandbox.do(sandbox.cluster.kill_node("none"))


def _is_ready(sandbox: SandboxWorld, name: str) -> bool:
    return _ready(sandbox.get("pods", name))


def _ready(found: Json) -> bool:
    return bool(_condition(found, "Ready").get("status") == "True")


def _condition(obj: Json, kind: str) -> Json:
    for condition in obj["status"].get("conditions") or ():
        if condition["type"] == kind:
            return dict(condition)
    return {}


def _container(sandbox: SandboxWorld, name: str) -> Json:
    return dict(sandbox.get("pods", name)["status"]["containerStatuses"][0])
