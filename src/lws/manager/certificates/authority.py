"""X.509: make a CA, sign a serving certificate, read what stands."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_SIGNING = (ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey)
"""Keys that sign with SHA-256, and whose signature every API server takes."""
BACKDATED = timedelta(hours=1)
"""Certificates are valid from an hour ago: API servers' clocks may be behind ours."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, PEM."""

    certificate: bytes
    key: bytes


class Unreadable(ValueError):
    """What stands is no certificate, no key, or they do not fit."""


def new_authority(*, name: str, now: float, days: float) -> KeyPair:
    """A CA that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        _builder(subject, subject, key.public_key(), now=now, days=days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return _pair(builder, key, signed_with=key)


def new_serving(authority: KeyPair, *, hosts: Sequence[str], now: float, days: float) -> KeyPair:
    """A serving certificate for these names and addresses, signed by `authority`."""
    issuer, issuer_key = _read(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
    builder = (
        _builder(issuer.subject, subject, key.public_key(), now=now, days=days)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
    )
    return _pair(builder, key, signed_with=issuer_key)


def lifetime(certificate: bytes) -> tuple[float, float]:
    """Not before and not after of the first certificate, seconds since the epoch."""
    found = _first(certificate)
    return found.not_valid_before_utc.timestamp(), found.not_valid_after_utc.timestamp()


def hosts_of(certificate: bytes) -> frozenset[str]:
    """Names and addresses that a serving certificate is for."""
    try:
        names = _first(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return frozenset()
    dns = names.value.get_values_for_type(x509.DNSName)
    addresses = names.value.get_values_for_type(x509.IPAddress)
    return frozenset([*dns, *map(str, addresses)])


def is_pair(pair: KeyPair) -> bool:
    """Whether certificate and key can be read and belong together."""
    try:
        certificate, key = _read(pair)
    except Unreadable:
        return False
    return _public(certificate.public_key()) == _public(key.public_key())


def can_sign(pair: KeyPair) -> bool:
    """Whether certificate and key belong together and make an authority, by whose signature an API
    server trusts: a foreign Secret may hold the pair of a server, or a key that we cannot use."""
    if not is_pair(pair):
        return False
    certificate, key = _read(pair)
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except (x509.ExtensionNotFound, ValueError):
        return False
    return constraints.value.ca and isinstance(key, _SIGNING)


def is_signed_by(certificate: bytes, authority: bytes) -> bool:
    """Whether the first certificate was signed by the first of `authority`."""
    try:
        _first(certificate).verify_directly_issued_by(_first(authority))
    except (ValueError, TypeError, InvalidSignature, Unreadable):
        return False
    return True


def fingerprint(certificate: bytes) -> str:
    """Short and unambiguous, for logs."""
    return hashlib.sha256(certificate).hexdigest()[:16]


def split_bundle(bundle: bytes) -> list[bytes]:
    """The certificates of a bundle, each as PEM; unreadable ones are left out."""
    try:
        found = x509.load_pem_x509_certificates(bundle)
    except ValueError:
        return []
    return [one.public_bytes(serialization.Encoding.PEM) for one in found]


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(
    issuer: x509.Name,
    subject: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    *,
    now: float,
    days: float,
) -> x509.CertificateBuilder:
    moment = datetime.fromtimestamp(now, UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment - BACKDATED)
        .not_valid_after(moment + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(
    builder: x509.CertificateBuilder,
    key: ec.EllipticCurvePrivateKey,
    *,
    signed_with: ec.EllipticCurvePrivateKey,
) -> KeyPair:
    certificate = builder.sign(signed_with, hashes.SHA256())
    return KeyPair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _first(certificate: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(certificate)[0]
    except (ValueError, IndexError) as error:
        raise Unreadable(f"not a PEM certificate: {error}") from error


def _read(pair: KeyPair) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        key = serialization.load_pem_private_key(pair.key, password=None)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"not a PEM private key: {error}") from error
    # Another controller's RSA key signs as well; only `sign` is asked of it.
    return _first(pair.certificate), key  # type: ignore[return-value]


def _public(key: object) -> bytes:
    encoded: bytes = key.public_bytes(  # type: ignore[attr-defined]
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return encoded
