"""Throwaway certificates and keys."""

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


@dataclass(frozen=True)
class ServerFiles:
    """PEM files of one server certificate for 127.0.0.1 and the CA that signed it."""

    ca: Path
    certificate: Path
    key: Path


def write_server_files(folder: Path, authority: trustme.CA | None = None) -> ServerFiles:
    """`ca.crt`, `tls.crt` and `tls.key` in `folder`, by `authority` or a new one."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = authority or trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    files = ServerFiles(folder / "ca.crt", folder / "tls.crt", folder / "tls.key")
    authority.cert_pem.write_to_path(files.ca)
    issued.private_key_pem.write_to_path(files.key)
    files.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    return files


def write_client_files(
    folder: Path, authority: trustme.CA, *, user: str, group: str
) -> ServerFiles:
    """A client certificate, which the API server reads as this user in this group."""
    folder.mkdir(parents=True, exist_ok=True)
    issued = authority.issue_cert("client.invalid", common_name=user, organization_name=group)
    files = ServerFiles(folder / "ca.crt", folder / "client.crt", folder / "client.key")
    authority.cert_pem.write_to_path(files.ca)
    issued.private_key_pem.write_to_path(files.key)
    issued.cert_chain_pems[0].write_to_path(files.certificate)
    return files


def write_signing_keys(folder: Path) -> tuple[Path, Path]:
    """A private and a public key for service account tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    private, public = folder / "sa.key", folder / "sa.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public
