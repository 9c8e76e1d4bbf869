"""A group that loses a member is made anew, whole and once, however the member was lost."""

from collections.abc import Callable

import pytest

from harness import kwok, pods
from harness.nodes import node, remove_node
from tests.integration.leaderworkerset.groups import (
    annotated,
    comes_to_rest,
    fail,
    make,
    names_of,
    recreations,
    require_once,
    restarts,
    uids,
    with_init,
)
from tests.integration.leaderworkerset.manifests import PREFIX
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]

_WORKER = "sample-0-1"

_ENDS: dict[str, Callable[[World], object]] = {
    "force-deleted": lambda w: pods.force_delete(w.kube, w.namespace, _WORKER),
    "deleted": lambda w: w.kube.delete("pods", _WORKER, w.namespace),
    "evicted by drain": lambda w: pods.evict(w.kube, w.namespace, _WORKER),
    "evicted by its node": lambda w: pods.fail_pod(
        w.kube, w.namespace, _WORKER, reason="Evicted", message="The node was low on memory."
    ),
    "failed": lambda w: pods.fail_pod(w.kube, w.namespace, _WORKER),
    "unknown": lambda w: pods.lose_contact(w.kube, w.namespace, _WORKER),
}


@pytest.mark.parametrize("end", list(_ENDS))
def test_a_lost_worker_is_one_recreation_of_its_group(world: World, end: str) -> None:
    make(world, replicas=2)
    with world.watched() as seen:
        _ENDS[end](world)
        world.until(lambda: seen.created("sample-0") == 1, what="the group is recreated")
        world.settle()
        require_once(seen, 0, lost=_WORKER)
    assert recreations(world) == 1
    (row,) = restarts(world)
    assert (row["group"], row["count"]) == (0, 1)
    assert _WORKER in row["reason"]


_RESTARTS = {
    "container of a worker": (_WORKER, "serve", None),
    "container of the leader": ("sample-0", "serve", None),
    "init container": (_WORKER, "setup", False),
    "sidecar": (_WORKER, "setup", True),
}


@pytest.mark.parametrize("what", list(_RESTARTS))
def test_a_restarted_container_is_one_recreation_of_its_group(world: World, what: str) -> None:
    pod, container, sidecar = _RESTARTS[what]
    make(world, replicas=2, both=None if sidecar is None else with_init(sidecar=sidecar))
    with world.watched() as seen:
        pods.fail_container(world.kube, world.namespace, pod, container=container)
        world.until(lambda: seen.created("sample-0") == 1, what="the group is recreated")
        world.settle()
        require_once(seen, 0)
    (event,) = world.events("RecreateGroup")
    assert (
        f"Worker pod {pod} failed, deleted leader pod sample-0 to recreate group 0"
        in (event["note"])
    )
    kind = "container" if sidecar is None else "init container"
    assert f"{kind} {container} exited with code 137 (OOMKilled)" in event["note"]
    assert event["type"] == "Normal"


def test_a_restart_in_a_pod_that_is_pending_still_counts(world: World) -> None:
    hold = annotated(**{kwok.HOLD: "yes"})
    make(world, ready=False, both=with_init(), worker=hold)
    world.until(
        lambda: world.pods.live().get(_WORKER, {}).get("spec", {}).get("nodeName"),
        what="the worker waits on its node",
    )
    first = uids(world)["sample-0"]
    pods.fail_container(world.kube, world.namespace, _WORKER, container="setup", restarted=False)
    world.until(lambda: uids(world).get("sample-0", first) != first, what="it is recreated")
    world.until(lambda: len(uids(world)) == 3, what="its workers wait again")
    comes_to_rest(world)
    assert [row["count"] for row in restarts(world)] == [1]


def test_several_members_that_fail_together_are_one_recreation(world: World) -> None:
    lingering = annotated(**{kwok.TERMINATE_AFTER: "1s"})  # or the last is gone before it fails
    make(world, replicas=2, size=4, both=lingering)
    with world.watched() as seen:
        for pod in names_of(1, size=4):
            pods.fail_container(world.kube, world.namespace, pod)
        world.until(lambda: seen.created("sample-1") == 1, what="the group is recreated")
        world.settle()
        require_once(seen, 1, size=4)
    assert recreations(world) == 1
    assert [row["count"] for row in restarts(world)] == [1]


def test_every_group_that_fails_is_recreated_by_itself(world: World) -> None:
    make(world, replicas=3, size=2)
    with world.watched() as seen:
        for group in (0, 2):
            fail(world, f"sample-{group}-1")
        world.until(lambda: seen.created() >= 4, what="two groups are recreated")
        world.settle()
        created = seen.creations()
    assert set(created) == {*names_of(0, size=2), *names_of(2, size=2)}
    assert set(created.values()) == {1}
    assert [(row["group"], row["count"]) for row in restarts(world)] == [(0, 1), (2, 1)]


@pytest.mark.parametrize("force", [False, True], ids=["background", "by force"])
def test_a_deleted_leader_takes_its_workers_along_once(world: World, force: bool) -> None:
    make(world, replicas=2)
    old = world.statefulsets.live()["sample-0"]["metadata"]["uid"]
    with world.watched() as seen:
        if force:
            pods.force_delete(world.kube, world.namespace, "sample-0")
        else:
            world.kube.delete("pods", "sample-0", world.namespace, propagation="Background")
        world.until(lambda: seen.created("sample-0-2") == 1, what="the workers are made anew")
        world.settle()
        require_once(seen, 0)
    owner = world.statefulsets.live()["sample-0"]["metadata"]["ownerReferences"][0]
    assert owner["uid"] == uids(world)["sample-0"]
    assert world.statefulsets.live()["sample-0"]["metadata"]["uid"] != old


def test_a_machine_that_goes_is_one_recreation_of_each_group_that_ran_there(world: World) -> None:
    name = world.namespace
    machine = node(name, {f"{PREFIX}test": name})
    machine["spec"] = {"taints": [{"key": name, "effect": "NoSchedule"}]}
    world.kube.create(machine)
    tolerations = [{"key": name, "operator": "Exists", "effect": "NoSchedule"}]
    there = {"nodeSelector": {f"{PREFIX}test": name}, "tolerations": tolerations}
    make(world, replicas=3, worker={"spec": there})
    with world.watched() as seen:
        lost = remove_node(world.kube, name)
        world.kube.create(machine)
        world.until(lambda: seen.created("sample-2") == 1, what="they are recreated")
        world.settle()
        created = seen.creations()
    world.kube.delete("nodes", name)
    workers = {pod for group in range(3) for pod in names_of(group)[1:]}
    assert set(lost) == workers
    assert [created[f"sample-{group}"] for group in range(3)] == [1, 1, 1]
    assert all(1 <= created[pod] <= 2 for pod in workers)
    assert [row["count"] for row in restarts(world)] == [1, 1, 1]
