"""Rotation while reviews come in over HTTPS: the webhook server, the keeper and an API server in
memory that checks certificates, in real time. Needs no control plane."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from lws.api.crds import custom_resource_definitions
from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.manager.certificates import keeper as keeping
from lws.manager.certificates.authority import KeyPair, new_authority, new_serving
from lws.manager.certificates.keeper import CONFIGURATIONS, CertificateKeeper
from lws.runtime import certificates as reading
from lws.runtime.clock import RealClock
from lws.runtime.metrics import Metrics
from lws.runtime.servers import serve_https
from lws.sandbox.http import HttpWebhooks
from lws.sandbox.server import Server
from lws.sandbox.server.admission import Webhooks, WebhookTarget
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller
from lws.sandbox.transport import LocalTransport
from lws.webhooks.configuration import (
    ServiceAddress,
    mutating_configuration,
    validating_configuration,
)
from lws.webhooks.dispatch import handle
from tests.integration.leaderworkerset.manifests import leader_worker_set

DAY = 86_400.0
NAMESPACE, SECRET, SERVICE = "kube-system", "lws-webhook-server-cert", "lws-webhook-service"
HOSTS = [f"{SERVICE}.{NAMESPACE}.svc", f"{SERVICE}.{NAMESPACE}.svc.cluster.local", "127.0.0.1"]
PER_SECOND = 100
FRESH_EVERY = 10
DRY = Caller(dry_run=True)


class Callers:
    """Keeps its connections, as an API server does, and makes every tenth call over a new one: that
    one checks the certificate."""

    def __init__(self, port: int) -> None:
        self._services = {f"{SERVICE}.{NAMESPACE}.svc:443": ("127.0.0.1", port)}
        self._kept = HttpWebhooks(services=self._services)
        self._calls = 0
        self.handshakes = 0

    async def call(self, target: WebhookTarget, body: bytes, *, timeout_seconds: float) -> bytes:
        self._calls += 1
        if self._calls % FRESH_EVERY:
            return await self._kept.call(target, body, timeout_seconds=timeout_seconds)
        fresh = HttpWebhooks(services=self._services)
        try:
            answer = await fresh.call(target, body, timeout_seconds=timeout_seconds)
        finally:
            await fresh.close()
            await asyncio.sleep(0.05)  # TLS says goodbye after the close
        self.handshakes += 1
        return answer

    async def close(self) -> None:
        await self._kept.close()


class World:
    """An API server whose webhooks are asked over HTTPS, and what came of the reviews."""

    def __init__(self, folder: Path, port: int) -> None:
        self.callers = Callers(port)
        self.clock = RealClock()
        self.server = Server(clock=self.clock, admission=Webhooks(self.callers))
        self.folder = folder
        self.admitted = 0
        self.refused: list[str] = []
        self.first_ca = b""

    async def install(self) -> None:
        for definition in custom_resource_definitions():
            await self.server.api.create(resources.CRDS, dict(definition))
        address = ServiceAddress(name=SERVICE, namespace=NAMESPACE)
        for (resource, _), make in zip(
            CONFIGURATIONS, (mutating_configuration, validating_configuration), strict=True
        ):
            await self.server.api.create(resource, dict(make(address)))

    async def put(self, authority: KeyPair, *, serving_days: float) -> bytes:
        """A Secret whose serving certificate, which is returned, was made so many days ago."""
        made = self.clock.now() - serving_days * DAY
        serving = new_serving(authority, hosts=HOSTS, now=made, days=365.0)
        data = {
            "ca.crt": authority.certificate,
            "ca.key": authority.key,
            "tls.crt": serving.certificate,
            "tls.key": serving.key,
        }
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        metadata = {"name": SECRET, "namespace": NAMESPACE}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
        put = self.server.api.update if self.secret() else self.server.api.create
        await put(resources.SECRETS, body, namespace=NAMESPACE)
        return serving.certificate

    def secret(self) -> dict[str, bytes]:
        found = self.server.api.list(resources.SECRETS, namespace=NAMESPACE).items
        return {key: base64.b64decode(value) for one in found for key, value in one["data"].items()}

    async def admit(self) -> None:
        """One object, by dry run."""
        try:
            await self.server.api.create(
                resources.LEADERWORKERSETS, leader_worker_set(), namespace="default", caller=DRY
            )
            self.admitted += 1
        except ApiStatus as refusal:
            self.refused.append(refusal.message)

    async def load(self, until: asyncio.Event) -> None:
        """So many a second, or as many as the machine can do; returns when all are answered."""
        loop, places = asyncio.get_running_loop(), asyncio.Semaphore(PER_SECOND // 2)
        due = loop.time()
        async with asyncio.TaskGroup() as group:
            while not until.is_set():
                await places.acquire()
                group.create_task(self.admit()).add_done_callback(lambda _: places.release())
                due = max(due + 1 / PER_SECOND, loop.time())
                await asyncio.sleep(max(0.0, due - loop.time()))

    async def served_anew(self, *passed: bytes) -> None:
        """Until another certificate is served than the present one and those that may be passed."""
        known = {self.served(), *passed}
        async with asyncio.timeout(60):
            while self.served() in known:  # noqa: ASYNC110 - a file has no event
                await asyncio.sleep(0.05)

    def served(self) -> bytes:
        file = self.folder / "tls.crt"
        return file.read_bytes() if file.exists() else b""


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A webhook server and a keeper that run, over a CA that is due; the keeper waits one second
    for a CA to be taken up, the server looks at its files twice a second."""
    monkeypatch.setattr(keeping, "TRUSTED_SECONDS", 1.0)
    monkeypatch.setattr(reading, "LOOK_SECONDS", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world = World(tmp_path, port)
    await world.install()
    made = world.clock.now() - 2500 * DAY
    authority = new_authority(name="lws-ca", now=made, days=3650.0)
    await world.put(authority, serving_days=10.0)
    world.first_ca = authority.certificate
    keeper = CertificateKeeper(
        client=KubernetesClient(LocalTransport(world.server.handler)),
        clock=world.clock,
        metrics=Metrics(),
        namespace=NAMESPACE,
        secret=SECRET,
        service=SERVICE,
        cert_dir=world.folder,
        host="127.0.0.1",
    )
    server = serve_https(
        host="127.0.0.1", port=port, cert_dir=world.folder, handler=handle, clock=world.clock
    )
    works: tuple[Any, ...] = (server.run(), keeper.run(), *(one.run() for one in keeper.informers))
    tasks = [asyncio.create_task(work) for work in works]
    async with AsyncExitStack() as opened:
        opened.push_async_callback(world.callers.close)
        yield world
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_no_review_is_refused_while_ca_and_certificates_are_rotated(world: World) -> None:
    async with asyncio.timeout(20):
        while not world.admitted:
            await world.admit()
            await asyncio.sleep(0.05)
    world.refused.clear()
    over = asyncio.Event()
    load = asyncio.create_task(world.load(over))
    await world.served_anew()  # what the new CA signed
    authority = KeyPair(world.secret()["ca.crt"], world.secret()["ca.key"])
    assert authority.certificate != world.first_ca
    await asyncio.sleep(1.0)
    due = await world.put(authority, serving_days=250.0)
    await world.served_anew(due)  # it may be served for a moment, before the next takes its place
    async with asyncio.timeout(60):
        while world.admitted < 3 * PER_SECOND:  # noqa: ASYNC110 - a slow machine takes longer
            await asyncio.sleep(0.1)
    over.set()
    await load
    assert world.refused == []
    assert world.callers.handshakes > FRESH_EVERY
