"""What a group is made of: start-up, Services, volume claims, TPU variables, sizes."""

import pytest

from harness import kwok, pods
from harness.kube import Json
from tests.integration.leaderworkerset.groups import (
    annotated,
    annotation,
    comes_to_rest,
    fail,
    make,
    names_of,
    recreations,
    uids,
    worker_set,
)
from tests.integration.leaderworkerset.manifests import NAME, PREFIX, claim
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]

_UNIQUE = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}


def test_with_leader_ready_no_worker_comes_before_its_leader_is_ready(world: World) -> None:
    unready = annotated(**{kwok.UNREADY: "yes"})
    make(world, replicas=2, leader=unready, spec={"startupPolicy": "LeaderReady"}, ready=False)
    world.until(lambda: len(_running(world)) == 2, what="the leaders run")
    comes_to_rest(world)
    assert set(uids(world)) == {"sample-0", "sample-1"}
    pods.release(world.kube, world.namespace, "sample-1", kwok.UNREADY)
    world.until(lambda: world.ready() == {1}, what="the group of a ready leader is made")
    comes_to_rest(world)
    assert not worker_set(world, 0)
    pods.release(world.kube, world.namespace, "sample-0", kwok.UNREADY)
    world.settle()


def test_a_leader_that_is_unready_later_keeps_its_workers(world: World) -> None:
    make(world, spec={"startupPolicy": "LeaderReady"})
    before = uids(world)
    pods.set_ready(world.kube, world.namespace, "sample-0", False)
    world.until(lambda: world.status()["readyReplicas"] == 0, what="the group is not ready")
    comes_to_rest(world)
    assert uids(world) == before
    pods.set_ready(world.kube, world.namespace, "sample-0", True)
    world.settle()


def _running(world: World) -> list[str]:
    live = world.pods.live()
    return [name for name, pod in live.items() if pod["status"]["phase"] == "Running"]


def test_a_group_of_one_is_its_leader_alone(world: World) -> None:
    make(world, replicas=2, size=1)
    assert set(world.statefulsets.live()) == {"sample"}
    assert set(uids(world)) == {"sample-0", "sample-1"}
    with world.watched() as seen:
        fail(world, "sample-0")
        world.until(lambda: seen.created("sample-0") == 1, what="it is recreated")
        world.settle()
        assert seen.creations() == seen.deletions() == {"sample-0": 1}
    assert recreations(world) == 1


def _service(world: World, name: str) -> Json:
    return world.kube.find("services", name, world.namespace) or {}


def _comes_back(world: World, name: str) -> None:
    old = _service(world, name)["metadata"]["uid"]
    world.kube.delete("services", name, world.namespace)
    world.until(
        lambda: _service(world, name).get("metadata", {}).get("uid", old) != old,
        what="the Service is back",
        timeout=10,
    )


def test_a_shared_service_that_is_deleted_is_back_at_once(world: World) -> None:
    make(world)
    before = uids(world)
    _comes_back(world, NAME)
    service = _service(world, NAME)
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == {f"{PREFIX}name": NAME}
    assert service["metadata"]["ownerReferences"][0]["uid"] == world.lws()["metadata"]["uid"]
    world.settle()
    assert uids(world) == before


def test_each_group_has_a_service_of_its_own_if_wanted_and_it_comes_back(world: World) -> None:
    make(world, replicas=2, size=2, spec=_UNIQUE)
    assert not _service(world, NAME)
    for group in (0, 1):
        leader = f"sample-{group}"
        service = _service(world, leader)
        assert service["spec"]["selector"] == {
            f"{PREFIX}name": NAME,
            f"{PREFIX}group-index": str(group),
        }
        assert service["spec"]["clusterIP"] == "None"
        assert service["spec"]["publishNotReadyAddresses"] is True
        assert service["metadata"]["labels"] == {f"{PREFIX}name": NAME}
        assert service["metadata"]["ownerReferences"][0]["uid"] == uids(world)[leader]
        for pod in names_of(group, size=2):
            assert world.pods.live()[pod]["spec"]["subdomain"] == leader
    _comes_back(world, "sample-1")
    world.settle()


def test_a_recreated_group_gets_its_service_anew(world: World) -> None:
    make(world, replicas=2, size=2, spec=_UNIQUE)
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="the group is recreated")
        world.settle()
    owner = _service(world, "sample-0")["metadata"]["ownerReferences"][0]
    assert owner["uid"] == uids(world)["sample-0"]


@pytest.mark.parametrize("labels", [{}, {f"{PREFIX}name": NAME}], ids=["without", "with our label"])
def test_a_foreign_service_of_a_groups_name_is_told_and_left_alone(
    world: World, labels: dict[str, str]
) -> None:
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "sample-1", "labels": labels},
        "spec": {"selector": {"app": "foreign"}, "ports": [{"port": 80}]},
    }
    made = world.kube.create(foreign, world.namespace)["metadata"]
    make(world, replicas=2, size=2, spec=_UNIQUE, ready=False)
    world.until(lambda: world.is_true("Conflict"), what="the conflict is told")
    assert "Service sample-1" in world.condition("Conflict")["message"]
    world.until(lambda: world.ready() == {0, 1}, what="the pods are there all the same")
    comes_to_rest(world)
    assert _service(world, "sample-1")["metadata"]["resourceVersion"] == made["resourceVersion"]
    world.kube.delete("services", "sample-1", world.namespace)
    world.until(lambda: world.condition("Conflict")["status"] == "False", what="it is over")
    world.settle()
    owner = _service(world, "sample-1")["metadata"]["ownerReferences"][0]
    assert owner["uid"] == uids(world)["sample-1"]


def _claims(world: World) -> dict[str, str]:
    found = world.kube.items("persistentvolumeclaims", world.namespace)
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in found}


def test_every_pod_has_its_volume_claims_and_keeps_them_through_a_restart(world: World) -> None:
    labelled = {"metadata": {"name": "data", "labels": {"kind": "cache"}}}
    make(world, replicas=2, size=2, template={"volumeClaimTemplates": [claim("1Gi") | labelled]})
    before = _claims(world)
    assert set(before) == {f"data-{pod}" for group in (0, 1) for pod in names_of(group, size=2)}
    found = world.kube.get("persistentvolumeclaims", "data-sample-0-1", world.namespace)
    assert found["metadata"]["labels"]["kind"] == "cache"
    assert found["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    with world.watched() as seen:
        fail(world, "sample-0-1")
        world.until(lambda: seen.created("sample-0-1") == 1, what="the group is recreated")
        world.settle()
    assert _claims(world) == before


def test_volume_claims_go_where_the_retention_policy_says_so(world: World) -> None:
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    parts = {
        "volumeClaimTemplates": [claim("1Gi")],
        "persistentVolumeClaimRetentionPolicy": policy,
    }
    make(world, replicas=2, size=2, template=parts)
    for name in ("sample", "sample-0"):
        spec = world.statefulsets.live()[name]["spec"]
        assert spec["persistentVolumeClaimRetentionPolicy"] == policy
    world.change({"replicas": 1})
    kept = {f"data-{pod}" for pod in names_of(0, size=2)}
    world.until(lambda: set(_claims(world)) == kept, what="those of the group that went are gone")
    world.settle()
    world.delete()
    world.until(lambda: not _claims(world), what="none is left")


def _tpu_worker() -> Json:
    container = {"name": "serve", "image": "serve:1"}
    return {"spec": {"containers": [container | {"resources": {"limits": {"google.com/tpu": 4}}}]}}


def _environment(pod: Json) -> dict[str, str]:
    return {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}


def test_tpu_workers_know_each_other_and_their_place(world: World) -> None:
    make(world, size=3, both=_tpu_worker())
    hosts = ["sample-0.sample", "sample-0-1.sample", "sample-0-2.sample"]
    for place, name in enumerate(names_of(0)):
        pod = world.pods.live()[name]
        environment = _environment(pod)
        assert environment["TPU_WORKER_HOSTNAMES"] == ",".join(hosts)
        assert environment["TPU_WORKER_ID"] == str(place)
        assert environment["TPU_NAME"] == "sample-0"
        assert environment["TPU_PROCESS_ADDRESSES"] == ",".join(f"{one}:8476" for one in hosts)
        assert environment["TPU_PROCESS_PORT"] == "8476"
        assert annotation(pod, "leader-requests-tpus") == (None if place == 0 else "true")


def test_a_leader_without_tpus_is_not_counted_among_them(world: World) -> None:
    make(world, size=3, worker=_tpu_worker())
    live = world.pods.live()
    assert "TPU_WORKER_ID" not in _environment(live["sample-0"])
    for place, name in enumerate(names_of(0)[1:]):
        environment = _environment(live[name])
        assert environment["TPU_WORKER_HOSTNAMES"] == "sample-0-1.sample,sample-0-2.sample"
        assert environment["TPU_WORKER_ID"] == str(place)
        assert annotation(live[name], "leader-requests-tpus") is None


def test_tpu_workers_of_a_subgroup_know_their_subgroup(world: World) -> None:
    make(world, size=4, both=_tpu_worker(), template={"subGroupPolicy": {"subGroupSize": 2}})
    environments = [_environment(world.pods.live()[name]) for name in names_of(0, size=4)]
    assert [one["TPU_WORKER_HOSTNAMES"] for one in environments] == [
        *["sample-0.sample,sample-0-1.sample"] * 2,
        *["sample-0-2.sample,sample-0-3.sample"] * 2,
    ]
    assert [one["TPU_WORKER_ID"] for one in environments] == ["0", "1", "0", "1"]
