"""The operator as a process: how the harness starts, ends and measures it."""

import secrets
from collections.abc import Iterator

import pytest

from harness import pods
from harness.kube import ApiError, Json, Kube
from harness.operator import Operator, open_operators
from harness.plane import Plane
from harness.waiting import eventually
from harness.webhooks import MUTATING


@pytest.fixture(scope="module")
def process(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator of this module's own, since its tests end it."""
    with Operator(spare_control_plane) as running:
        yield running


@pytest.fixture
def kube(spare_control_plane: Plane) -> Kube:
    """Of the control plane where nobody else has an operator."""
    return spare_control_plane.kube


@pytest.fixture
def namespace(kube: Kube) -> Iterator[str]:
    """A new namespace there."""
    name = f"test-{secrets.token_hex(4)}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    kube.delete("namespaces", name)


def leader_worker_set(name: str, *, replicas: int = 1, size: int = 2) -> Json:
    """A LeaderWorkerSet as small as it can be."""
    template = {"spec": {"containers": [{"name": "main", "image": "app:1"}]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": template},
        },
    }


def ready_pods(kube: Kube, namespace: str) -> int:
    """How many pods of the namespace are Ready."""
    return sum(map(pods.is_ready, kube.items("pods", namespace)))


def test_it_makes_a_group(process: Operator, kube: Kube, namespace: str) -> None:
    kube.create(leader_worker_set("demo", size=3), namespace)
    eventually(lambda: ready_pods(kube, namespace) == 3, what="one group of three")
    assert process.cpu_seconds() > 0
    assert 10e6 < process.memory_bytes() <= process.memory_bytes(peak=True) < 1e9


def test_its_webhooks_are_asked(process: Operator, kube: Kube, namespace: str) -> None:
    assert process.running
    with pytest.raises(ApiError, match="size"):
        kube.create(leader_worker_set("wrong", size=-1), namespace)
    assert kube.find("mutatingwebhookconfigurations", MUTATING) is not None


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_it_goes_on_after_its_end(process: Operator, kube: Kube, namespace: str, end: str) -> None:
    getattr(process, end)()
    assert not process.running
    assert process.probe("/readyz") is None
    process.start()
    kube.create(leader_worker_set("demo"), namespace)
    eventually(lambda: ready_pods(kube, namespace) == 2, what="a group made after the restart")


def test_a_program_that_ends_shows_its_log(spare_control_plane: Plane) -> None:
    broken = Operator(
        spare_control_plane, webhooks=False, command=["/bin/sh", "-c", "echo oh no; exit 3"]
    )
    with pytest.raises(RuntimeError, match=r"ended \(exit 3\).*\noh no"), broken:
        pass
    assert broken not in open_operators()
