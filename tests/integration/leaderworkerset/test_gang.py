"""Gang scheduling: PodGroups as Volcano reads them, on a control plane that knows their kind."""

from collections.abc import Iterator

import pytest

from harness.kube import Json
from harness.operator import Operator
from harness.plane import Plane
from harness.waiting import eventually
from tests.integration.leaderworkerset.manifests import NAME, PREFIX, leader_worker_set
from tests.integration.leaderworkerset.worlds import World

POD_GROUPS = "podgroups.scheduling.volcano.sh"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": POD_GROUPS},
    "spec": {
        "group": "scheduling.volcano.sh",
        "scope": "Namespaced",
        "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def gang_operator(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator that is told to schedule by Volcano."""
    spare_control_plane.kube.create(DEFINITION)
    config = {"gangSchedulingManagement": {"schedulerProvider": "volcano"}}
    with Operator(spare_control_plane, config=config) as running:
        yield running


def pod_groups(world: World) -> list[Json]:
    found = world.kube.items(POD_GROUPS, world.namespace)
    return sorted(found, key=lambda one: str(one["metadata"]["name"]))


def test_each_group_has_a_pod_group_and_its_pods_say_so(
    spare_control_plane: Plane, gang_operator: Operator
) -> None:
    with World(spare_control_plane, gang_operator) as world:
        lws = leader_worker_set(replicas=2, size=3)
        annotations = {"scheduling.volcano.sh/queue-name": "inference"}
        lws["metadata"].setdefault("annotations", {}).update(annotations)
        world.kube.create(lws, world.namespace)

        def all_there() -> bool:
            return len(pod_groups(world)) == 2 and len(world.pods.live()) == 6

        eventually(all_there, timeout=60, what="two groups of three with their PodGroups")
        first = pod_groups(world)[0]
        leader = world.pods.live()[f"{NAME}-0"]
        key = leader["metadata"]["labels"][PREFIX + "template-revision-hash"]
        assert first["metadata"]["name"] == f"{NAME}-0-{key}"
        assert first["metadata"]["ownerReferences"][0]["uid"] == leader["metadata"]["uid"]
        assert first["spec"]["minMember"] == 3
        assert first["spec"]["queue"] == "inference"
        marks = {
            pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"]
            for pod in world.pods.live().values()
        }
        assert marks == {f"{NAME}-0-{key}", f"{NAME}-1-{key}"}


def test_a_pod_group_that_is_deleted_comes_back(
    spare_control_plane: Plane, gang_operator: Operator
) -> None:
    with World(spare_control_plane, gang_operator) as world:
        world.kube.create(leader_worker_set(replicas=1, size=2), world.namespace)
        (before,) = eventually(lambda: pod_groups(world), timeout=60, what="a PodGroup")
        world.kube.delete(POD_GROUPS, before["metadata"]["name"], world.namespace)

        def is_back() -> bool:
            return [one["metadata"]["uid"] for one in pod_groups(world)] not in (
                [],
                [before["metadata"]["uid"]],
            )

        eventually(is_back, timeout=30, what="the PodGroup again")
        assert world.pods.deleted() == 0
