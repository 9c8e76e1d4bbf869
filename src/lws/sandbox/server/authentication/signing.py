"""JSON Web Tokens signed with an elliptic key (ES256)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

JsonObject = dict[str, Any]

_NUMBER_BYTES = 32  # of the curve P-256
_HASH = ec.ECDSA(hashes.SHA256())


class BadSignature(Exception):
    """Somebody else has written it, or changed it."""


def new_key() -> str:
    """A private key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


class Signer:
    """Signs with a key, and knows again what was signed with it."""

    def __init__(self, pem: str) -> None:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey), "made by `new_key`"
        self._key = key
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._id = _encoded(sha256(public).digest())

    def sign(self, claims: Mapping[str, Any]) -> str:
        """A token that says so."""
        header = _encoded(orjson.dumps({"alg": "ES256", "kid": self._id}))
        said = f"{header}.{_encoded(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS))}"
        numbers = decode_dss_signature(self._key.sign(said.encode(), _HASH))
        signature = b"".join(one.to_bytes(_NUMBER_BYTES, "big") for one in numbers)
        return f"{said}.{_encoded(signature)}"

    def require_signed(self, token: str) -> None:
        """BadSignature if it is not ours."""
        said, _, signature = token.rpartition(".")
        raw = _decoded(signature)
        halves = (raw[:_NUMBER_BYTES], raw[_NUMBER_BYTES:])
        first, second = (int.from_bytes(half, "big") for half in halves)
        try:
            whole = encode_dss_signature(first, second)
            self._key.public_key().verify(whole, said.encode(), _HASH)
        except InvalidSignature:
            raise BadSignature from None

    def public_keys(self) -> JsonObject:
        """For whoever wants to look at tokens himself."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_encoded(one.to_bytes(_NUMBER_BYTES, "big")) for one in (numbers.x, numbers.y))
        key = {"use": "sig", "kty": "EC", "kid": self._id, "crv": "P-256", "alg": "ES256"}
        return {"keys": [{**key, "x": x, "y": y}]}


def claims_of(token: str) -> JsonObject | None:
    """What a token says, whoever signed it; None if it is no such token."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        header, claims = (orjson.loads(_decoded(part)) for part in parts[:2])
    except ValueError:
        return None
    is_token = isinstance(header, dict) and isinstance(claims, dict)
    return claims if is_token and header.get("alg") == "ES256" else None


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:  # not base64; nobody has signed that
        return b""
