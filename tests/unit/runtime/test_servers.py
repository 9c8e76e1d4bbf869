"""Health, metrics and webhooks over real sockets; certificates change under open connections."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import trustme
from cryptography import x509
from structlog.testing import capture_logs

from lws.base.errors import InvalidInput
from lws.runtime.certificates import CertificateFiles
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.servers import Checks, Server, serve_health, serve_https, serve_metrics

HOST = "127.0.0.1"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(key_type=trustme.KeyType.ECDSA)


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[str]:
    """The server's address while it runs."""
    task = asyncio.create_task(server.run())
    await server.serving()
    scheme = "https" if server._certificates else "http"
    try:
        yield f"{scheme}://{HOST}:{server.port}"
    finally:
        task.cancel()
        await asyncio.wait((task,))


def write_certificate(directory: Path, authority: trustme.CA, name: str) -> None:
    certificate = authority.issue_cert(name, HOST, key_type=trustme.KeyType.ECDSA)
    certificate.private_key_pem.write_to_path(str(directory / "tls.key"))
    chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
    (directory / "tls.crt").write_bytes(chain)


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def names_served(port: int, authority: trustme.CA) -> set[str]:
    """The names in the certificate of a fresh connection."""
    reader, writer = await asyncio.open_connection(HOST, port, ssl=trusting(authority))
    certificate = writer.get_extra_info("peercert")
    writer.close()
    await writer.wait_closed()
    del reader
    return {value for kind, value in certificate["subjectAltName"] if kind == "DNS"}


async def test_health_answers_by_its_checks() -> None:
    liveness, readiness = Checks(), Checks()
    problem: list[str] = []
    liveness.add("ping", lambda: None)
    readiness.add("cache", lambda: problem[0] if problem else None)
    server = serve_health(host=HOST, port=0, liveness=liveness, readiness=readiness)
    async with running(server) as url, aiohttp.ClientSession() as session:
        async with session.get(f"{url}/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
        async with session.get(f"{url}/readyz?verbose") as answer:
            assert "[+]cache ok" in await answer.text()
        problem.append("not synced")
        async with session.get(f"{url}/readyz") as answer:
            assert answer.status == 500
            assert "[-]cache failed: not synced" in await answer.text()
        async with session.get(f"{url}/healthz") as answer:
            assert answer.status == 200


def test_a_check_that_raises_is_a_failing_check() -> None:
    checks = Checks()
    checks.add("broken", lambda: str(1 // 0))
    assert "ZeroDivisionError" in checks.problems()["broken"]


async def test_metrics_are_shown_to_those_who_may_see_them() -> None:
    metrics = Metrics()
    metrics.leads("lease", True)

    async def authorize(token: str, verb: str, path: str) -> bool:
        assert (verb, path) == ("get", "/metrics")
        if token == "broken":
            raise TimeoutError
        return token == "good"

    server = serve_metrics(host=HOST, port=0, metrics=metrics, authorize=authorize)
    async with running(server) as url, aiohttp.ClientSession() as session:
        statuses = {}
        for header in ("", "Bearer good", "Bearer bad", "Bearer broken", "Basic good", "Bearer "):
            headers = {"Authorization": header} if header else {}
            async with session.get(f"{url}/metrics", headers=headers) as answer:
                statuses[header] = answer.status
                if answer.status == 200:
                    text = await answer.text()
    assert statuses == {
        "": 401,
        "Bearer good": 200,
        "Bearer bad": 403,
        "Bearer broken": 503,
        "Basic good": 401,
        "Bearer ": 401,
    }
    assert 'leader_election_master_status{name="lease"} 1.0' in text


async def test_webhooks_answer_json_and_survive_their_mistakes(
    tmp_path: Path, authority: trustme.CA
) -> None:
    def handle(path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/fail":
            raise KeyError("lost")
        return 200, b'{"path":"%s","length":%d}' % (path.encode(), len(body))

    write_certificate(tmp_path, authority, "one.test")
    server = serve_https(
        host=HOST,
        port=0,
        cert_dir=tmp_path,
        handler=handle,
        clock=VirtualClock(autojump=False),
        body_bytes_max=1000,
    )
    connector = aiohttp.TCPConnector(ssl=trusting(authority))
    async with running(server) as url, aiohttp.ClientSession(connector=connector) as session:
        async with session.post(f"{url}/mutate--v1-pod", data=b"x" * 1000) as answer:
            assert await answer.json() == {"path": "/mutate--v1-pod", "length": 1000}
        async with session.post(f"{url}/a", data=b"x" * 1001) as answer:
            assert answer.status == 413
            assert "1000 bytes" in (await answer.json())["message"]
        async with session.post(f"{url}/fail", data=b"{}") as answer:
            assert answer.status == 500
        async with session.get(f"{url}/a") as answer:
            assert answer.status == 405


async def test_a_body_that_never_ends_is_given_up(tmp_path: Path, authority: trustme.CA) -> None:
    write_certificate(tmp_path, authority, "one.test")
    clock = VirtualClock(autojump=False)
    server = serve_https(
        host=HOST, port=0, cert_dir=tmp_path, handler=lambda path, body: (200, b""), clock=clock
    )
    async with running(server):
        reader, writer = await asyncio.open_connection(HOST, server.port, ssl=trusting(authority))
        writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
        head = asyncio.create_task(reader.readline())
        while not head.done():
            clock.advance(1)
            await asyncio.sleep(0.001)
        assert b"408" in head.result()
        writer.write(b"}" * 99)  # a server reads on for a while, so that the answer arrives
        await writer.drain()
        writer.close()


async def test_a_server_waits_for_its_certificate_and_is_not_ready_before(
    tmp_path: Path, authority: trustme.CA
) -> None:
    clock = VirtualClock(autojump=False)
    server = serve_https(
        host=HOST, port=0, cert_dir=tmp_path, handler=lambda path, body: (200, b""), clock=clock
    )
    task = asyncio.create_task(server.run())
    await clock.settle()
    assert server.check() == "the webhook server does not serve yet"
    write_certificate(tmp_path, authority, "one.test")
    clock.advance(10)
    await server.serving()
    assert server.check() is None
    task.cancel()
    await asyncio.wait((task,))
    assert not server.is_ready


async def test_a_new_certificate_is_served_without_a_restart(
    tmp_path: Path, authority: trustme.CA
) -> None:
    write_certificate(tmp_path, authority, "one.test")
    clock = VirtualClock(autojump=False)
    server = serve_https(
        host=HOST, port=0, cert_dir=tmp_path, handler=lambda path, body: (200, b"1"), clock=clock
    )
    connector = aiohttp.TCPConnector(ssl=trusting(authority))
    async with running(server) as url, aiohttp.ClientSession(connector=connector) as session:
        async with session.post(url) as answer:
            assert answer.status == 200
        assert await names_served(server.port, authority) == {"one.test"}
        write_certificate(tmp_path, authority, "two.test")
        clock.advance(10)
        await clock.settle()
        assert await names_served(server.port, authority) == {"two.test"}
        async with session.post(url) as answer:  # on the connection from before
            assert answer.status == 200


async def test_half_a_change_of_certificate_is_passed_over(
    tmp_path: Path, authority: trustme.CA
) -> None:
    write_certificate(tmp_path, authority, "one.test")
    clock = VirtualClock(autojump=False)
    server = serve_https(
        host=HOST, port=0, cert_dir=tmp_path, handler=lambda path, body: (200, b""), clock=clock
    )
    async with running(server):
        old_key = (tmp_path / "tls.key").read_bytes()
        write_certificate(tmp_path, authority, "two.test")
        new_key = (tmp_path / "tls.key").read_bytes()
        (tmp_path / "tls.key").write_bytes(old_key)
        clock.advance(10)
        await clock.settle()
        assert await names_served(server.port, authority) == {"one.test"}
        (tmp_path / "tls.key").write_bytes(new_key)
        clock.advance(10)
        await clock.settle()
        assert await names_served(server.port, authority) == {"two.test"}
        (tmp_path / "tls.crt").unlink()
        clock.advance(10)
        await clock.settle()
        assert await names_served(server.port, authority) == {"two.test"}


async def test_files_that_did_not_change_are_not_read_again(
    tmp_path: Path, authority: trustme.CA
) -> None:
    write_certificate(tmp_path, authority, "one.test")
    files = CertificateFiles(cert_dir=tmp_path, clock=VirtualClock())
    assert files.reload_if_changed()
    assert not files.reload_if_changed()


async def test_when_a_certificate_that_was_read_ends_is_told(
    tmp_path: Path, authority: trustme.CA
) -> None:
    told: list[float] = []
    write_certificate(tmp_path, authority, "one.test")
    files = CertificateFiles(cert_dir=tmp_path, clock=VirtualClock(), tell_expiry=told.append)
    files.reload_if_changed()
    files.reload_if_changed()
    certificate = x509.load_pem_x509_certificate((tmp_path / "tls.crt").read_bytes())
    assert told == [certificate.not_valid_after_utc.timestamp()]


async def test_tls_options_have_gos_names(tmp_path: Path) -> None:
    clock = VirtualClock()
    suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    files = CertificateFiles(
        cert_dir=tmp_path, clock=clock, min_version="VersionTLS12", cipher_suites=[suite]
    )
    names = {cipher["name"] for cipher in files.context.get_ciphers()}
    assert "ECDHE-RSA-AES128-GCM-SHA256" in names
    assert "ECDHE-RSA-AES256-GCM-SHA384" not in names
    strict = CertificateFiles(cert_dir=tmp_path, clock=clock, min_version="VersionTLS13")
    assert strict.context.minimum_version is ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize(
    ("version", "suites", "field"),
    [
        ("VersionTLS10", [], "tls.minVersion"),
        ("", ["TLS_NULL"], "tls.cipherSuites"),
        ("VersionTLS13", ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"], "tls.cipherSuites"),
    ],
)
async def test_tls_options_that_make_no_sense_are_refused(
    tmp_path: Path, version: str, suites: list[str], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        CertificateFiles(
            cert_dir=tmp_path, clock=VirtualClock(), min_version=version, cipher_suites=suites
        )
    assert caught.value.field == field
