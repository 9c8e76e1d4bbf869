"""EndpointSlices of Services that select pods."""

from typing import Any

from tests.conformance.cluster.worlds.objects import (
    pod,
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import Json, World


def service(name: str = "web", **spec: Any) -> Json:
    """A headless Service of the pods of `web`."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {"kept": "yes"}},
        "spec": {"clusterIP": "None", "selector": {"app": "web"}, **spec},
    }


def test_a_headless_service_has_one_slice_of_its_pods(world: World) -> None:
    owner = world.create(service(ports=[{"name": "http", "port": 80, "targetPort": 8080}]))
    world.create(stateful_set(replicas=2))
    world.ready(2)
    world.until(lambda: len(_endpoints(world)) == 2, what="two endpoints")
    world.settle()
    (found,) = world.items("endpointslices.discovery.k8s.io")
    labels = found["metadata"]["labels"]
    assert labels == {
        "kept": "yes",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "web",
        "service.kubernetes.io/headless": "",
    }
    assert found["addressType"] == "IPv4"
    assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    reference = found["metadata"]["ownerReferences"][0]
    assert (reference["kind"], reference["uid"]) == ("Service", owner["metadata"]["uid"])
    first = world.get("pods", "web-0")
    node = first["spec"]["nodeName"]
    assert _endpoints(world)["web-0"] == {
        "addresses": [first["status"]["podIP"]],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "hostname": "web-0",
        "nodeName": node,
        "zone": world.get("nodes", node)["metadata"]["labels"]["topology.kubernetes.io/zone"],
        "targetRef": {
            "kind": "Pod",
            "namespace": world.namespace,
            "name": "web-0",
            "uid": first["metadata"]["uid"],
        },
    }


def test_a_service_without_pods_has_an_empty_slice(world: World) -> None:
    world.create(service())
    world.settle()
    (found,) = world.items("endpointslices.discovery.k8s.io")
    assert not found["endpoints"]


def test_a_service_without_selector_has_none(world: World) -> None:
    made = service()
    del made["spec"]["selector"]
    made["spec"]["ports"] = [{"port": 80}]
    world.create(made)
    world.settle()
    assert world.items("endpointslices.discovery.k8s.io") == []


def test_a_pod_that_is_not_ready_is_listed_as_such(world: World) -> None:
    world.create(service())
    world.create(with_pod_annotations(stateful_set(replicas=1), unready="yes"))
    world.until(lambda: _endpoints(world), what="an endpoint")
    conditions = {"ready": False, "serving": False, "terminating": False}
    assert _endpoints(world)["web-0"]["conditions"] == conditions
    world.annotate("web-0", unready=None)
    world.until(lambda: _endpoints(world)["web-0"]["conditions"]["ready"], what="ready")


def test_not_ready_addresses_are_published_if_it_says_so(world: World) -> None:
    world.create(service(publishNotReadyAddresses=True))
    world.create(with_pod_annotations(stateful_set(replicas=1), unready="yes"))
    world.until(lambda: _endpoints(world), what="an endpoint")
    conditions = {"ready": True, "serving": False, "terminating": False}
    assert _endpoints(world)["web-0"]["conditions"] == conditions


def test_a_terminating_pod_serves_but_is_not_ready(world: World) -> None:
    world.create(service())
    made = stateful_set(replicas=1, grace=60)
    world.create(with_pod_annotations(made, stuck="yes"))
    world.ready(1)
    world.until(lambda: _endpoints(world), what="an endpoint")
    world.delete("pods", "web-0")
    world.until(lambda: _endpoints(world)["web-0"]["conditions"]["terminating"], what="terminating")
    conditions = {"ready": False, "serving": True, "terminating": True}
    assert _endpoints(world)["web-0"]["conditions"] == conditions
    world.delete("pods", "web-0", grace=0)


def test_a_pod_that_goes_is_taken_out(world: World) -> None:
    world.create(service())
    world.create(stateful_set(replicas=2))
    world.ready(2)
    world.until(lambda: len(_endpoints(world)) == 2, what="two endpoints")
    world.scale(1)
    world.until(lambda: list(_endpoints(world)) == ["web-0"], what="one endpoint")


def test_a_pod_of_another_name_has_no_hostname(world: World) -> None:
    world.create(service())
    world.create(pod("plain", labels={"app": "web"}))
    world.until(lambda: _endpoints(world), what="an endpoint")
    assert "hostname" not in _endpoints(world)["plain"]


def test_a_change_of_the_selector_changes_the_pods(world: World) -> None:
    world.create(service())
    world.create(pod("one", labels={"app": "web"}))
    world.create(pod("two", labels={"app": "other"}))
    world.until(lambda: list(_endpoints(world)) == ["one"], what="the first")
    world.patch("services", "web", {"spec": {"selector": {"app": "other"}}})
    world.until(lambda: list(_endpoints(world)) == ["two"], what="the second")


def test_a_slice_that_somebody_deletes_comes_back(world: World) -> None:
    world.create(service())
    world.create(pod("one", labels={"app": "web"}))
    world.until(lambda: _endpoints(world), what="an endpoint")
    world.settle()
    (old,) = world.items("endpointslices.discovery.k8s.io")
    world.delete("endpointslices.discovery.k8s.io", old["metadata"]["name"])
    world.until(lambda: _endpoints(world), what="another slice")


def test_a_port_by_name_is_the_pod_s(world: World) -> None:
    world.create(service(ports=[{"name": "http", "port": 80, "targetPort": "web"}]))
    container = {
        "name": "main",
        "image": "app:1",
        "ports": [{"name": "web", "containerPort": 9090}],
    }
    world.create(pod("one", labels={"app": "web"}, containers=[container]))
    world.until(lambda: _endpoints(world), what="an endpoint")
    (found,) = world.items("endpointslices.discovery.k8s.io")
    assert found["ports"][0]["port"] == 9090


def test_slices_go_with_their_service(world: World) -> None:
    world.create(service())
    world.until(lambda: world.items("endpointslices.discovery.k8s.io"), what="a slice")
    world.delete("services", "web")
    world.until(lambda: not world.items("endpointslices.discovery.k8s.io"), what="no slice")


def _endpoints(world: World) -> dict[str, Json]:
    return {
        endpoint["targetRef"]["name"]: endpoint
        for one in world.items("endpointslices.discovery.k8s.io")
        for endpoint in one["endpoints"] or ()
    }
