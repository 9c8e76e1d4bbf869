"""Certificates that the manager makes itself, on a real API server that checks them."""

import threading
import time
from collections.abc import Iterator

import pytest

from harness.kube import ApiError, Json
from harness.operator import Operator
from harness.plane import Plane
from harness.rights import HOME_NAMESPACE
from harness.waiting import eventually
from harness.webhooks import MUTATING, VALIDATING, install_webhooks, remove_webhooks
from tests.integration.leaderworkerset.manifests import leader_worker_set

SECRET = "lws-webhook-server-cert"
CONFIGURATIONS = (
    ("mutatingwebhookconfigurations.admissionregistration.k8s.io", MUTATING),
    ("validatingwebhookconfigurations.admissionregistration.k8s.io", VALIDATING),
)


@pytest.fixture
def managed(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator that keeps its own certificates; its configurations trust nobody at first."""
    plane = spare_control_plane
    config = {"internalCertManagement": {"enable": True}}
    running = Operator(plane, config=config, webhooks=False, environment={"ENABLE_WEBHOOKS": ""})
    for file in (running.folder / "certs").iterdir():
        if file.name.startswith("tls."):
            file.unlink()
    try:
        running.start()
        yield running
    finally:
        running.close()
        remove_webhooks(plane.kube)
        plane.kube.delete("secrets", SECRET, HOME_NAMESPACE)


def point_at(plane: Plane, operator: Operator) -> None:
    """Webhook configurations with a bundle that fits nothing."""
    wrong = operator.folder / "certs" / "ca.crt"
    install_webhooks(plane.kube, port=operator.webhook_port, ca_file=wrong)


def admits(plane: Plane, replicas: int = 1) -> Json:
    """What admission makes of a LeaderWorkerSet, by dry run."""
    path = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
    return plane.kube.request(
        "POST", path, leader_worker_set(replicas=replicas), query={"dryRun": "All"}
    )


def test_certificates_are_made_trusted_and_kept_so(
    spare_control_plane: Plane, managed: Operator
) -> None:
    plane = spare_control_plane
    point_at(plane, managed)
    eventually(lambda: admits(plane), timeout=30, retry_on=(ApiError,), what="admission works")
    secret = plane.kube.get("secrets", SECRET, HOME_NAMESPACE)
    assert secret["data"].keys() >= {"ca.crt", "ca.key", "tls.crt", "tls.key"}
    for kind, name in CONFIGURATIONS:
        for hook in plane.kube.get(kind, name)["webhooks"]:
            assert hook["clientConfig"]["caBundle"] == secret["data"]["ca.crt"]
    point_at(plane, managed)  # somebody applies the manifest again
    eventually(lambda: admits(plane), timeout=30, retry_on=(ApiError,), what="admission again")
    with pytest.raises(ApiError, match=r"spec\.replicas"):
        admits(plane, replicas=-1)


def test_no_review_is_refused_while_the_secret_is_deleted_and_made_anew(
    spare_control_plane: Plane, managed: Operator
) -> None:
    plane = spare_control_plane
    point_at(plane, managed)
    eventually(lambda: admits(plane), timeout=30, retry_on=(ApiError,), what="admission works")
    time.sleep(1)
    before = plane.kube.get("secrets", SECRET, HOME_NAMESPACE)["data"]["tls.crt"]
    refused: list[str] = []
    admitted = [0]
    stop = threading.Event()
    client = plane.client("admin")

    def load() -> None:
        path = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
        while not stop.wait(0.02):
            try:
                client.request("POST", path, leader_worker_set(), query={"dryRun": "All"})
                admitted[0] += 1
            except ApiError as error:
                refused.append(str(error))
        client.close()

    thread = threading.Thread(target=load)
    thread.start()
    try:
        plane.kube.delete("secrets", SECRET, HOME_NAMESPACE)

        def is_served_anew() -> bool:
            return managed.log.read_text().count('"msg":"serving certificate"') >= 2

        eventually(is_served_anew, timeout=60, what="the new certificate is served")
        time.sleep(2)
    finally:
        stop.set()
        thread.join()
    assert refused == []
    assert admitted[0] > 50
    assert plane.kube.get("secrets", SECRET, HOME_NAMESPACE)["data"]["tls.crt"] != before
