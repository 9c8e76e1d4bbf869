"""TLS: whom we trust, and what we show."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from lws.client import errors, requests
from lws.client.connection import AuthenticationConfig, CertificateConfig, TlsConfig
from lws.client.credentials import CertificatePair
from lws.client.files import REREAD_SECONDS
from lws.client.tls import TlsContexts, build_context
from tests.unit.client.support import OwnClock, serving, transport_to

GET = requests.raw_get("/version")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """The cluster's CA."""
    return trustme.CA()


def pem(authority: trustme.CA) -> bytes:
    return authority.cert_pem.bytes()


def server_context(
    authority: trustme.CA, host: str = "127.0.0.1", *, clients: trustme.CA | None = None
) -> ssl.SSLContext:
    """What a server shows; with `clients` it asks for a certificate of theirs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    if clients is not None:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def pair_of(authority: trustme.CA, name: str) -> CertificatePair:
    """A client certificate for a user."""
    issued = authority.issue_cert(f"{name}@example.com", common_name=name)
    chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    return CertificatePair(chain, issued.private_key_pem.bytes())


async def who(request: web.Request) -> web.Response:
    """Answers with the name in the client's certificate."""
    assert request.transport is not None
    certificate = request.transport.get_extra_info("peercert") or {}
    names = [value for part in certificate.get("subject", ()) for _, value in part]
    return web.Response(text=names[-1] if names else "nobody")


@contextmanager
def refused() -> Iterator[None]:
    with pytest.raises(errors.TransportError, match="certificate is refused") as e:
        yield
    assert not e.value.was_sent
    assert "certificate-authority" in str(e.value)


async def test_a_server_of_the_given_authority_is_trusted(authority: trustme.CA) -> None:
    tls = TlsConfig(ca_data=pem(authority))
    async with serving(who, server_context(authority)) as url, transport_to(url, tls=tls) as it:
        assert (await it.send(GET)).body == b"nobody"


async def test_a_server_of_another_authority_is_refused(authority: trustme.CA) -> None:
    tls = TlsConfig(ca_data=pem(trustme.CA()))
    async with serving(who, server_context(authority)) as url, transport_to(url, tls=tls) as it:
        with refused():
            await it.send(GET)


async def test_without_an_authority_the_systems_are_trusted_and_no_other(
    authority: trustme.CA,
) -> None:
    async with serving(who, server_context(authority)) as url, transport_to(url) as it:
        with refused():
            await it.send(GET)


async def test_a_server_of_another_name_is_refused_unless_that_name_is_expected(
    authority: trustme.CA,
) -> None:
    context = server_context(authority, "kubernetes.example")
    async with serving(who, context) as url:
        async with transport_to(url, tls=TlsConfig(ca_data=pem(authority))) as it:
            with refused():
                await it.send(GET)
        tls = TlsConfig(ca_data=pem(authority), server_name="kubernetes.example")
        async with transport_to(url, tls=tls) as it:
            assert (await it.send(GET)).status == 200


async def test_an_insecure_connection_trusts_anybody(authority: trustme.CA) -> None:
    tls = TlsConfig(is_insecure=True)
    async with serving(who, server_context(authority)) as url, transport_to(url, tls=tls) as it:
        assert (await it.send(GET)).status == 200


async def test_a_servers_own_certificate_can_be_the_authority(authority: trustme.CA) -> None:
    leaf = authority.issue_cert("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    tls = TlsConfig(ca_data=leaf.cert_chain_pems[0].bytes())
    async with serving(who, context) as url, transport_to(url, tls=tls) as it:
        assert (await it.send(GET)).status == 200


async def test_a_client_certificate_is_shown(authority: trustme.CA) -> None:
    pair = pair_of(authority, "alice")
    shown = AuthenticationConfig(
        certificate=CertificateConfig(certificate_data=pair.certificate, key_data=pair.key)
    )
    tls = TlsConfig(ca_data=pem(authority))
    context = server_context(authority, clients=authority)
    async with serving(who, context) as url:
        async with transport_to(url, tls=tls, authentication=shown) as it:
            assert (await it.send(GET)).body == b"alice"
        async with transport_to(url, tls=tls) as it:
            with pytest.raises(errors.TransportError):
                await it.send(GET)


async def test_a_client_certificate_that_was_rotated_is_shown_within_a_minute(
    authority: trustme.CA, tmp_path: Path
) -> None:
    certificate, key, clock = tmp_path / "tls.crt", tmp_path / "tls.key", OwnClock()

    def write(pair: CertificatePair) -> None:
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)

    files = AuthenticationConfig(
        certificate=CertificateConfig(certificate_file=str(certificate), key_file=str(key))
    )
    tls = TlsConfig(ca_data=pem(authority))
    write(pair_of(authority, "old"))
    async with (
        serving(who, server_context(authority, clients=authority)) as url,
        transport_to(url, tls=tls, authentication=files, clock=clock) as it,
    ):
        assert (await it.send(GET)).body == b"old"
        write(pair_of(authority, "new"))
        clock.seconds += REREAD_SECONDS
        assert (await it.send(GET)).body == b"new"


async def test_an_authority_that_was_rotated_is_trusted_within_a_minute(
    authority: trustme.CA, tmp_path: Path
) -> None:
    file, clock = tmp_path / "ca.crt", OwnClock()
    file.write_bytes(pem(trustme.CA()))
    tls = TlsConfig(ca_file=str(file))
    async with (
        serving(who, server_context(authority)) as url,
        transport_to(url, tls=tls, clock=clock) as it,
    ):
        with refused():
            await it.send(GET)
        file.write_bytes(pem(authority))
        clock.seconds += REREAD_SECONDS
        assert (await it.send(GET)).status == 200


def test_a_pair_in_the_middle_of_its_rotation_leaves_the_old_one_in_use(
    authority: trustme.CA,
) -> None:
    contexts = TlsContexts(TlsConfig(ca_data=pem(authority)), clock=OwnClock())
    old, new = pair_of(authority, "old"), pair_of(authority, "new")
    first = contexts.context(old)
    assert contexts.context(CertificatePair(new.certificate, old.key)) is first
    assert contexts.context(CertificatePair(new.certificate, old.key)) is first
    assert contexts.context(new) is not first


def test_one_context_serves_while_nothing_changes(authority: trustme.CA) -> None:
    contexts = TlsContexts(TlsConfig(ca_data=pem(authority)), clock=OwnClock())
    assert contexts.context(None) is contexts.context(None)


@pytest.mark.parametrize("data", [b"not pem", b"\xff\xfe", b"-----BEGIN CERTIFICATE-----\nx"])
def test_an_authority_that_is_no_certificate_names_its_file_and_field(data: bytes) -> None:
    config = TlsConfig(ca_file="some/ca.crt")
    with pytest.raises(errors.KubeconfigError, match=r"some/ca\.crt: certificate-authority: "):
        build_context(config, data, None)


def test_a_pair_that_does_not_fit_says_so(authority: trustme.CA) -> None:
    one, other = pair_of(authority, "a"), pair_of(authority, "b")
    with pytest.raises(errors.KubeconfigError, match="client-certificate and client-key"):
        TlsContexts(TlsConfig(), clock=OwnClock()).context(
            CertificatePair(one.certificate, other.key)
        )
