"""What a person does to a worker StatefulSet, and what comes of it."""

import pytest

from tests.integration.leaderworkerset.groups import (
    comes_to_rest,
    make,
    names_of,
    recreations,
    require_once,
    restarts,
    uids,
    worker_set,
)
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_a_deleted_worker_statefulset_is_one_recreation(world: World, propagation: str) -> None:
    make(world, replicas=2)
    with world.watched() as seen:
        world.kube.delete("statefulsets", "sample-0", world.namespace, propagation=propagation)
        world.until(lambda: seen.created("sample-0") == 1, what="the group is recreated")
        world.settle()
        require_once(seen, 0)
    assert recreations(world) == 1
    assert "sample-0" in restarts(world)[0]["reason"]


def test_a_worker_statefulset_deleted_without_its_pods_comes_to_rest(world: World) -> None:
    make(world, replicas=2)
    other = {pod: uids(world)[pod] for pod in names_of(1)}
    first = uids(world)["sample-0"]
    with world.watched() as seen:
        world.kube.delete("statefulsets", "sample-0", world.namespace, propagation="Orphan")
        world.until(lambda: uids(world).get("sample-0", first) != first, what="a new leader")
        world.settle()
        assert seen.created("sample-0") == 1
    owner = worker_set(world, 0)["metadata"]["uid"]
    for pod in names_of(0)[1:]:
        references = world.pods.live()[pod]["metadata"]["ownerReferences"]
        assert [reference["uid"] for reference in references] == [owner]
    assert {pod: uids(world)[pod] for pod in names_of(1)} == other


def test_workers_orphaned_by_their_leaders_deletion_are_told_and_left_alone(world: World) -> None:
    make(world, replicas=2)
    old = worker_set(world, 0)["metadata"]["uid"]
    with world.watched() as seen:
        world.kube.delete("pods", "sample-0", world.namespace, propagation="Orphan")
        world.until(lambda: world.is_true("Conflict"), what="the conflict is told")
        assert "StatefulSet sample-0" in world.condition("Conflict")["message"]
        world.until(lambda: world.status()["readyReplicas"] == 1, what="the group is not ready")
        comes_to_rest(world)
        assert worker_set(world, 0)["metadata"]["uid"] == old
        assert seen.creations() == {"sample-0": 1}
        world.kube.delete("statefulsets", "sample-0", world.namespace, propagation="Foreground")
        world.settle()
        require_once(seen, 0)
    assert world.events("NotOurs")
    assert world.condition("Conflict")["status"] == "False"


def test_more_workers_than_the_size_are_taken_away_and_nothing_restarts(world: World) -> None:
    make(world, replicas=2)
    before = uids(world)
    with world.watched(floor=2) as seen:
        _scale(world, 5)
        world.until(lambda: worker_set(world, 0)["metadata"]["generation"] == 3, what="put back")
        world.until(lambda: set(uids(world)) == set(before), what="they are gone")
        # The StatefulSet controller counts them for a moment longer, and so the status does.
        comes_to_rest(world)
        world.settle()
        assert set(seen.creations()) <= {"sample-0-3", "sample-0-4", "sample-0-5"}
        assert seen.creations() == seen.deletions()
    assert uids(world) == before
    assert not restarts(world)
    (event,) = world.events("WorkerReplicasChanged")
    assert event["note"] == "Put replicas of worker statefulset sample-0 back from 5 to 2"


@pytest.mark.parametrize("replicas", [0, 1])
def test_workers_scaled_away_come_back(world: World, replicas: int) -> None:
    make(world, replicas=2)
    with world.watched() as seen:
        _scale(world, replicas)
        world.until(lambda: seen.deleted() > 0, what="a worker goes")
        world.settle()
        created = seen.creations()
        assert seen.deletions() == created
    assert set(created) <= set(names_of(0)), "the other group is left alone"
    assert created["sample-0"] <= 1, "one recreation at most"
    assert len(restarts(world)) == created["sample-0"]


def _scale(world: World, replicas: int) -> None:
    change = {"spec": {"replicas": replicas}}
    world.kube.patch("statefulsets", "sample-0", change, world.namespace, subresource="scale")


def test_a_template_changed_by_hand_is_told_and_left_alone(world: World) -> None:
    make(world, replicas=2, template={"restartPolicy": "None"})
    with world.watched() as seen, world.counting() as count:
        _change_template(world)
        world.until(lambda: seen.created() == 2, what="the StatefulSet controller rolls them")
        world.settle()
        touched = [one for one in world.writes(count) if one.resource == "statefulsets"]
        assert not touched
        assert seen.creations() == seen.deletions() == {"sample-0-1": 1, "sample-0-2": 1}
    (event,) = world.events("WorkerTemplateChanged")
    assert event["type"] == "Warning"
    assert "spec.template.spec.containers" in event["note"]
    assert world.images() == {"serve:1": 4, "byhand:1": 2}


def test_a_template_changed_by_hand_goes_with_the_group_that_it_restarts(world: World) -> None:
    make(world, replicas=2)
    with world.watched() as seen:
        _change_template(world)
        world.until(lambda: seen.created("sample-0") == 1, what="the group is recreated")
        world.settle()
        assert seen.creations()["sample-0"] == 1
        assert not set(seen.creations()) & set(names_of(1))
    assert world.images() == {"serve:1": 6}
    assert recreations(world) == 1


def _change_template(world: World) -> None:
    container = {"name": "serve", "image": "byhand:1"}
    change = {"spec": {"template": {"spec": {"containers": [container]}}}}
    world.kube.patch("statefulsets", "sample-0", change, world.namespace, kind="strategic")
