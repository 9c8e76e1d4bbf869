"""What the Secret of certificates should hold, whatever it holds."""

from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from lws.manager.certificates.authority import (
    KeyPair,
    hosts_of,
    is_pair,
    is_signed_by,
    lifetime,
    new_authority,
    new_serving,
    split_bundle,
)
from lws.manager.certificates.planning import (
    CA_CERT,
    CA_KEY,
    TLS_CERT,
    TLS_KEY,
    CertificatePlan,
    plan_certificates,
)

Key = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
NOW = 1_800_000_000.0
DAY = 86_400.0
HOSTS = ("lws-webhook-service.lws-system.svc", "127.0.0.1")


def planned(data: dict[str, bytes], **changes: Any) -> CertificatePlan:
    return plan_certificates(
        data,
        hosts=changes.get("hosts", HOSTS),
        now=changes.get("now", NOW),
        is_bundle_trusted=changes.get("trusted", True),
    )


@pytest.fixture(scope="module")
def whole() -> dict[str, bytes]:
    """A Secret as the first replica writes it."""
    written = planned({}).data
    assert written is not None
    return written


def test_an_empty_secret_gets_a_ca_and_a_certificate_for_the_service(
    whole: dict[str, bytes],
) -> None:
    assert hosts_of(whole[TLS_CERT]) == set(HOSTS)
    assert is_signed_by(whole[TLS_CERT], whole[CA_CERT])
    assert is_pair(KeyPair(whole[CA_CERT], whole[CA_KEY]))
    start, end = lifetime(whole[TLS_CERT])
    assert start == NOW - 3600
    assert end == NOW + 365 * DAY


def test_a_whole_secret_is_left_alone_until_a_third_is_left(whole: dict[str, bytes]) -> None:
    plan = planned(whole)
    assert plan.data is None
    assert plan.serving == KeyPair(whole[TLS_CERT], whole[TLS_KEY])
    assert plan.bundle == whole[CA_CERT]
    assert plan.wake_after == pytest.approx(365 * DAY * 2 / 3, rel=0.01)


@pytest.mark.parametrize("part", [CA_CERT, CA_KEY])
@pytest.mark.parametrize("garbage", [b"", b"garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_garbled_ca_is_made_anew_with_all_that_it_signed(
    whole: dict[str, bytes], part: str, garbage: bytes
) -> None:
    plan = planned({**whole, part: garbage})
    assert plan.data is not None
    assert plan.data[CA_CERT] != whole[CA_CERT]
    assert is_signed_by(plan.data[TLS_CERT], plan.data[CA_CERT])


@pytest.mark.parametrize("part", [TLS_CERT, TLS_KEY])
def test_a_garbled_serving_certificate_is_signed_anew_by_the_same_ca(
    whole: dict[str, bytes], part: str
) -> None:
    plan = planned({**whole, part: b"garbage"})
    assert plan.data is not None
    assert plan.serving is None
    assert plan.data[CA_CERT] == whole[CA_CERT]
    assert is_signed_by(plan.data[TLS_CERT], whole[CA_CERT])


def test_a_key_of_another_certificate_is_no_pair(whole: dict[str, bytes]) -> None:
    other = new_authority(name="other", now=NOW, days=1)
    plan = planned({**whole, TLS_KEY: other.key})
    assert plan.why == "there is no usable serving certificate"


def test_a_certificate_that_nears_its_end_is_renewed_and_served_until_then(
    whole: dict[str, bytes],
) -> None:
    plan = planned(whole, now=NOW + 300 * DAY)
    assert plan.data is not None
    assert plan.serving == KeyPair(whole[TLS_CERT], whole[TLS_KEY])
    assert plan.data[CA_CERT] == whole[CA_CERT]


def test_another_service_name_needs_another_certificate(whole: dict[str, bytes]) -> None:
    plan = planned(whole, hosts=("other.lws-system.svc",))
    assert plan.data is not None
    assert hosts_of(plan.data[TLS_CERT]) == {"other.lws-system.svc"}


def aged(whole: dict[str, bytes]) -> dict[str, bytes]:
    """A Secret whose CA is nine years old, its certificate fresh."""
    old = new_authority(name="lws-ca", now=NOW - 9 * 365 * DAY, days=3650)
    serving = new_serving(old, hosts=HOSTS, now=NOW, days=365)
    return {
        CA_CERT: old.certificate,
        CA_KEY: old.key,
        TLS_CERT: serving.certificate,
        TLS_KEY: serving.key,
    }


def test_a_new_ca_is_trusted_before_it_signs(whole: dict[str, bytes]) -> None:
    old = aged(whole)
    first = planned(old)
    assert first.data is not None
    newer, older = split_bundle(first.data[CA_CERT])
    assert older == old[CA_CERT]
    assert first.data[TLS_CERT] == old[TLS_CERT]
    waiting = planned(first.data, trusted=False)
    assert waiting.data is None
    assert waiting.serving == KeyPair(old[TLS_CERT], old[TLS_KEY])
    second = planned(first.data, trusted=True)
    assert second.data is not None
    assert is_signed_by(second.data[TLS_CERT], newer)
    assert split_bundle(second.data[CA_CERT]) == [newer, older]
    assert planned(second.data).data is None


def test_an_expired_ca_is_replaced_at_once(whole: dict[str, bytes]) -> None:
    plan = planned(whole, now=NOW + 4000 * DAY)
    assert plan.why == "there is no usable CA"


def test_a_certificate_of_another_clock_that_is_ahead_is_served(whole: dict[str, bytes]) -> None:
    plan = planned(whole, now=NOW - 2 * DAY)
    assert plan.data is None
    assert plan.serving is not None


def self_signed(key: Key, *, ca: bool) -> dict[str, bytes]:
    """What somebody else may have put under the authority's keys."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    builder = (
        x509.CertificateBuilder(name, name, key.public_key(), serial_number=1)
        .not_valid_before(datetime.fromtimestamp(NOW - DAY, UTC))
        .not_valid_after(datetime.fromtimestamp(NOW + 365 * DAY, UTC))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {CA_CERT: builder.sign(key, algorithm).public_bytes(pem), CA_KEY: private}


@pytest.mark.parametrize(
    "foreign",
    [
        self_signed(ed25519.Ed25519PrivateKey.generate(), ca=True),
        self_signed(ec.generate_private_key(ec.SECP256R1()), ca=False),
    ],
    ids=["a key that does not sign with SHA-256", "a server's own certificate"],
)
def test_an_authority_that_cannot_sign_for_us_is_made_anew(foreign: dict[str, bytes]) -> None:
    plan = planned(foreign)
    assert plan.why == "there is no usable CA"
    assert plan.data is not None
    assert planned(plan.data).data is None


def test_an_rsa_authority_of_the_public_controller_signs_on() -> None:
    theirs = self_signed(rsa.generate_private_key(65537, 2048), ca=True)
    plan = planned(theirs)
    assert plan.data is not None
    assert plan.data[CA_CERT] == theirs[CA_CERT]
    assert is_signed_by(plan.data[TLS_CERT], theirs[CA_CERT])


def test_a_certificate_of_a_stranger_is_not_kept(whole: dict[str, bytes]) -> None:
    stranger = new_authority(name="x", now=NOW, days=10)
    serving = new_serving(stranger, hosts=HOSTS, now=NOW, days=10)
    plan = planned({**whole, TLS_CERT: serving.certificate, TLS_KEY: serving.key}, trusted=False)
    assert plan.why == "it was signed by another CA"
