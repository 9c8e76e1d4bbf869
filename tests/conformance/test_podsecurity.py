"""Pod security: a real API server and the sandbox refuse the same pods with the same words."""

import secrets
from collections.abc import Iterator

import pytest

from harness.kube import ApiError, Json, Kube
from lws.client.resources import PODS, Resource
from lws.runtime.clock import RealClock
from lws.sandbox.server import ApiStatus, Caller, Server
from tests.conformance.server.podsecurity import LEVELS, VERSIONS, cases

pytestmark = pytest.mark.real

NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
DRY = Caller(dry_run=True)


@pytest.mark.parametrize("level", LEVELS)
async def test_pods_are_refused_alike(level: str, quiet_kube: Kube) -> None:
    server, found = Server(clock=RealClock()), []
    for version in VERSIONS:
        namespace = _namespace(level, version)
        quiet_kube.create(namespace)
        await server.api.create(NAMESPACES, namespace)
        name = namespace["metadata"]["name"]
        for case, pod in _asked(version):
            real, ours = _theirs(quiet_kube, name, pod), await _ours(server, name, pod)
            if real != ours:
                found.append(f"{version}, {case}\n  real {real}\n  ours {ours}")
    assert not found, "\n".join(found)


def _namespace(level: str, version: str) -> Json:
    prefix = "pod-security.kubernetes.io/enforce"
    labels = {prefix: level, f"{prefix}-version": version}
    name = f"security-{secrets.token_hex(4)}"
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _asked(version: str) -> Iterator[tuple[str, Json]]:
    """All of the newest; of older versions what is no repetition."""
    for name, pod in cases():
        if version == "latest" or not name.startswith(("two containers", "initContainers")):
            yield name, pod


def _theirs(kube: Kube, namespace: str, pod: Json) -> str:
    try:
        kube.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, query={"dryRun": "All"})
    except ApiError as refusal:
        return f"{refusal.status} {refusal.message}"
    return "taken"


async def _ours(server: Server, namespace: str, pod: Json) -> str:
    try:
        await server.api.create(PODS, pod, namespace=namespace, caller=DRY)
    except ApiStatus as refusal:
        return f"{refusal.code} {refusal.message}"
    return "taken"
