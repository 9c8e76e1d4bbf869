"""Certificates kept in line on an API server in memory, in virtual time."""

import asyncio
import base64
import errno
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import Request
from lws.client.responses import Response
from lws.manager.certificates import keeper as keeping
from lws.manager.certificates.authority import (
    KeyPair,
    is_pair,
    is_signed_by,
    new_authority,
    new_serving,
    split_bundle,
)
from lws.manager.certificates.keeper import CONFIGURATIONS, CertificateKeeper
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.sandbox.server import Server
from lws.sandbox.transport import LocalTransport
from lws.webhooks.configuration import (
    ServiceAddress,
    mutating_configuration,
    validating_configuration,
)

DAY = 86_400.0
NAMESPACE, SECRET, SERVICE = "kube-system", "lws-webhook-server-cert", "lws-webhook-service"
HOSTS = (f"{SERVICE}.{NAMESPACE}.svc", f"{SERVICE}.{NAMESPACE}.svc.cluster.local")
Json = dict[str, Any]


class Counting(LocalTransport):
    """Knows what was written, and how it was answered."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.handler)
        self.writes: Counter[tuple[str, str, int]] = Counter()

    async def send(self, request: Request) -> Response:
        answer = await super().send(request)
        if request.method != "GET":
            self.writes[request.verb, request.resource, answer.status] += 1
        return answer


class SkewedClock:
    """A machine whose wall clock is off."""

    def __init__(self, clock: VirtualClock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self.monotonic, self.random, self.sleep = clock.monotonic, clock.random, clock.sleep

    def now(self) -> float:
        return self._clock.now() + self._seconds


class Bench:
    """An API server with both webhook configurations, and replicas on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = VirtualClock(autojump=False)
        self.server = Server(clock=self.clock)
        self.transport = Counting(self.server)
        self.tasks: list[asyncio.Task[None]] = []

    async def install(self) -> None:
        address = ServiceAddress(name=SERVICE, namespace=NAMESPACE)
        for (resource, _), make in zip(
            CONFIGURATIONS, (mutating_configuration, validating_configuration), strict=True
        ):
            await self.server.api.create(resource, dict(make(address)))

    def start(self, name: str = "a", *, ahead: float = 0.0) -> CertificateKeeper:
        keeper = CertificateKeeper(
            client=KubernetesClient(self.transport),
            clock=SkewedClock(self.clock, ahead),
            metrics=Metrics(),
            namespace=NAMESPACE,
            secret=SECRET,
            service=SERVICE,
            cert_dir=self.folder / name,
        )
        for work in (keeper.run(), *(informer.run() for informer in keeper.informers)):
            self.tasks.append(asyncio.create_task(work))
        return keeper

    async def hold(self, data: dict[str, bytes], **metadata: Any) -> None:
        """A Secret from before."""
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": SECRET, "namespace": NAMESPACE, **metadata},
            "data": encoded,
        }
        await self.server.api.create(resources.SECRETS, body, namespace=NAMESPACE)

    def secret(self) -> dict[str, bytes]:
        found = self.server.api.get(resources.SECRETS, name=SECRET, namespace=NAMESPACE)
        return {key: base64.b64decode(value) for key, value in found["data"].items()}

    def served(self, name: str = "a") -> bytes:
        return (self.folder / name / "tls.crt").read_bytes()

    def bundles(self) -> list[bytes]:
        return [
            base64.b64decode(hook["clientConfig"]["caBundle"])
            for resource, name in CONFIGURATIONS
            for hook in self.server.api.get(resource, name=name)["webhooks"]
        ]

    def require_trusted(self, name: str = "a") -> None:
        """What is served is trusted by every webhook, and fits its key."""
        data = self.secret()
        assert is_pair(KeyPair(data["tls.crt"], data["tls.key"]))
        assert self.served(name) == data["tls.crt"]
        for bundle in self.bundles():
            assert any(is_signed_by(self.served(name), one) for one in split_bundle(bundle))

    async def writes_in(self, seconds: float) -> Counter[tuple[str, str, int]]:
        before = self.transport.writes.copy()
        await self.clock.run_for(seconds)
        return self.transport.writes - before


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    async def inline(work: Callable[..., Any], *arguments: Any) -> Any:
        return work(*arguments)  # virtual time does not wait for threads

    monkeypatch.setattr(asyncio, "to_thread", inline)
    bench = Bench(tmp_path)
    await bench.install()
    yield bench
    for task in bench.tasks:
        task.cancel()
    await asyncio.gather(*bench.tasks, return_exceptions=True)


async def test_it_is_ready_only_with_a_certificate_and_then_writes_no_more(bench: Bench) -> None:
    keeper = bench.start()
    assert keeper.check() == "no serving certificate yet"
    await bench.clock.run_for(90.0)
    assert keeper.check() is None
    bench.require_trusted()
    assert await bench.writes_in(3 * 3600.0) == Counter()


def aged(now: float, *, authority_days: float = 0.0, serving_days: float = 0.0) -> Json:
    """What a Secret holds that was made so many days ago."""
    authority = new_authority(name="lws-ca", now=now - authority_days * DAY, days=3650.0)
    made = now - serving_days * DAY
    serving = new_serving(authority, hosts=HOSTS, now=made, days=365.0)
    return {
        "ca.crt": authority.certificate,
        "ca.key": authority.key,
        "tls.crt": serving.certificate,
        "tls.key": serving.key,
    }


@pytest.mark.parametrize(
    "harm",
    [
        {},
        {"ca.crt": b"", "ca.key": b"", "tls.crt": b"", "tls.key": b""},
        {"tls.crt": b"-----BEGIN CERTIFICATE-----\nnonsense"},
        {"ca.key": b"\x00\xff"},
    ],
    ids=["emptied", "blank", "garbled certificate", "garbled CA key"],
)
async def test_a_secret_that_was_harmed_is_made_whole(bench: Bench, harm: Json) -> None:
    before = aged(bench.clock.now())
    await bench.hold({**before, **harm} if harm else {}, labels={"team": "a"})
    keeper = bench.start()
    await bench.clock.run_for(120.0)
    assert keeper.check() is None
    bench.require_trusted()
    found = bench.server.api.get(resources.SECRETS, name=SECRET, namespace=NAMESPACE)
    assert found["metadata"]["labels"] == {"team": "a"}
    assert await bench.writes_in(3600.0) == Counter()


async def test_a_secret_that_is_deleted_comes_back_and_is_trusted_before_it_serves(
    bench: Bench,
) -> None:
    bench.start()
    await bench.clock.run_for(90.0)
    first = bench.served()
    await bench.server.api.delete(resources.SECRETS, name=SECRET, namespace=NAMESPACE)
    for _ in range(30):
        await bench.clock.run_for(1.0)
        served = bench.served()
        for bundle in bench.bundles():
            assert any(is_signed_by(served, one) for one in split_bundle(bundle))
    assert bench.served() != first
    bench.require_trusted()


async def test_a_serving_certificate_that_is_due_costs_one_write(bench: Bench) -> None:
    await bench.hold(aged(bench.clock.now(), authority_days=300.0, serving_days=244.0))
    bench.start()
    await bench.clock.run_for(90.0)
    bench.require_trusted()
    secrets = {key: count for key, count in bench.transport.writes.items() if key[1] == "secrets"}
    assert secrets == {("update", "secrets", 200): 1}
    assert await bench.writes_in(3600.0) == Counter()


async def test_a_ca_that_is_due_is_trusted_beside_the_old_one_before_it_signs(
    bench: Bench,
) -> None:
    old = aged(bench.clock.now(), authority_days=2500.0, serving_days=10.0)
    await bench.hold(old)
    bench.start()
    for _ in range(60):
        await bench.clock.run_for(2.0)
        for bundle in filter(None, bench.bundles()):
            assert any(is_signed_by(bench.served(), one) for one in split_bundle(bundle))
    bench.require_trusted()
    assert bench.served() != old["tls.crt"]
    assert bench.transport.writes["update", "secrets", 200] == 2  # the CA, then what it signs
    assert await bench.writes_in(3600.0) == Counter()


async def test_replicas_that_begin_together_agree_on_one_secret(bench: Bench) -> None:
    keepers = [bench.start(name) for name in "abc"]
    await bench.clock.run_for(150.0)
    assert [keeper.check() for keeper in keepers] == [None] * 3
    for name in "abc":
        bench.require_trusted(name)
    assert bench.transport.writes["create", "secrets", 201] == 1
    assert bench.transport.writes["create", "secrets", 409] == 2
    assert await bench.writes_in(3600.0) == Counter()


@pytest.mark.parametrize("days", [-400.0, 100.0, 400.0])
async def test_a_replica_whose_clock_is_off_makes_no_war(bench: Bench, days: float) -> None:
    keepers = [bench.start("a"), bench.start("b", ahead=days * DAY)]
    await bench.clock.run_for(300.0)
    assert [keeper.check() for keeper in keepers] == [None, None]
    for name in "ab":
        bench.require_trusted(name)
    assert await bench.writes_in(3600.0) == Counter()


async def test_a_full_disk_is_waited_out_and_told_by_the_readiness_probe(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = keeping._write_files

    def full(directory: Path, pair: KeyPair) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(keeping, "_write_files", full)
    keeper = bench.start()
    await bench.clock.run_for(120.0)
    assert keeper.check() == "no serving certificate yet"
    writes = bench.transport.writes.copy()
    monkeypatch.setattr(keeping, "_write_files", whole)
    await bench.clock.run_for(5.0)
    assert keeper.check() is None
    assert writes["create", "secrets", 201] == 1
    await bench.clock.run_for(60.0)
    bench.require_trusted()
