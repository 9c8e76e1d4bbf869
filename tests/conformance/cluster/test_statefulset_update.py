"""StatefulSets: how templates change, with the feature gate MaxUnavailableStatefulSet off."""

from typing import Any

from tests.conformance.cluster.worlds.objects import (
    rolling,
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import World


def test_an_update_goes_from_the_highest_down_one_by_one(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(), terminate_after="300ms"))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    _updated(world)
    one_by_one = [f"{sign}web-{number}" for number in (2, 1, 0) for sign in ("-", "!", "+")]
    assert world.log(start) == one_by_one
    assert world.pod_versions() == {"web-0": "2", "web-1": "2", "web-2": "2"}
    status = world.status()
    assert status["currentRevision"] == status["updateRevision"]


def test_a_parallel_set_is_updated_one_by_one_too(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(parallel=True), terminate_after="300ms"))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    _updated(world)
    assert [one for one in world.log(start) if one[0] == "-"] == ["-web-2", "-web-1", "-web-0"]


def test_max_unavailable_means_nothing_without_the_gate(world: World) -> None:
    made = stateful_set(parallel=True, updateStrategy=rolling(maxUnavailable=2))
    world.create(with_pod_annotations(made, terminate_after="300ms"))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    _updated(world)
    told = world.log(start)
    assert told.index("+web-2") < told.index("-web-1") < told.index("-web-0")


def test_a_partition_keeps_the_lower_pods_as_they_are(world: World) -> None:
    world.create(stateful_set(updateStrategy=rolling(partition=2)))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    world.until(lambda: world.status().get("updatedReplicas") == 1, what="one updated")
    world.ready(3)
    world.settle()
    assert world.log(start) == ["-web-2", "!web-2", "+web-2"]
    status = world.status()
    assert status["currentRevision"] != status["updateRevision"]
    assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
    world.delete("pods", "web-0")
    world.settle()
    assert world.pod_versions() == {"web-0": "", "web-1": "", "web-2": "2"}
    world.patch("statefulsets", "web", {"spec": {"updateStrategy": rolling(partition=0)}})
    _updated(world)
    assert world.pod_versions() == {"web-0": "2", "web-1": "2", "web-2": "2"}


def test_a_partition_above_all_pods_updates_none(world: World) -> None:
    world.create(stateful_set(updateStrategy=rolling(partition=5)))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    world.settle()
    assert world.log(start) == []
    assert "updatedReplicas" not in world.status()


def test_a_partition_counts_from_the_first_ordinal(world: World) -> None:
    world.create(stateful_set(ordinals={"start": 10}, updateStrategy=rolling(partition=2)))
    world.ready(3)
    world.change_template("2")
    world.settle()
    world.ready(3)
    assert world.pod_versions() == {"web-10": "", "web-11": "", "web-12": "2"}


def test_pods_that_are_added_during_an_update_are_new(world: World) -> None:
    world.create(stateful_set(replicas=2, updateStrategy=rolling(partition=1)))
    world.ready(2)
    world.change_template("2")
    world.settle()
    world.scale(3)
    world.ready(3)
    assert world.pod_versions() == {"web-0": "", "web-1": "2", "web-2": "2"}


def test_on_delete_updates_what_somebody_deletes(world: World) -> None:
    world.create(stateful_set(updateStrategy={"type": "OnDelete"}))
    world.ready(3)
    start = world.mark()
    world.change_template("2")
    world.settle()
    assert world.log(start) == []
    world.delete("pods", "web-1")
    world.settle()
    assert world.pod_versions() == {"web-0": "", "web-1": "2", "web-2": ""}
    status = world.status()
    assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
    assert status["currentRevision"] != status["updateRevision"]


def test_a_pod_that_does_not_become_ready_stops_the_update(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    start = world.mark()
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready="yes")}})
    world.settle()
    assert world.log(start) == ["-web-2", "!web-2", "+web-2"]
    status = world.status()
    assert (status["readyReplicas"], status["updatedReplicas"]) == (2, 1)


def test_an_ordered_set_does_not_leave_a_bad_revision_by_itself(world: World) -> None:
    world.create(stateful_set())
    world.ready(3)
    start = world.mark()
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready="yes")}})
    world.settle()
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready=None)}})
    world.settle()
    assert world.log(start) == ["-web-2", "!web-2", "+web-2"]
    world.delete("pods", "web-2")
    world.ready(3)


def test_a_parallel_set_leaves_a_bad_revision(world: World) -> None:
    world.create(stateful_set(parallel=True))
    world.ready(3)
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready="yes")}})
    world.settle()
    start = world.mark()
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready=None)}})
    _updated(world)
    assert world.log(start)[:4] == ["-web-2", "!web-2", "+web-2", "-web-1"]


def test_an_unhealthy_old_pod_at_the_end_is_updated_first(world: World) -> None:
    world.create(with_pod_annotations(stateful_set(parallel=True, replicas=2), unready="yes"))
    world.until(lambda: world.status().get("replicas") == 2, what="two pods")
    world.settle()
    start = world.mark()
    world.patch("statefulsets", "web", {"spec": {"template": _template(unready=None)}})
    _updated(world, replicas=2)
    assert [one for one in world.log(start) if one[0] == "-"] == ["-web-1", "-web-0"]


def test_going_back_reuses_the_revision(world: World) -> None:
    world.create(stateful_set(replicas=1))
    world.ready(1)
    first = world.status()["currentRevision"]
    world.change_template("2")
    _updated(world, replicas=1)
    second = world.status()["currentRevision"]
    world.patch("statefulsets", "web", {"spec": {"template": {"metadata": {"annotations": None}}}})
    _updated(world, replicas=1)
    assert world.status()["currentRevision"] == first
    numbers = {
        one["metadata"]["name"]: one["revision"] for one in world.items("controllerrevisions")
    }
    assert numbers == {first: 3, second: 2}


def test_old_revisions_are_forgotten_down_to_the_limit(world: World) -> None:
    world.create(stateful_set(replicas=1, revisionHistoryLimit=1))
    world.ready(1)
    for version in ("2", "3", "4"):
        world.change_template(version)
        _updated(world, replicas=1)
    world.settle()
    numbers = sorted(one["revision"] for one in world.items("controllerrevisions"))
    assert numbers == [3, 4]


def test_a_revision_keeps_the_template(world: World) -> None:
    made = stateful_set(replicas=1)
    made["metadata"]["annotations"] = {"note": "kept"}
    owner = world.create(made)
    world.ready(1)
    (revision,) = world.items("controllerrevisions")
    metadata = revision["metadata"]
    assert metadata["labels"]["app"] == "web"
    assert metadata["name"] == f"web-{metadata['labels']['controller.kubernetes.io/hash']}"
    assert metadata["annotations"] == {"note": "kept"}
    assert metadata["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
    assert revision["data"]["spec"]["template"]["$patch"] == "replace"
    assert revision["revision"] == 1


def test_revisions_have_the_names_that_a_real_controller_gives(world: World) -> None:
    world.create(stateful_set(replicas=1))
    world.ready(1)
    assert world.status()["currentRevision"] == "web-8555cc579b"


def test_min_ready_seconds_slow_an_update_down(world: World) -> None:
    world.create(stateful_set(replicas=2, minReadySeconds=3))
    world.until(lambda: world.status().get("availableReplicas") == 2, what="two available")
    start = world.mark()
    world.change_template("2")
    world.until(lambda: "+web-1" in world.log(start), what="the first is replaced")
    world.until(lambda: world.status().get("readyReplicas") == 2, what="two ready")
    assert "-web-0" not in world.log(start)
    _updated(world, replicas=2)


def _template(**annotations: Any) -> dict[str, Any]:
    named = {f"test.lws/{key}": one for key, one in annotations.items()}
    return {"metadata": {"annotations": {"test.lws/version": "x", **named}}}


def _updated(world: World, *, replicas: int = 3) -> None:
    """Wait until all pods are of the newest template and ready, and the set says so."""

    def is_done() -> bool:
        status = world.status()
        generation = world.get("statefulsets", "web")["metadata"]["generation"]
        return (
            status.get("observedGeneration") == generation
            and status.get("updatedReplicas") == replicas
            and status.get("readyReplicas") == replicas
            and status["currentRevision"] == status["updateRevision"]
        )

    world.until(is_done, timeout=60, what="all are updated")
    world.settle()
