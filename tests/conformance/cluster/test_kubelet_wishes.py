"""Pods that are steered by annotations: the sandbox's kubelets do what the stand-in does."""

from typing import Any

from tests.conformance.cluster.worlds.objects import pod, stateful_set, with_pod_annotations
from tests.conformance.cluster.worlds.world import Json, World

INIT = [
    {"name": "prepare", "image": "prepare:1"},
    {"name": "beside", "image": "beside:1", "restartPolicy": "Always"},
]


def annotated(name: str, **annotations: str) -> Json:
    """A pod of its own with `test.lws/…` annotations."""
    made = pod(name)
    named = {f"test.lws/{key.replace('_', '-')}": one for key, one in annotations.items()}
    made["metadata"]["annotations"] = named
    return made


def test_the_status_of_a_pod_that_runs(world: World) -> None:
    world.create(pod("one", initContainers=INIT))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    world.settle()
    status = world.get("pods", "one")["status"]
    assert status["phase"] == "Running"
    assert status["qosClass"] == "BestEffort"
    assert status["startTime"].endswith("Z")
    assert status["podIPs"] == [{"ip": status["podIP"]}]
    assert status["hostIP"]
    conditions = {one["type"]: one["status"] for one in status["conditions"]}
    assert conditions == {
        "PodScheduled": "True",
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "ContainersReady": "True",
        "Ready": "True",
    }
    (main,) = status["containerStatuses"]
    assert (main["name"], main["ready"], main["started"], main["restartCount"]) == (
        "main",
        True,
        True,
        0,
    )
    assert list(main["state"]) == ["running"]
    prepare, beside = status["initContainerStatuses"]
    assert prepare["state"]["terminated"]["reason"] == "Completed"
    assert prepare["state"]["terminated"]["exitCode"] == 0
    assert list(beside["state"]) == ["running"]


def test_a_held_pod_stays_pending_until_it_is_released(world: World) -> None:
    world.create(annotated("one", hold="yes"))
    world.settle()
    found = world.get("pods", "one")
    assert found["spec"]["nodeName"]
    assert found["status"]["phase"] == "Pending"
    world.annotate("one", hold=None)
    world.until(lambda: _is_ready(world, "one"), what="ready")


def test_a_pod_that_starts_late(world: World) -> None:
    world.create(annotated("one", start_after="3s"))
    world.until(lambda: world.get("pods", "one")["spec"].get("nodeName"), what="placed")
    assert world.get("pods", "one")["status"]["phase"] == "Pending"
    world.until(lambda: _is_ready(world, "one"), what="ready")


def test_a_pod_that_gets_ready_late(world: World) -> None:
    world.create(annotated("one", ready_after="3s"))
    world.until(lambda: world.get("pods", "one")["status"]["phase"] == "Running", what="runs")
    found = world.get("pods", "one")["status"]
    ready = next(one for one in found["conditions"] if one["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "Starting")
    assert found["containerStatuses"][0]["ready"] is False
    world.until(lambda: _is_ready(world, "one"), what="ready")
    found = world.get("pods", "one")["status"]
    ready = next(one for one in found["conditions"] if one["type"] == "Ready")
    assert "reason" not in ready
    assert found["containerStatuses"][0]["ready"] is True


def test_an_unready_pod_runs_until_it_is_released(world: World) -> None:
    world.create(annotated("one", unready="yes"))
    world.settle()
    assert world.get("pods", "one")["status"]["phase"] == "Running"
    assert not _is_ready(world, "one")
    world.annotate("one", unready=None)
    world.until(lambda: _is_ready(world, "one"), what="ready")


def test_a_deleted_pod_fails_before_it_goes(world: World) -> None:
    world.create(pod("one"))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    start = world.mark()
    world.delete("pods", "one")
    world.until(lambda: world.find("pods", "one") is None, what="gone")
    world.settle()
    seen = [(kind, one["status"]["phase"]) for kind, one in world.changes()[start:]]
    assert seen == [
        ("MODIFIED", "Running"),
        ("MODIFIED", "Failed"),
        ("MODIFIED", "Failed"),
        ("DELETED", "Failed"),
    ]
    last = world.changes()[-1][1]
    assert last["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    assert last["metadata"]["deletionGracePeriodSeconds"] == 0


def test_a_pod_that_takes_its_time_to_end(world: World) -> None:
    world.create(annotated("one", terminate_after="2s"))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    world.delete("pods", "one")
    found = world.get("pods", "one")
    assert found["status"]["phase"] == "Running"
    assert found["metadata"]["deletionGracePeriodSeconds"] == 5
    world.until(lambda: world.find("pods", "one") is None, what="gone")


def test_a_stuck_pod_goes_only_by_force(world: World) -> None:
    world.create(annotated("one", stuck="yes"))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    world.delete("pods", "one")
    world.settle()
    assert world.get("pods", "one")["status"]["phase"] == "Running"
    world.delete("pods", "one", grace=0)
    assert world.find("pods", "one") is None


def test_a_pod_with_a_finalizer_is_over_but_stays(world: World) -> None:
    made = pod("one")
    made["metadata"]["finalizers"] = ["test.lws/hold"]
    world.create(made)
    world.until(lambda: _is_ready(world, "one"), what="ready")
    world.delete("pods", "one")
    world.settle()
    found = world.get("pods", "one")
    assert found["status"]["phase"] == "Failed"
    assert found["metadata"]["deletionGracePeriodSeconds"] == 0
    world.patch("pods", "one", {"metadata": {"finalizers": None}})
    world.until(lambda: world.find("pods", "one") is None, what="gone")


def test_a_pod_that_was_never_placed_goes_at_once(world: World) -> None:
    world.create(pod("one", nodeSelector={"no": "where"}))
    world.delete("pods", "one")
    assert world.find("pods", "one") is None


def test_readiness_gates_are_open(world: World) -> None:
    world.create(pod("one", readinessGates=[{"conditionType": "test.lws/gate"}]))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    conditions = {
        one["type"]: one["status"] for one in world.get("pods", "one")["status"]["conditions"]
    }
    assert conditions["test.lws/gate"] == "True"


def test_a_hand_that_makes_a_pod_unready_is_not_overruled(world: World) -> None:
    world.create(pod("one"))
    world.until(lambda: _is_ready(world, "one"), what="ready")
    condition = {
        "type": "Ready",
        "status": "False",
        "reason": "ContainersNotReady",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    change: dict[str, Any] = {"status": {"conditions": [condition]}}
    world.patch("pods", "one", change, subresource="status", kind="strategic")
    world.settle()
    assert not _is_ready(world, "one")


def test_pods_of_a_namespace_that_goes_go_with_it(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(replicas=2), terminate_after="500ms"))
    world.ready(2)
    world.delete("namespaces", world.namespace)
    world.until(lambda: world.find("namespaces", world.namespace) is None, what="gone")
    assert world.items("pods") == []


def _is_ready(world: World, name: str) -> bool:
    conditions = world.get("pods", name)["status"].get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
