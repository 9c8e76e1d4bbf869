"""Tokens of service accounts: who they are for, how long, and bound to what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lws.base.clock import Clock
from lws.base.errors import LwsError
from lws.base.times import parse_time
from lws.sandbox.server.authentication.users import (
    AUTHENTICATED,
    Extra,
    User,
    account_groups,
    account_name,
)
from lws.sandbox.server.metadata import new_uid
from lws.sandbox.store import Key, Store

if TYPE_CHECKING:
    from lws.sandbox.server.authentication.signing import Signer

JsonObject = dict[str, Any]

ISSUER = "https://kubernetes.default.svc"
"""Who signs, and for whom a token is meant if nobody else is named."""
_KEY = Key("sandbox.lws/keys", "", "service-accounts")
"""No resource that is served: it lives with the objects, and nobody can read it."""
_KUBERNETES = "kubernetes.io"
_EXTRA = "authentication.kubernetes.io/"
_BOUND = {"pod": "/pods", "secret": "/secrets", "node": "/nodes"}
_GRACE_SECONDS = 60
"""For how long tokens of something that is being deleted are still taken."""


class TokenRefused(LwsError):
    """A token that we made, and do not take (any more)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a token is to say."""

    account: Mapping[str, Any]
    audiences: Sequence[str]
    seconds: int
    bound: Mapping[str, Mapping[str, Any]]
    """Objects by what the claim calls them: pod, secret, node."""


class AccountTokens:
    """Makes tokens, and says whose they are. The key is made when the first one is asked for."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._signer: Signer | None = None

    def issue(self, wanted: Claims) -> tuple[str, float]:
        """A token, and when it ends."""
        metadata, now = wanted.account["metadata"], int(self._clock.now())
        bound = {name: _named(one) for name, one in wanted.bound.items()}
        claims = {
            "iss": ISSUER,
            "sub": account_name(metadata["namespace"], metadata["name"]),
            "aud": list(wanted.audiences),
            "iat": now,
            "nbf": now,
            "exp": now + wanted.seconds,
            "jti": new_uid(self._clock),
            _KUBERNETES: {
                "namespace": metadata["namespace"],
                "serviceaccount": _named(wanted.account),
                **bound,
            },
        }
        return self._make_signer().sign(claims), float(now + wanted.seconds)

    def user_of(self, token: str, audiences: Sequence[str] = (ISSUER,)) -> User | None:
        """Whose it is; None if we did not make it, TokenRefused if we do not take it."""
        claims = self.claims(token)
        if claims is None:
            return None
        self._require_time(claims)
        if not set(claims["aud"]) & set(audiences):
            raise TokenRefused(
                f"token audiences {_listed(claims['aud'])} is invalid for the target audiences"
                f" {_listed(audiences)}"
            )
        self._require_objects(claims[_KUBERNETES])
        said = claims[_KUBERNETES]
        namespace, account = said["namespace"], said["serviceaccount"]
        return User(
            claims["sub"],
            (*account_groups(namespace), AUTHENTICATED),
            uid=account["uid"],
            extra=tuple(_extra(claims)),
        )

    def claims(self, token: str) -> JsonObject | None:
        """What one of our own tokens says; None if it is not meant to be ours."""
        if token.count(".") != 2:
            return None
        from lws.sandbox.server.authentication import signing  # few servers see such a token

        claims = signing.claims_of(token)
        if claims is None or claims.get("iss") != ISSUER:
            return None
        signer = self._known_signer()
        try:
            if signer is None:
                raise signing.BadSignature
            signer.require_signed(token)
        except signing.BadSignature:
            words = "go-jose/go-jose: error in cryptographic primitive"
            raise TokenRefused(words) from None
        return claims

    def public_keys(self) -> JsonObject:
        """With what tokens can be looked at."""
        return self._make_signer().public_keys()

    # Inside

    def _known_signer(self) -> "Signer | None":
        if self._signer is None:
            found = self._store.get(_KEY)
            if found is not None:
                from lws.sandbox.server.authentication.signing import Signer

                self._signer = Signer(found["pem"])
        return self._signer

    def _make_signer(self) -> "Signer":
        signer = self._known_signer()
        if signer is not None:
            return signer
        from lws.sandbox.server.authentication.signing import new_key

        self._store.create(_KEY, {"pem": new_key()})
        return self._make_signer()

    def _require_time(self, claims: JsonObject) -> None:
        now = self._clock.now()
        if now >= claims["exp"]:
            raise TokenRefused("service account token has expired")
        if now < int(claims["nbf"]):
            raise TokenRefused("service account token is not valid yet")

    def _require_objects(self, said: JsonObject) -> None:
        """The account and what the token is bound to are there, and are those of then."""
        namespace, account = said["namespace"], said["serviceaccount"]
        found = self._store.get(Key("/serviceaccounts", namespace, account["name"]))
        if found is None:
            raise TokenRefused(f'serviceaccounts "{account["name"]}" not found')
        uid = found["metadata"]["uid"]
        if uid != account["uid"]:
            raise TokenRefused(
                f"service account UID ({uid}) does not match claim ({account['uid']})"
            )
        bound = next((name for name in _BOUND if name in said), None)
        if self._is_gone(found) or (bound is not None and self._has_gone(said, bound)):
            raise TokenRefused("service account token has been invalidated")

    def _has_gone(self, said: JsonObject, bound: str) -> bool:
        namespace = "" if bound == "node" else said["namespace"]
        found = self._store.get(Key(_BOUND[bound], namespace, said[bound]["name"]))
        if found is None or found["metadata"]["uid"] != said[bound]["uid"]:
            return True
        return self._is_gone(found)

    def _is_gone(self, obj: Mapping[str, Any]) -> bool:
        deleted = obj["metadata"].get("deletionTimestamp")
        return bool(deleted) and self._clock.now() > parse_time(deleted) + _GRACE_SECONDS


def _named(obj: Mapping[str, Any]) -> JsonObject:
    metadata = obj["metadata"]
    return {name: metadata[name] for name in ("name", "uid") if name in metadata}


def _extra(claims: JsonObject) -> Extra:
    said = claims[_KUBERNETES]
    known = {"credential-id": f"JTI={claims['jti']}"}
    for name in ("node", "pod"):
        for field, value in said.get(name, {}).items():
            known[f"{name}-{field}"] = value
    return tuple((f"{_EXTRA}{name}", (value,)) for name, value in known.items())


def _listed(values: Sequence[str]) -> str:
    quoted = " ".join(f'"{one}"' for one in values)
    return f"[{quoted}]"
