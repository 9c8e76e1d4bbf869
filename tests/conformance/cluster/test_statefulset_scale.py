"""StatefulSets: made, scaled and ended, in order and all at once."""

from tests.conformance.cluster.worlds.objects import (
    pod,
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import World

UP = ["+web-0", "+web-1", "+web-2"]


def test_pods_come_in_order_each_when_the_one_before_is_ready(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(), ready_after="1s"))
    world.ready(3)
    told = [
        (kind, one["metadata"]["name"])
        for kind, one in world.changes()
        if kind == "ADDED" or _is_ready(one)
    ]
    firsts = list(dict.fromkeys(told))
    assert firsts == [
        ("ADDED", "web-0"),
        ("MODIFIED", "web-0"),
        ("ADDED", "web-1"),
        ("MODIFIED", "web-1"),
        ("ADDED", "web-2"),
        ("MODIFIED", "web-2"),
    ]


def test_parallel_pods_come_at_once(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(parallel=True), hold="yes"))
    world.until(lambda: len(world.items("pods")) == 3, what="three pods")
    world.settle()
    assert sorted(world.log()) == UP
    status = world.status()
    assert status["replicas"] == 3
    assert "readyReplicas" not in status


def test_a_held_pod_holds_up_those_after_it(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(), hold="yes"))
    world.settle()
    assert world.log() == ["+web-0"]
    world.annotate("web-0", hold=None)
    world.settle()
    assert world.log() == ["+web-0", "+web-1"]


def test_the_status_of_a_set_that_is_ready(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    world.settle()
    status = world.status()
    revision = status.pop("currentRevision")
    assert status.pop("updateRevision") == revision
    assert status == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "collisionCount": 0,
    }


def test_a_pod_knows_who_it_is(world: World) -> None:
    made = world.create(stateful_set(replicas=2))
    world.ready(2)
    found = world.get("pods", "web-1")
    revision = world.status()["currentRevision"]
    assert found["metadata"]["labels"] == {
        "app": "web",
        "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": "web-1",
        "topology.kubernetes.io/zone": _zone(world, found["spec"]["nodeName"]),
    }
    assert found["metadata"]["generateName"] == "web-"
    assert found["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "web",
            "uid": made["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert (found["spec"]["hostname"], found["spec"]["subdomain"]) == ("web-1", "web")


def test_scaling_down_in_order_ends_the_highest_first_one_by_one(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(), terminate_after="500ms"))
    world.ready(3)
    start = world.mark()
    world.scale(0)
    world.until(lambda: not world.items("pods"), what="no pods")
    world.settle()
    assert world.log(start) == ["-web-2", "!web-2", "-web-1", "!web-1", "-web-0", "!web-0"]
    assert world.status()["replicas"] == 0


def test_scaling_down_in_parallel_ends_all_at_once(world: World) -> None:
    world.create(
        with_pod_annotations(stateful_set(replicas=4, parallel=True), terminate_after="2s")
    )
    world.ready(4)
    start = world.mark()
    world.scale(1)
    world.until(lambda: len(world.items("pods")) == 1, what="one pod")
    told = world.log(start)
    assert sorted(told[:3]) == ["-web-1", "-web-2", "-web-3"]
    assert sorted(told[3:]) == ["!web-1", "!web-2", "!web-3"]


def test_scaling_down_in_order_waits_for_an_unready_pod_below(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    _make_unready(world, "web-0")
    start = world.mark()
    world.scale(1)
    world.settle()
    assert world.log(start) == []
    _make_ready(world, "web-0")
    world.until(lambda: len(world.items("pods")) == 1, what="one pod")


def test_an_unready_pod_that_is_condemned_goes_all_the_same(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    _make_unready(world, "web-2")
    start = world.mark()
    world.scale(2)
    world.until(lambda: len(world.items("pods")) == 2, what="two pods")
    assert world.log(start) == ["-web-2", "!web-2"]


def test_a_deleted_pod_comes_back_under_its_name(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(), terminate_after="500ms"))
    world.ready(3)
    old = world.get("pods", "web-1")["metadata"]["uid"]
    start = world.mark()
    world.delete("pods", "web-1")
    world.settle()
    assert world.log(start) == ["-web-1", "!web-1", "+web-1"]
    assert world.get("pods", "web-1")["metadata"]["uid"] != old


def test_a_failed_pod_is_replaced(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    start = world.mark()
    world.patch("pods", "web-1", {"status": {"phase": "Failed"}}, subresource="status")
    world.settle()
    assert world.log(start) == ["-web-1", "!web-1", "+web-1"]
    assert world.status()["readyReplicas"] == 3


def test_ordinals_begin_where_they_are_told_to(world: World) -> None:
    world.create(stateful_set(replicas=2, ordinals={"start": 5}))
    world.ready(2)
    assert world.log() == ["+web-5", "+web-6"]
    start = world.mark()
    world.patch("statefulsets", "web", {"spec": {"ordinals": {"start": 4}}})
    world.settle()
    assert world.log(start) == ["+web-4", "-web-6", "!web-6"]
    assert world.status()["replicas"] == 2


def test_availability_needs_min_ready_seconds(world: World) -> None:
    world.create(stateful_set(replicas=2, minReadySeconds=4))
    world.until(lambda: world.find("pods", "web-0") is not None, what="the first pod")
    world.until(lambda: world.status().get("readyReplicas") == 1, what="one ready")
    assert world.find("pods", "web-1") is None
    assert world.status()["availableReplicas"] == 0
    world.ready(2)
    world.until(lambda: world.status()["availableReplicas"] == 2, what="two available")


def test_an_orphan_that_fits_is_adopted(world: World) -> None:
    world.create(pod("web-0", labels={"app": "web"}))
    made = world.create(stateful_set(replicas=2, updateStrategy={"type": "OnDelete"}))
    world.ready(2)
    world.settle()
    found = world.get("pods", "web-0")
    assert found["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert found["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "web-0"
    assert "controller-revision-hash" not in found["metadata"]["labels"]
    assert world.log() == ["+web-0", "+web-1"]


def test_an_adopted_orphan_of_no_revision_is_replaced_by_a_rolling_update(world: World) -> None:
    old = world.create(pod("web-0", labels={"app": "web"}))["metadata"]["uid"]
    world.create(stateful_set(replicas=2))
    world.until(
        lambda: old not in {one["metadata"]["uid"] for one in world.items("pods")},
        what="the orphan has gone",
    )
    world.ready(2)
    world.settle()
    assert world.log() == ["+web-0", "+web-1", "-web-0", "!web-0", "+web-0"]


def test_an_orphan_of_another_name_is_left_alone(world: World) -> None:
    world.create(pod("other-0", labels={"app": "web"}))
    world.create(stateful_set(replicas=1))
    world.ready(1)
    world.settle()
    assert "ownerReferences" not in world.get("pods", "other-0")["metadata"]


def test_a_pod_that_is_not_selected_any_more_is_let_go(world: World) -> None:
    world.create(stateful_set(replicas=1))
    world.ready(1)
    start = world.mark()
    world.patch("pods", "web-0", {"metadata": {"labels": {"app": "else"}}})
    world.settle()
    assert world.log(start) == []  # its name is still taken
    assert "ownerReferences" not in world.get("pods", "web-0")["metadata"]
    world.delete("pods", "web-0")
    world.ready(1)
    assert world.get("pods", "web-0")["metadata"]["labels"]["app"] == "web"


def test_events_tell_of_pods_made_and_ended(world: World) -> None:
    world.create(stateful_set(replicas=1))
    world.ready(1)
    world.scale(0)
    world.until(lambda: not world.items("pods"), what="no pods")
    world.settle()
    told = {
        (one["reason"], one["message"], one["type"], one["source"]["component"])
        for one in world.items("events")
        if one["involvedObject"]["kind"] == "StatefulSet"
    }
    assert told == {
        (
            "SuccessfulCreate",
            "Create Pod web-0 in StatefulSet web successful",
            "Normal",
            "statefulset-controller",
        ),
        (
            "SuccessfulDelete",
            "Delete Pod web-0 in StatefulSet web successful",
            "Normal",
            "statefulset-controller",
        ),
    }


def test_a_set_deleted_in_the_background_takes_its_pods_along(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("pods"), what="no pods")
    world.until(lambda: not world.items("controllerrevisions"), what="no revisions")


def test_a_set_deleted_as_orphaning_leaves_pods_that_a_new_one_adopts(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    uids = [one["metadata"]["uid"] for one in world.items("pods")]
    world.delete("statefulsets", "web", propagation="Orphan")
    world.until(lambda: world.find("statefulsets", "web") is None, what="the set is gone")
    world.settle()
    assert all("ownerReferences" not in one["metadata"] for one in world.items("pods"))
    world.create(stateful_set())
    world.ready(3)
    world.settle()
    assert [one["metadata"]["uid"] for one in world.items("pods")] == uids
    assert len(world.items("controllerrevisions")) == 1
    assert world.status()["updatedReplicas"] == 3


def _zone(world: World, node: str) -> str:
    zone: str = world.get("nodes", node)["metadata"]["labels"]["topology.kubernetes.io/zone"]
    return zone


def _is_ready(one: dict[str, object]) -> bool:
    conditions = one.get("status", {}).get("conditions") or []  # type: ignore[attr-defined]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _make_unready(world: World, name: str) -> None:
    _set_ready(world, name, "False")


def _make_ready(world: World, name: str) -> None:
    _set_ready(world, name, "True")


def _set_ready(world: World, name: str, status: str) -> None:
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": "2020-01-01T00:00:00Z"}
        for kind in ("Ready", "ContainersReady")
    ]
    change = {"status": {"conditions": conditions}}
    world.patch("pods", name, change, subresource="status", kind="strategic")
