"""Why a pod is not ready, in plain words."""

from typing import Any

import pytest

from lws.api import names
from lws.cli.everyday.reasons import placing_words, restarts_of, state_of, why_not_ready
from tests.unit.cli.everyday.objects import container, pod

NO_VICTIMS = "preemption: 0/20 nodes are available: 20 Preemption is not helpful for scheduling."


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        ("20 Insufficient nvidia.com/gpu", "0/20 nodes have nvidia.com/gpu to spare"),
        (
            "20 Insufficient nvidia.com/gpu, 7 Insufficient memory",
            "0/20 nodes have nvidia.com/gpu to spare (7 lack memory)",
        ),
        (
            (
                "12 Insufficient cpu, 5 node(s) had untolerated taint {gpu: true}, "
                "3 node(s) were unschedulable"
            ),
            "0/20 nodes fit: 12 lack cpu, 5 have a taint not tolerated {gpu: true}, 3 are cordoned",
        ),
        (
            (
                "4 node(s) didn't match pod anti-affinity rules, "
                "16 node(s) didn't satisfy existing pods anti-affinity rules"
            ),
            (
                "0/20 nodes fit: 4 are kept free by its anti-affinity, "
                "16 hold pods that want no such company"
            ),
        ),
        (
            "20 node(s) had volume node affinity conflict",
            "0/20 nodes fit: 20 cannot reach its volume",
        ),
        (
            "pod has unbound immediate PersistentVolumeClaims",
            "its volume claims are not bound yet",
        ),
        ('persistentvolumeclaim "models" not found', "its volume claim models is not there"),
        ("20 node(s) had something new", "0/20 nodes fit: 20 node(s) had something new"),
    ],
)
def test_a_schedulers_message_is_told_in_words(reasons: str, words: str) -> None:
    old = f"0/20 nodes are available: {reasons}. {NO_VICTIMS}"
    new = f"0/20 nodes are available: {reasons}. no new claims to deallocate, {NO_VICTIMS}"
    assert placing_words(old) == placing_words(new) == words
    without = f"0/20 nodes are available: {reasons}. not found"
    assert placing_words(without) == words


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (
            (
                "pod group is not ready, 3 pods wait, 3 have to be placed at once. "
                f"0/20 nodes are available: 20 Insufficient nvidia.com/gpu. {NO_VICTIMS}"
            ),
            "0/20 nodes have nvidia.com/gpu to spare",
        ),
        (
            "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable",
            "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable",
        ),
    ],
)
def test_a_gang_that_is_not_complete_is_told_as_such(message: str, why: str) -> None:
    assert placing_words(message) == f"its gang finds no room as a whole: {why}"


def test_a_message_of_another_scheduler_is_told_as_it_is() -> None:
    assert placing_words("queue is full.") == "queue is full"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            container(
                {"waiting": {"reason": "CrashLoopBackOff"}},
                lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            ),
            "crashes again and again, last with exit code 137 (OOMKilled)",
        ),
        (
            container({"waiting": {"reason": "ImagePullBackOff"}}),
            "cannot get its image some/image:1",
        ),
        (
            container({"waiting": {"reason": "CreateContainerConfigError", "message": "no key"}}),
            "waits, CreateContainerConfigError: no key",
        ),
        (container({"waiting": {"reason": "ContainerCreating"}}), "is being created"),
        (container({"terminated": {"exitCode": 1, "reason": "Error"}}), "ended with exit code 1"),
        (container({"running": {}}, ready=False), "runs but is not ready"),
    ],
)
def test_a_container_in_trouble_is_named(status: dict[str, Any], words: str) -> None:
    assert (
        why_not_ready(pod(0, ready=False, containerStatuses=[status])) == f"container main {words}"
    )


def test_an_init_container_comes_first_and_one_that_is_done_is_no_trouble() -> None:
    done = container({"terminated": {"exitCode": 0, "reason": "Completed"}})
    waiting = container({"waiting": {"reason": "PodInitializing"}})
    failing = container({"terminated": {"exitCode": 2}})
    both: dict[str, Any] = {
        "containerStatuses": [waiting],
        "initContainerStatuses": [done, failing],
    }
    assert (
        why_not_ready(pod(0, ready=False, **both)) == "init container main ended with exit code 2"
    )
    both["initContainerStatuses"] = [done]
    words = "container main waits for the init containers"
    assert why_not_ready(pod(0, ready=False, **both)) == words


def test_an_evicted_pod_says_why() -> None:
    evicted = pod(0, ready=False, phase="Failed", reason="Evicted", message=None)
    evicted["status"]["message"] = "The node was low on memory"
    assert why_not_ready(evicted) == "evicted: The node was low on memory"


@pytest.mark.parametrize(
    ("annotation", "part"),
    [(names.EXCLUSIVE_TOPOLOGY, "group"), (names.SUBGROUP_EXCLUSIVE_TOPOLOGY, "subgroup")],
)
def test_exclusive_placement_without_room_is_called_by_its_name(annotation: str, part: str) -> None:
    message = (
        "0/20 nodes are available: 12 node(s) didn't match pod anti-affinity rules, "
        f"8 node(s) didn't match pod affinity rules. {NO_VICTIMS}"
    )
    alone = pod(0, ready=False, message=message)
    assert "anti-affinity" in why_not_ready(alone), "of a user's own affinities"
    alone["metadata"]["annotations"][annotation] = "rack"
    assert why_not_ready(alone) == (
        f"0/20 nodes fit: 12 are taken by other {part}s (exclusive placement by rack), "
        f"8 are not where its {part} is"
    )


def test_gates_are_named() -> None:
    held = pod(0, ready=False, message="")
    held["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]
    assert why_not_ready(held) == "held back by scheduling gate example.com/quota"
    gated = pod(0, ready=False, containerStatuses=[container({"running": {}}, ready=True)])
    gated["spec"]["readinessGates"] = [{"conditionType": "example.com/link"}]
    assert why_not_ready(gated) == "readiness gate example.com/link not met"


def test_a_pod_that_nobody_has_looked_at_says_so() -> None:
    assert why_not_ready({"metadata": {}}) == "not looked at by a scheduler yet"
    assert why_not_ready(pod(0, ready=False)) == "not started by its node yet"


def test_a_ready_pod_has_nothing_to_tell_and_one_that_ends_is_not_ready() -> None:
    assert (state_of(pod(0)), why_not_ready(pod(0))) == ("ready", "")
    ending = pod(0)
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert (state_of(ending), why_not_ready(ending)) == ("ending", "")


def test_restarts_of_all_containers_are_counted() -> None:
    statuses: dict[str, Any] = {
        "containerStatuses": [container({}, restartCount=2), container({})],
        "initContainerStatuses": [container({}, restartCount=1)],
    }
    assert restarts_of(pod(0, **statuses)) == 3
