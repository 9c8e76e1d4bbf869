"""Tokens of service accounts: what they say, and how long they are taken."""

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server
from lws.sandbox.server.authentication.accounts import TokenRefused
from lws.sandbox.store import Store, open_journal
from tests.unit.sandbox.server.conftest import Client

INSIDE = "/api/v1/namespaces/default"
ISSUER = "https://kubernetes.default.svc"


def read(token: str) -> tuple[Any, Any]:
    """Header and claims."""
    header, claims, _ = token.split(".")
    return tuple(json.loads(urlsafe_b64decode(one + "==")) for one in (header, claims))


async def account(client: Client, name: str = "a") -> str:
    made = await client.json("POST", f"{INSIDE}/serviceaccounts", {"metadata": {"name": name}})
    return str(made["metadata"]["uid"])


async def token_of(client: Client, name: str = "a", **spec: Any) -> str:
    path = f"{INSIDE}/serviceaccounts/{name}/token"
    answer = await client.json("POST", path, {"spec": spec})
    return str(answer["status"]["token"])


async def reviewed(client: Client, token: str, **spec: Any) -> Any:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    return (await client.json("POST", path, {"spec": {"token": token, **spec}}))["status"]


async def test_a_token_says_what_kubernetes_says(client: Client, clock: VirtualClock) -> None:
    uid, now = await account(client), int(clock.now())
    header, claims = read(await token_of(client, expirationSeconds=600))
    assert (header["alg"], len(header["kid"])) == ("ES256", 43)
    assert len(claims.pop("jti")) == 36
    assert claims == {
        "iss": ISSUER,
        "sub": "system:serviceaccount:default:a",
        "aud": [ISSUER],
        "iat": now,
        "nbf": now,
        "exp": now + 600,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "a", "uid": uid}},
    }


async def test_its_bearer_is_the_account(server: Server, client: Client) -> None:
    uid = await account(client)
    token = await token_of(client)
    user = server.handler.user_of(token)
    assert user is not None
    assert (user.name, user.uid) == ("system:serviceaccount:default:a", uid)
    assert user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    )
    jti = read(token)[1]["jti"]
    assert user.extra == (("authentication.kubernetes.io/credential-id", (f"JTI={jti}",)),)
    status = await reviewed(client, token)
    assert (status["authenticated"], status["audiences"]) == (True, [ISSUER])


async def test_it_ends(server: Server, client: Client, clock: VirtualClock) -> None:
    await account(client)
    token = await token_of(client, expirationSeconds=600)
    clock.advance(599)
    assert server.handler.user_of(token) is not None
    clock.advance(1)
    assert server.handler.user_of(token) is None
    words = "[invalid bearer token, service account token has expired]"
    assert await reviewed(client, token) == {"user": {}, "error": words}


async def test_it_goes_with_its_account_and_is_not_that_of_the_next(client: Client) -> None:
    old = await account(client)
    token = await token_of(client)
    await client.ask("DELETE", f"{INSIDE}/serviceaccounts/a")
    gone = await reviewed(client, token)
    assert gone["error"] == '[invalid bearer token, serviceaccounts "a" not found]'
    new = await account(client)
    other = await reviewed(client, token)
    assert other["error"] == (
        f"[invalid bearer token, service account UID ({new}) does not match claim ({old})]"
    )


@pytest.mark.parametrize(
    ("kind", "path", "claim"),
    [
        ("Pod", f"{INSIDE}/pods", "pod"),
        ("Secret", f"{INSIDE}/secrets", "secret"),
        ("Node", "/api/v1/nodes", "node"),
    ],
)
async def test_it_goes_with_what_it_is_bound_to(
    client: Client, kind: str, path: str, claim: str
) -> None:
    await account(client)
    spec = {"serviceAccountName": "a", "containers": [{"name": "c", "image": "i"}]}
    obj = {"metadata": {"name": "b"}, **({"spec": spec} if kind == "Pod" else {})}
    made = await client.json("POST", path, obj)
    token = await token_of(client, boundObjectRef={"kind": kind, "name": "b"})
    uid = made["metadata"]["uid"]
    assert read(token)[1]["kubernetes.io"][claim] == {"name": "b", "uid": uid}
    assert (await reviewed(client, token))["authenticated"]
    await client.ask("DELETE", f"{path}/b?gracePeriodSeconds=0")
    words = "[invalid bearer token, service account token has been invalidated]"
    assert (await reviewed(client, token))["error"] == words


async def test_a_token_for_others_is_not_for_this_server(server: Server, client: Client) -> None:
    await account(client)
    token = await token_of(client, audiences=["vault", "other"])
    assert server.handler.user_of(token) is None
    assert "is invalid for the target audiences" in (await reviewed(client, token))["error"]
    assert (await reviewed(client, token, audiences=["vault", "x"]))["audiences"] == ["vault"]


async def test_a_token_that_was_changed_or_is_of_another_server_is_refused(
    server: Server, client: Client
) -> None:
    await account(client)
    head, _, tail = (await token_of(client)).split(".")
    _, claims, _ = (await token_of(client, expirationSeconds=86400)).split(".")
    for forged in (f"{head}.{claims}.{tail}", f"{head}.{claims}.", f"{head}.{claims}.AA"):
        with pytest.raises(TokenRefused, match="cryptographic"):
            server.world.accounts.user_of(forged)
        assert server.handler.user_of(forged) is None
    elsewhere = Client(Server(clock=VirtualClock()))
    await account(elsewhere)
    assert server.handler.user_of(await token_of(elsewhere)) is None
    for nonsense in ("", "a.b.c", "..", "a.b.c.d", f"{head}.{head}.{tail}"):
        assert server.handler.user_of(nonsense) is None


async def test_tokens_live_as_long_as_the_data(tmp_path: Path, clock: VirtualClock) -> None:
    async with Server(clock=clock, store=Store(journal=open_journal(tmp_path / "data"))) as first:
        client = Client(first)
        await account(client)
        token = await token_of(client)
    async with Server(clock=clock, store=Store(journal=open_journal(tmp_path / "data"))) as second:
        assert second.handler.user_of(token) is not None
        kinds = await Client(second).json("GET", "/apis")
        assert "sandbox.lws" not in json.dumps(kinds)
        assert (await Client(second).ask("GET", "/apis/sandbox.lws/v1/keys")).status == 404


async def test_others_can_look_at_tokens_with_the_published_key(client: Client) -> None:
    await account(client)
    header, _ = read(await token_of(client))
    (key,) = (await client.json("GET", "/openid/v1/jwks"))["keys"]
    assert (key["kid"], key["alg"], key["crv"]) == (header["kid"], "ES256", "P-256")
    about = await client.json("GET", "/.well-known/openid-configuration")
    assert about["issuer"] == ISSUER
    assert about["jwks_uri"].endswith("/openid/v1/jwks")
