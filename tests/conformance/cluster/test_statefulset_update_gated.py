"""StatefulSets: how templates change, with the feature gate MaxUnavailableStatefulSet on."""

from typing import Any

from tests.conformance.cluster.worlds.objects import (
    rolling,
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import World


def test_so_many_pods_are_replaced_at_once(gated_world: World) -> None:
    _set(gated_world, replicas=4, maxUnavailable=2)
    start = gated_world.mark()
    gated_world.change_template("2")
    _updated(gated_world, 4)
    told = gated_world.log(start)
    assert told[:2] == ["-web-3", "-web-2"]
    assert told.index("-web-1") > min(told.index("+web-3"), told.index("+web-2"))


def test_all_but_the_partition_at_once(gated_world: World) -> None:
    _set(gated_world, replicas=5, maxUnavailable=10, partition=2)
    start = gated_world.mark()
    gated_world.change_template("2")
    gated_world.until(
        lambda: gated_world.status().get("updatedReplicas") == 3, what="three updated"
    )
    gated_world.ready(5)
    gated_world.settle()
    told = gated_world.log(start)
    assert told[:3] == ["-web-4", "-web-3", "-web-2"]
    assert len(told) == 9


def test_a_percentage_is_rounded_down_but_not_to_nothing(gated_world: World) -> None:
    _set(gated_world, replicas=3, maxUnavailable="10%")
    start = gated_world.mark()
    gated_world.change_template("2")
    _updated(gated_world, 3)
    told = gated_world.log(start)
    assert told[:3] == ["-web-2", "!web-2", "+web-2"]


def test_half_of_five_is_two(gated_world: World) -> None:
    _set(gated_world, replicas=5, maxUnavailable="50%")
    start = gated_world.mark()
    gated_world.change_template("2")
    gated_world.until(lambda: len(gated_world.log(start)) >= 2, what="the first two")
    assert gated_world.log(start)[:2] == ["-web-4", "-web-3"]
    _updated(gated_world, 5)


def test_an_unready_pod_takes_part_of_the_budget(gated_world: World) -> None:
    _set(gated_world, replicas=4, maxUnavailable=2)
    gated_world.patch("pods", "web-0", _conditions("False"), subresource="status", kind="strategic")
    start = gated_world.mark()
    gated_world.change_template("2")
    gated_world.until(lambda: len(gated_world.log(start)) >= 3, what="the first is replaced")
    assert gated_world.log(start)[:3] == ["-web-3", "!web-3", "+web-3"]
    _updated(gated_world, 4)


def test_an_unready_new_pod_does_not_stop_the_others_within_the_budget(
    gated_world: World,
) -> None:
    _set(gated_world, replicas=4, maxUnavailable=2)
    start = gated_world.mark()
    template = {"metadata": {"annotations": {"test.lws/unready": "yes"}}}
    gated_world.patch("statefulsets", "web", {"spec": {"template": template}})
    gated_world.settle()
    told = gated_world.log(start)
    assert sorted(one for one in told if one[0] == "-") == ["-web-2", "-web-3"]


def test_without_a_number_it_is_one(gated_world: World) -> None:
    made = with_pod_annotations(stateful_set(parallel=True), terminate_after="300ms")
    gated_world.create(made)
    gated_world.ready(3)
    start = gated_world.mark()
    gated_world.change_template("2")
    _updated(gated_world, 3)
    told = gated_world.log(start)
    assert told.index("+web-2") < told.index("-web-1") < told.index("-web-0")


def test_in_order_too(gated_world: World) -> None:
    made = stateful_set(replicas=4, updateStrategy=rolling(maxUnavailable=2))
    gated_world.create(with_pod_annotations(made, terminate_after="300ms"))
    gated_world.ready(4)
    start = gated_world.mark()
    gated_world.change_template("2")
    _updated(gated_world, 4)
    told = gated_world.log(start)
    assert told[:2] == ["-web-3", "-web-2"]
    assert told.index("+web-2") < told.index("+web-3")  # made in order


def _set(world: World, *, replicas: int, **strategy: Any) -> None:
    made = stateful_set(replicas=replicas, parallel=True, updateStrategy=rolling(**strategy))
    world.create(with_pod_annotations(made, terminate_after="300ms"))
    world.ready(replicas)


def _conditions(status: str) -> dict[str, Any]:
    now = "2020-01-01T00:00:00Z"
    kinds = ("Ready", "ContainersReady")
    conditions = [{"type": kind, "status": status, "lastTransitionTime": now} for kind in kinds]
    return {"status": {"conditions": conditions}}


def _updated(world: World, replicas: int) -> None:
    def is_done() -> bool:
        status = world.status()
        generation = world.get("statefulsets", "web")["metadata"]["generation"]
        return (
            status.get("observedGeneration") == generation
            and status.get("updatedReplicas") == replicas
            and status.get("readyReplicas") == replicas
        )

    world.until(is_done, timeout=60, what="all are updated")
    world.settle()
