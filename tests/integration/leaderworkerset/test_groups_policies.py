"""Which losses recreate a group, how soon, and how often: the restart policies."""

import time
from datetime import datetime

import pytest

from harness import kwok, pods
from harness.kube import Json
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
)
from tests.integration.leaderworkerset.manifests import PREFIX
from tests.integration.leaderworkerset.worlds import REST_SECONDS, SETS, World

pytestmark = [pytest.mark.timeout(300)]

_AFTER_START: dict[str, Json] = {
    "policy": {"template": {"restartPolicy": "RecreateGroupAfterStart"}},
    "experimental annotation": {
        "annotations": {f"{PREFIX}experimental-recreate-group-after-start": "true"}
    },
}


def test_a_crash_loop_is_one_recreation_a_failure_each_later_than_the_last(world: World) -> None:
    make(world, replicas=2, size=2)
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="recreated at once")
        world.settle()
        (first,) = restarts(world)
        failed = fail_and_look(world, "sample-0-1")
        while time.time() < _seconds(first) + 8:
            assert uids(world) == failed, "the pods are left as they are meanwhile"
            time.sleep(0.2)
        assert restarts(world) == [first]
        world.until(lambda: seen.created("sample-0-1") == 2, what="recreated again")
        world.settle()
        assert seen.creations() == seen.deletions() == {"sample-0": 2, "sample-0-1": 2}
    (second,) = restarts(world)
    assert (first["count"], second["count"]) == (1, 2)
    assert 10 <= _seconds(second) - _seconds(first) < 30
    assert recreations(world) == 1, "a repeated event is counted in its series, and that later"
    assert "exited with code 137 (OOMKilled)" in second["reason"]


def fail_and_look(world: World, pod: str) -> dict[str, str]:
    """Fail a container, and who lives then."""
    before = uids(world)
    fail(world, pod)
    return before


def _seconds(row: Json) -> float:
    return datetime.fromisoformat(row["lastTime"]).timestamp()


def test_a_group_without_restarts_left_stays_for_inspection_until_a_new_revision(
    world: World,
) -> None:
    make(world, replicas=2, size=2, template={"maxGroupRestarts": 1})
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="the one restart it has")
        world.settle()
        fail(world, "sample-0-1", exit_code=3, reason="Error")
        world.until(lambda: world.is_true("Failed"), what="no restart is left")
        failed = world.condition("Failed")
        assert failed["reason"] == "MaxGroupRestartsExceeded"
        assert failed["message"].endswith("groups: 0")
        comes_to_rest(world)
        assert seen.creations() == {"sample-0": 1, "sample-0-1": 1}
    with world.watched() as seen:
        world.push("serve:2")
        world.settle()
        assert seen.creations() == {"sample-0": 1, "sample-0-1": 1, "sample-1": 1, "sample-1-1": 1}
    assert world.condition("Failed")["status"] == "False"
    assert not restarts(world)
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="it has a restart again")
        world.settle()


def test_a_budget_of_none_recreates_nothing(world: World) -> None:
    make(world, size=2, template={"maxGroupRestarts": 0})
    before = uids(world)
    fail(world, "sample-0")
    world.until(lambda: world.is_true("Failed"), what="told")
    comes_to_rest(world)
    assert uids(world) == before
    assert not restarts(world)


@pytest.mark.parametrize("how", list(_AFTER_START))
def test_after_the_start_restarts_count_and_those_of_the_start_never_do(
    world: World, how: str
) -> None:
    hold = annotated(**{kwok.HOLD: "yes"})
    make(world, ready=False, worker=hold, **_AFTER_START[how])
    world.until(lambda: len(_running(world)) == 1, what="the leader runs")
    fail(world, "sample-0")
    world.until(lambda: len(world.pods.live()) == 3, what="the workers are there")
    pods.release(world.kube, world.namespace, "sample-0-1", kwok.HOLD)
    world.until(lambda: len(_running(world)) == 2, what="a worker runs")
    fail(world, "sample-0-1")
    before = uids(world)
    time.sleep(1.1)  # times in a pod's status have whole seconds
    pods.release(world.kube, world.namespace, "sample-0-2", kwok.HOLD)
    world.until(lambda: world.has_settled(), what="all are there")
    comes_to_rest(world)
    assert uids(world) == before
    assert not restarts(world)
    time.sleep(1.1)
    fail(world, "sample-0-1")
    world.until(
        lambda: set(uids(world).values()).isdisjoint(before.values()) and len(uids(world)) == 3,
        what="the group is recreated",
        meanwhile=lambda: _release(world),
    )
    world.settle(meanwhile=lambda: _release(world))
    assert [(row["group"], row["count"]) for row in restarts(world)] == [(0, 1)]


def _running(world: World) -> list[str]:
    live = world.pods.live()
    return [name for name, pod in live.items() if pod["status"]["phase"] == "Running"]


def _release(world: World) -> None:
    for name, pod in world.pods.live().items():
        if kwok.HOLD in pod["metadata"].get("annotations", {}):
            pods.release(world.kube, world.namespace, name, kwok.HOLD)


def test_a_worker_that_is_deleted_during_the_start_is_only_replaced(world: World) -> None:
    hold = annotated(**{kwok.HOLD: "yes"})
    make(world, ready=False, worker=hold, template={"restartPolicy": "RecreateGroupAfterStart"})
    world.until(lambda: len(world.pods.live()) == 3, what="the workers wait")
    leader = uids(world)["sample-0"]
    with world.watched() as seen:
        pods.force_delete(world.kube, world.namespace, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="it is replaced")
        world.settle(meanwhile=lambda: _release(world))
        assert seen.creations() == {"sample-0-1": 1}
    assert uids(world)["sample-0"] == leader


@pytest.mark.parametrize("policy", ["None", "Default"])
def test_without_a_policy_only_the_lost_pod_is_replaced(world: World, policy: str) -> None:
    make(world, replicas=2, template={"restartPolicy": policy})
    assert world.lws()["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "None"
    with world.watched() as seen:
        fail(world, "sample-0-1")
        pods.force_delete(world.kube, world.namespace, "sample-1-2")
        world.until(lambda: seen.created("sample-1-2") == 1, what="the lost one is replaced")
        world.settle()
        assert seen.creations() == seen.deletions() == {"sample-1-2": 1}
    assert not restarts(world)


def test_a_switch_to_recreation_looks_at_losses_from_then_on_only(world: World) -> None:
    make(world, replicas=2, partition=2, template={"restartPolicy": "None"})
    fail(world, "sample-0-1")
    with world.watched() as seen:
        world.change({"leaderWorkerTemplate": {"restartPolicy": "RecreateGroupOnPodRestart"}})
        world.until(lambda: len(world.revisions()) == 2, what="the policy is part of a revision")
        time.sleep(REST_SECONDS)
        assert not seen.creations()
        fail(world, "sample-0-2")
        world.until(lambda: seen.created("sample-0") == 1, what="a loss from now on counts")
        world.settle()
        require_once(seen, 0)
    assert "sample-0-2" in restarts(world)[0]["reason"]


def test_a_switch_by_the_annotation_looks_at_losses_from_then_on_only(world: World) -> None:
    hold = annotated(**{kwok.HOLD: "yes"})
    annotations = {f"{PREFIX}experimental-recreate-group-after-start": ""}
    make(world, ready=False, worker=hold, annotations=annotations)
    world.until(lambda: len(world.pods.live()) == 3, what="the workers wait")
    fail(world, "sample-0")
    before = uids(world)
    world.annotate(experimental_recreate_group_after_start=None)
    time.sleep(REST_SECONDS)
    assert uids(world) == before
    fail(world, "sample-0")
    world.until(lambda: restarts(world), what="now it counts", meanwhile=lambda: _release(world))
    world.settle(meanwhile=lambda: _release(world))
    assert set(uids(world).values()).isdisjoint(before.values())


def test_an_old_group_that_fails_while_an_update_runs_comes_back_in_one_piece(
    world: World,
) -> None:
    make(world, replicas=3, partition=1)
    first = world.keys()[0]
    world.push("serve:2", hold=True)
    world.until(lambda: world.groups_of("serve:2") == {2}, what="the update has one group")
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-2") == 1, what="the old group is recreated")
        world.until(lambda: 0 in world.ready(), what="it is whole again")
    group = [world.pods.live()[pod] for pod in names_of(0)]
    assert {pod["metadata"]["labels"][f"{PREFIX}template-revision-hash"] for pod in group} == {
        first
    }
    assert {pod["spec"]["containers"][0]["image"] for pod in group} == {"serve:1"}
    world.settle(meanwhile=world.releasing(1, 2))


def test_a_set_that_is_being_deleted_recreates_nothing(world: World) -> None:
    make(world, replicas=2, both=annotated(**{kwok.TERMINATE_AFTER: "2s"}))
    with world.watched() as seen:
        world.kube.delete(SETS, "sample", world.namespace, propagation="Foreground")
        for pod in names_of(0):
            pods.fail_container(world.kube, world.namespace, pod)
        world.until(lambda: not world.pods.live() and not world.lws(), what="all is gone")
        assert not seen.creations()
