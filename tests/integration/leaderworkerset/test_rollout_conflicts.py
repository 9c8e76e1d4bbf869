"""Objects of our names that are not ours, and the ends of sets."""

from functools import partial

import pytest

from harness.kube import Json
from harness.waiting import eventually
from tests.integration.leaderworkerset.manifests import PREFIX, leader_worker_set, pods_in
from tests.integration.leaderworkerset.worlds import REVISIONS, SETS, World

pytestmark = [pytest.mark.timeout(300)]


def _has_none(world: World, resource: str) -> bool:
    return not world.kube.items(resource, world.namespace)


def _statefulset(name: str, labels: dict[str, str]) -> Json:
    selector = {"app": "foreign"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 0,
            "serviceName": name,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": selector},
                "spec": {"containers": [{"name": "main", "image": "foreign:1"}]},
            },
        },
    }


def _service(name: str, labels: dict[str, str]) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": {"app": "foreign"}, "ports": [{"port": 80}]},
    }


_LABELS = pytest.mark.parametrize(
    "labels", [{}, {f"{PREFIX}name": "sample"}], ids=["without our label", "with our label"]
)


@_LABELS
def test_a_foreign_statefulset_of_our_name_is_told_and_left_alone(
    world: World, labels: dict[str, str]
) -> None:
    foreign = world.kube.create(_statefulset("sample", labels), world.namespace)["metadata"]
    world.create(replicas=2, ready=False)
    world.until(lambda: world.is_true("Conflict"), what="the conflict is told")
    assert "StatefulSet sample" in world.condition("Conflict")["message"]
    assert world.condition("Progressing")["reason"] == "StatefulSetConflict"
    eventually(lambda: _warnings(world) == {"StatefulSetConflict"}, what="one warning")
    world.rest()
    found = world.kube.get("statefulsets", "sample", world.namespace)["metadata"]
    assert found["uid"] == foreign["uid"]
    assert {entry["manager"] for entry in found["managedFields"]}.isdisjoint({"lws"})
    world.kube.delete("statefulsets", "sample", world.namespace)
    world.settle()
    assert world.condition("Conflict")["status"] == "False"
    assert world.pods.creations() == pods_in(range(2))


@_LABELS
def test_a_foreign_service_of_our_name_is_told_and_left_alone(
    world: World, labels: dict[str, str]
) -> None:
    foreign = world.kube.create(_service("sample", labels), world.namespace)["metadata"]
    world.create(replicas=2, ready=False)
    world.until(lambda: world.is_true("Conflict"), what="the conflict is told")
    assert "Service sample" in world.condition("Conflict")["message"]
    eventually(lambda: _warnings(world) == {"ObjectConflict"}, what="one warning")
    world.rest()
    found = world.kube.get("services", "sample", world.namespace)["metadata"]
    assert found["resourceVersion"] == foreign["resourceVersion"]
    world.kube.delete("services", "sample", world.namespace)
    world.until(lambda: world.condition("Conflict")["status"] == "False", what="it is over")
    world.settle()
    ours = world.kube.get("services", "sample", world.namespace)
    assert ours["metadata"]["ownerReferences"][0]["uid"] == world.lws()["metadata"]["uid"]
    assert ours["spec"]["clusterIP"] == "None"
    assert world.pods.creations() == pods_in(range(2))


def _warnings(world: World) -> set[str]:
    events = world.kube.items("events.events.k8s.io", world.namespace)
    return {
        event["reason"]
        for event in events
        if event["type"] == "Warning" and event["regarding"]["kind"] == "LeaderWorkerSet"
    }


def test_a_foreign_statefulset_of_a_groups_name_is_told_and_left_alone(world: World) -> None:
    world.kube.create(_statefulset("sample-1", {}), world.namespace)
    world.create(replicas=2, ready=False)
    world.until(lambda: world.is_true("Conflict"), what="the conflict is told")
    world.until(lambda: world.ready() == {0}, what="the other group is ready")
    assert "StatefulSet sample-1" in world.condition("Conflict")["message"]
    world.rest()
    world.kube.delete("statefulsets", "sample-1", world.namespace)
    world.settle()
    assert world.pods.creations() == pods_in(range(2))


def test_a_set_deleted_and_made_again_at_once_is_the_new_one_only(world: World) -> None:
    world.create(replicas=2)
    old = world.lws()["metadata"]["uid"]
    with world.watched(ceiling=2) as seen:
        world.delete()
        new = world.kube.create(leader_worker_set(replicas=2, image="serve:2"), world.namespace)[
            "metadata"
        ]["uid"]
        world.until(lambda: world.lws()["metadata"]["uid"] == new, what="the new one was seen")
        world.settle()
    assert old != new
    assert seen.creations() == seen.deletions() == pods_in(range(2))
    assert world.images() == {"serve:2": 4}
    assert world.statefulset()["metadata"]["ownerReferences"][0]["uid"] == new
    world.until(lambda: world.condition("Conflict").get("status") != "True", what="no conflict")


@pytest.mark.parametrize("mid_update", [False, True], ids=["at rest", "in mid-update"])
def test_a_foreground_deletion_ends_and_makes_nothing(world: World, mid_update: bool) -> None:
    world.create(replicas=3, surge=1)
    if mid_update:
        world.push("serve:2", hold=True)
        world.until(
            lambda: world.taken("serve:2") == {2, 3},
            what="the update runs",
        )
    there = world.pods.live()
    with world.watched() as seen:
        world.delete(propagation="Foreground")
        world.until(lambda: not world.pods.live(), what="no pod is left")
        world.until(lambda: not world.lws() and not world.statefulsets.live(), what="all is gone")
    assert not seen.creations()
    assert set(seen.deletions()) == set(there)
    for resource in ("services", REVISIONS, SETS):
        world.until(
            partial(_has_none, world, resource),
            what=f"no {resource} left",
        )


def test_a_leader_statefulset_deleted_by_hand_comes_back(world: World) -> None:
    world.create(replicas=2)
    keys = world.keys()
    with world.watched(ceiling=2) as seen:
        old = world.statefulset()["metadata"]["uid"]
        world.kube.delete("statefulsets", "sample", world.namespace, propagation="Foreground")
        world.until(
            lambda: world.statefulset().get("metadata", {}).get("uid", old) != old,
            what="another StatefulSet",
        )
        world.settle()
    assert seen.creations() == seen.deletions() == pods_in(range(2))
    assert world.keys() == keys
