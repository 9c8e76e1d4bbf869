"""Where each kind is served."""

import pytest

from lws.client import resources
from lws.client.resources import Resource


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (resources.PODS.path(), "/api/v1/pods"),
        (resources.PODS.path("ns"), "/api/v1/namespaces/ns/pods"),
        (resources.PODS.path("ns", "p", "status"), "/api/v1/namespaces/ns/pods/p/status"),
        (resources.NODES.path(name="n"), "/api/v1/nodes/n"),
        (
            resources.STATEFULSETS.path("ns", "s"),
            "/apis/apps/v1/namespaces/ns/statefulsets/s",
        ),
        (
            resources.LEADERWORKERSETS.path("ns", "l", "scale"),
            "/apis/leaderworkerset.x-k8s.io/v1/namespaces/ns/leaderworkersets/l/scale",
        ),
        (
            resources.CRDS.path(name="a.b"),
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b",
        ),
    ],
)
def test_paths_are_those_of_the_api_server(path: str, expected: str) -> None:
    assert path == expected


def test_a_name_cannot_leave_its_place_in_the_path() -> None:
    assert resources.PODS.path("a/b", "../c?d").endswith("/namespaces/a%2Fb/pods/..%2Fc%3Fd")


def test_a_name_with_a_colon_is_kept_as_it_is() -> None:
    roles = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False)
    assert roles.path(name="system:node").endswith("/clusterroles/system:node")


def test_an_empty_name_is_refused_since_it_would_mean_all() -> None:
    with pytest.raises(ValueError, match="no pods named ''"):
        resources.PODS.path("ns", "")


def test_a_namespaced_object_needs_its_namespace() -> None:
    with pytest.raises(ValueError, match="no pods named 'p'"):
        resources.PODS.path(name="p")


@pytest.mark.parametrize("resource", [resources.PODS, resources.NODES])
def test_a_namespace_must_be_there_and_be_allowed(resource: Resource) -> None:
    with pytest.raises(ValueError, match="in namespace"):
        resource.path("" if resource.namespaced else "ns")


def test_the_core_group_has_no_name_in_an_api_version() -> None:
    assert resources.PODS.api_version == "v1"
    assert resources.EVENTS.api_version == "events.k8s.io/v1"
