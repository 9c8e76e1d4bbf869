"""ResourceQuotas: what is counted, what makes room, and what a controller does that finds none."""

from typing import Any

from harness.kube import ApiError
from lws.sandbox.server.status import ApiStatus
from tests.conformance.cluster.worlds.objects import claim_template, pod, stateful_set
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import Json, World


def quota(name: str = "q", **hard: str) -> Json:
    """Resources by their names with `_` for `.`, so that they can be keywords."""
    return named_quota(name, {key.replace("_", "."): value for key, value in hard.items()})


def named_quota(name: str, hard: dict[str, str], **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": {"hard": hard, **spec},
    }


def used(world: World, name: str = "q") -> Json:
    return dict((world.get("resourcequotas", name).get("status") or {}).get("used") or {})


def until_used(world: World, name: str = "q", **wanted: str) -> None:
    named = {key.replace("_", "."): value for key, value in wanted.items()}
    world.until(lambda: used(world, name).items() >= named.items(), what=f"{name} has {named}")


def refusal(world: World, obj: Json) -> str:
    try:
        world.create(obj)
    except (ApiStatus, ApiError) as refused:
        return refused.message
    return ""


def failures(world: World) -> set[str]:
    """What is said of the set's pods and claims that could not be made."""
    events = world.items("events")
    return {event["message"] for event in events if event["reason"] == "FailedCreate"}


def asking(**requests: str) -> list[Json]:
    return [{"name": "main", "image": "app:1", "resources": {"requests": requests}}]


def test_what_was_there_before_a_quota_counts_too(world: World) -> None:
    world.create(pod("one", containers=asking(cpu="100m", memory="1Gi")))
    world.create(pod("two", containers=asking(cpu="1", memory="512Mi")))
    hard = {
        "pods": "5",
        "requests.cpu": "2",
        "memory": "4Gi",
        "limits.cpu": "1",
        "requests.nvidia.com/gpu": "4",
        "count/pods": "9",
        "count/secrets": "7",
        "count/statefulsets.apps": "1",
        "services": "1",
        "requests.storage": "1Gi",
        "count/gadgets.example.com": "3",
        "requests.ephemeral-storage": "1Gi",
    }
    world.create(named_quota("q", hard))
    world.create(named_quota("best", {"pods": "3"}, scopes=["BestEffort"]))
    until_used(world, pods="2")
    until_used(world, "best", pods="0")
    assert world.get("resourcequotas", "q")["status"]["hard"] == hard
    assert used(world) == {
        "pods": "2",
        "requests.cpu": "1100m",
        "memory": "1536Mi",
        "limits.cpu": "0",
        "requests.nvidia.com/gpu": "0",
        "count/pods": "2",
        "count/secrets": "0",
        "count/statefulsets.apps": "0",
        "services": "0",
        "requests.storage": "0",
        "requests.ephemeral-storage": "0",
    }  # and nothing of gadgets, which nobody serves


def test_what_ends_makes_room(world: World) -> None:
    world.create(named_quota("q", {"pods": "1", "count/pods": "2", "count/secrets": "1"}))
    until_used(world, pods="0")
    world.create(pod("one"))
    assert refusal(world, pod("two")) == (
        'pods "two" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1,'
        " limited: pods=1"
    )
    world.until(lambda: _phase(world, "one") == "Running", what="one runs")
    world.patch("pods", "one", {"status": {"phase": "Failed"}}, subresource="status")
    until_used(world, pods="0")
    assert used(world)["count/pods"] == "1"
    world.create(pod("two"))
    assert "exceeded quota" in refusal(world, pod("three"))
    world.delete("pods", "two", grace=0)
    until_used(world, pods="0")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    world.create(secret)
    assert "exceeded quota" in refusal(world, {**secret, "metadata": {"name": "t"}})
    world.delete("secrets", "s")
    world.until(lambda: used(world)["count/secrets"] == "0", what="the secret counts no more")


def _phase(world: World, name: str) -> str:
    return str((world.get("pods", name).get("status") or {}).get("phase"))


def test_a_service_of_another_type_gives_its_node_ports_back(world: World) -> None:
    world.create(quota(services_nodeports="1"))
    until_used(world, services_nodeports="0")
    ports = {"type": "NodePort", "ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": ports}
    world.create(service)
    until_used(world, services_nodeports="1")
    assert "requested: services.nodeports=1" in refusal(
        world, {**service, "metadata": {"name": "t"}}
    )
    world.patch("services", "s", {"spec": {"type": "ClusterIP"}})
    until_used(world, services_nodeports="0")
    world.create({**service, "metadata": {"name": "t"}})


def test_a_quota_that_changes_is_counted_anew(world: World) -> None:
    world.create(quota(pods="1"))
    until_used(world, pods="0")
    world.create(pod("one", containers=asking(cpu="100m")))
    world.patch("resourcequotas", "q", {"spec": {"hard": {"pods": None, "cpu": "1"}}})
    world.until(lambda: used(world) == {"cpu": "100m"}, what="the other resource is counted")
    assert refusal(world, pod("two")) == (
        'pods "two" is forbidden: failed quota: q: must specify cpu for: main'
    )


def test_a_parallel_set_stops_at_the_first_batch_that_is_refused(world: World) -> None:
    """One pod, then two, of which one finds room; the fourth is not tried before that."""
    world.create(quota(pods="2"))
    until_used(world, pods="0")
    world.create(stateful_set(replicas=4, parallel=True))
    world.until(lambda: failures(world), what="the refusal is told")
    world.ready(2)
    world.settle()
    made = {one["metadata"]["name"] for one in world.items("pods")}
    (missing,) = {"web-1", "web-2"} - made
    assert made == {"web-0", "web-1", "web-2"} - {missing}
    why = f'pods "{missing}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2'
    said = f"Create Pod {missing} in StatefulSet web failed error: {why}, limited: pods=2"
    assert failures(world) == {said}
    assert world.status()["replicas"] == 2
    world.patch("resourcequotas", "q", {"spec": {"hard": {"pods": "4"}}})
    world.ready(4)


def test_a_set_in_order_waits_for_room_for_the_next_pod(world: World) -> None:
    world.create(quota(pods="1"))
    until_used(world, pods="0")
    world.create(stateful_set(replicas=3))
    world.until(lambda: failures(world), what="the refusal is told")
    world.settle()
    assert [one["metadata"]["name"] for one in world.items("pods")] == ["web-0"]
    why = 'pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1'
    said = f"Create Pod web-1 in StatefulSet web failed error: {why}, limited: pods=1"
    assert failures(world) == {said}
    world.delete("resourcequotas", "q")
    world.ready(3)


def test_a_deployment_tells_that_its_pods_find_no_room(world: World) -> None:
    world.create(quota(pods="1"))
    until_used(world, pods="0")
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
    del template["spec"]["terminationGracePeriodSeconds"]
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": "web"}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    world.create(made)
    world.until(lambda: _condition(world, "ReplicaFailure"), what="the refusal is told")
    why = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
    condition = _condition(world, "ReplicaFailure")
    assert (condition["status"], condition["reason"]) == ("True", "FailedCreate")
    assert condition["message"].endswith(f" is forbidden: {why}")
    assert len(world.items("pods")) == 1
    assert all(text.startswith("Error creating: pods ") for text in failures(world))
    world.delete("resourcequotas", "q")
    world.until(lambda: _condition(world, "Available").get("status") == "True", what="all three")
    assert len(world.items("pods")) == 3
    assert not _condition(world, "ReplicaFailure")


def _condition(world: World, kind: str) -> Json:
    status = world.get("deployments", "web").get("status") or {}
    return next((one for one in status.get("conditions") or () if one["type"] == kind), {})


def test_a_claim_that_is_refused_holds_its_pod_back(world: World) -> None:
    world.create(quota(persistentvolumeclaims="1"))
    until_used(world, persistentvolumeclaims="0")
    world.create(stateful_set(replicas=2, volumeClaimTemplates=[claim_template()]))
    world.until(lambda: len(failures(world)) == 2, what="the refusal is told")
    world.settle()
    assert [one["metadata"]["name"] for one in world.items("pods")] == ["web-0"]
    why = (
        'persistentvolumeclaims "data-web-1" is forbidden: exceeded quota: q, requested:'
        " persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited:"
        " persistentvolumeclaims=1"
    )
    assert failures(world) == {
        f"Create Claim data-web-1 for Pod web-1 in StatefulSet web failed error: {why}",
        f"Create Pod web-1 in StatefulSet web failed error: failed to create PVC data-web-1: {why}",
    }


def test_what_was_charged_and_not_stored_is_given_back_in_time(sandbox: SandboxWorld) -> None:
    """A real cluster does so after five minutes, too."""
    sandbox.create(named_quota("q", {"count/secrets": "5"}))
    until_used(sandbox, **{"count/secrets": "0"})
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    sandbox.create(secret)
    assert "already exists" in refusal(sandbox, secret)
    assert used(sandbox) == {"count/secrets": "2"}
    sandbox.pass_time(301)
    assert used(sandbox) == {"count/secrets": "1"}


def test_a_quota_of_objects_that_are_served_later_counts_them_from_then_on(
    sandbox: SandboxWorld,
) -> None:
    name = "count/gadgets.example.com"
    sandbox.create(named_quota("q", {name: "1"}))
    sandbox.settle()
    assert used(sandbox) == {}
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    sandbox.create(definition)
    until_used(sandbox, **{name: "0"})
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    sandbox.create(gadget)
    assert "exceeded quota" in refusal(sandbox, {**gadget, "metadata": {"name": "h"}})
    sandbox.delete("gadgets", "g")
    until_used(sandbox, **{name: "0"})
    sandbox.create(gadget)
