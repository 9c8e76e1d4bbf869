"""The server on a port."""

import asyncio
import io
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson
import pytest
import trustme

from lws.base.errors import InvalidInput
from lws.runtime.clock import RealClock
from lws.sandbox.http import HttpServer, HttpWebhooks, ListenOptions
from lws.sandbox.http.serving import kubeconfig
from lws.sandbox.server import Server, User
from lws.sandbox.server.admission import WebhookCallError, WebhookTarget

MAPS = "/api/v1/namespaces/default/configmaps"


@asynccontextmanager
async def _serving(
    options: ListenOptions | None = None,
) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    server = Server(clock=RealClock())
    async with (
        server,
        HttpServer(server.handler, options or ListenOptions()) as http,
        aiohttp.ClientSession() as session,
    ):
        yield http.url, session


async def _json(answer: aiohttp.ClientResponse) -> Any:
    return orjson.loads(await answer.read())


async def test_requests_on_the_port_are_those_of_the_handler() -> None:
    async with _serving() as (url, session):
        made = await session.post(url + MAPS, json={"metadata": {"name": "a"}})
        assert made.status == 201
        owner = (await _json(made))["metadata"]
        assert owner["name"] == "a"
        missing = await session.get(f"{url}{MAPS}/b")
        assert missing.status == 404
        assert (await _json(missing))["reason"] == "NotFound"
        page = await session.get(f"{url}{MAPS}?fieldSelector=metadata.name%3Da")
        assert len((await _json(page))["items"]) == 1


async def test_a_watch_is_streamed_as_it_happens() -> None:
    async with _serving() as (url, session):
        async with session.get(f"{url}{MAPS}?watch=1&timeoutSeconds=60") as stream:
            assert stream.status == 200
            await session.post(url + MAPS, json={"metadata": {"name": "a"}})
            line = await asyncio.wait_for(stream.content.readline(), 5)
            assert orjson.loads(line)["type"] == "ADDED"
        refused = await session.get(f"{url}{MAPS}?watch=1&resourceVersionMatch=Exact")
        assert refused.status == 422


async def test_only_tokens_that_are_known_are_let_in() -> None:
    everybody = ("system:authenticated",)
    tokens = {"secret": User("joe", everybody), "root": User("eve", ("system:masters",))}
    async with _serving(ListenOptions(tokens=tokens)) as (url, session):
        nobody = await session.get(url + MAPS)
        assert nobody.status == 403
        assert (await _json(nobody))["message"] == (
            'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in'
            ' API group "" in the namespace "default"'
        )
        wrong = {"Authorization": "Bearer nope"}
        assert (await session.get(url + MAPS, headers=wrong)).status == 401
        assert (await session.get(f"{url}/readyz", headers=wrong)).status == 401
        right = {"Authorization": "Bearer secret"}
        assert (await session.get(url + MAPS, headers=right)).status == 403
        assert (await session.get(f"{url}{MAPS}?watch=1", headers=right)).status == 403
        root = {"Authorization": "Bearer root"}
        assert (await session.get(url + MAPS, headers=root)).status == 200
        for path in ("/readyz", "/version"):
            assert (await session.get(url + path)).status == 200
        review = f"{url}/apis/authentication.k8s.io/v1/selfsubjectreviews"
        answer = await session.post(review, json={}, headers=right)
        assert (await _json(answer))["status"]["userInfo"]["username"] == "joe"


async def test_a_token_review_knows_the_tokens_that_are_let_in() -> None:
    options = ListenOptions(tokens={"secret": User("joe", ("system:masters",))})
    reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
    headers = {"Authorization": "Bearer secret"}
    async with _serving(options) as (url, session):
        for token, is_known in (("secret", True), ("other", False)):
            body = {"spec": {"token": token}}
            answer = await session.post(url + reviews, json=body, headers=headers)
            status = (await _json(answer))["status"]
            assert bool(status.get("authenticated")) is is_known
            assert status["user"].get("groups") == (["system:masters"] if is_known else None)


async def test_a_token_of_a_service_account_is_let_in_and_is_what_it_says() -> None:
    """Where nobody needs a token, too: then whoever has none is an administrator."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    for options in (ListenOptions(), ListenOptions(tokens={"root": User("eve")})):
        async with _serving(options) as (url, session):
            root = {"Authorization": "Bearer root"} if options.tokens else {}
            made = await session.post(
                url + accounts, json={"metadata": {"name": "a"}}, headers=root
            )
            assert made.status == 201
            asked = await session.post(f"{url}{accounts}/a/token", json={}, headers=root)
            token = (await _json(asked))["status"]["token"]
            headers = {"Authorization": f"Bearer {token}"}
            assert (await session.get(url + MAPS, headers=headers)).status == 403
            me = f"{url}/apis/authentication.k8s.io/v1/selfsubjectreviews"
            info = (await _json(await session.post(me, json={}, headers=headers)))["status"]
            assert info["userInfo"]["username"] == "system:serviceaccount:default:a"
            await session.delete(f"{url}{accounts}/a", headers=root)
            assert (await session.post(me, json={}, headers=headers)).status == 401


async def test_a_user_may_ask_in_the_name_of_another() -> None:
    me = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    as_bob = [("Impersonate-User", "bob"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b")]
    async with _serving() as (url, session):
        headers = [*as_bob, ("impersonate-extra-x%2Fy", "z"), ("Impersonate-Uid", "1")]
        answer = await _json(await session.post(url + me, json={}, headers=headers))
        assert answer["status"]["userInfo"] == {
            "username": "bob",
            "uid": "1",
            "groups": ["a", "b", "system:authenticated"],
            "extra": {"x/y": ["z"]},
        }
        assert (await session.get(f"{url}{MAPS}?watch=1", headers=as_bob)).status == 403
        assert (await session.post(url + me, json={}, headers=as_bob[1:])).status == 400


async def test_a_watch_from_before_all_that_is_remembered_is_told_so_in_its_first_line() -> None:
    server = Server(clock=RealClock())
    server.store.forget()
    http = HttpServer(server.handler, ListenOptions())
    async with server, http, aiohttp.ClientSession() as session:
        answer = await session.get(f"{http.url}{MAPS}?watch=1&resourceVersion=1")
        assert answer.status == 200
        event = await _json(answer)
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_other_machines_are_let_in_only_with_tls_and_a_token(host: str) -> None:
    token = {"secret": User("joe")}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for options in (
        ListenOptions(host=host),
        ListenOptions(host=host, tls=context),
        ListenOptions(host=host, tokens=token),
    ):
        with pytest.raises(InvalidInput, match="TLS and a token are needed"):
            options.require_safe()
    ListenOptions(host=host, tls=context, tokens=token).require_safe()


async def test_a_port_or_an_address_that_cannot_be_had_is_told_with_what_to_change() -> None:
    handler = Server(clock=RealClock()).handler
    async with HttpServer(handler, ListenOptions()) as first:
        with pytest.raises(InvalidInput) as taken:
            async with HttpServer(handler, ListenOptions(port=first.port)):
                pass
    assert str(taken.value) == (
        f"--port: cannot listen on 127.0.0.1:{first.port}: address already in use; choose"
        " another port"
    )
    safe = {"tls": ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), "tokens": {"t": User("joe")}}
    with pytest.raises(InvalidInput, match=r"--host: cannot listen on 192\.0\.2\.1: .*; name an"):
        async with HttpServer(handler, ListenOptions(host="192.0.2.1", **safe)):  # type: ignore[arg-type]
            pass


async def test_tls_is_spoken_with_the_certificate_given() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with _serving(ListenOptions(tls=context)) as (url, session):
        assert url.startswith("https://")
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        assert (await session.get(f"{url}/version", ssl=trusting)).status == 200


async def test_a_body_that_is_too_long_is_refused_before_it_is_read() -> None:
    async with _serving() as (url, session):
        answer = await session.post(url + MAPS, data=io.BytesIO(b" " * (4 << 20)))
        assert answer.status == 413
        assert (await _json(answer))["reason"] == "RequestEntityTooLarge"

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(4):
                yield b" " * (1 << 20)

        chunked = await session.post(
            url + MAPS, data=pieces(), headers={"Content-Type": "application/json"}
        )
        assert chunked.status == 413
        assert (await session.get(url + MAPS)).status == 200


def test_a_kubeconfig_leads_to_the_server_with_its_token() -> None:
    config = orjson.loads(kubeconfig("https://127.0.0.1:1", token="t", authority=b"pem"))
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
    assert config["users"][0]["user"] == {"token": "t"}


async def test_a_webhook_is_called_by_url_and_through_its_service() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "hook.system.svc").configure_cert(context)
    bundle = authority.cert_pem.bytes()

    async def answer(request: aiohttp.web.Request) -> aiohttp.web.Response:
        text = await request.read() + request.query_string.encode()
        return aiohttp.web.Response(body=text, status=500 if b"fail" in text else 200)

    app = aiohttp.web.Application()
    app.router.add_post("/hook", answer)
    runner = aiohttp.web.AppRunner(app)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    port = runner.addresses[0][1]
    client = HttpWebhooks(services={"hook.system.svc:443": ("127.0.0.1", port)})
    try:
        direct = WebhookTarget(f"https://127.0.0.1:{port}/hook", bundle)
        assert await client.call(direct, b"a", timeout_seconds=5) == b"atimeout=5s"
        service = WebhookTarget("https://hook.system.svc:443/hook", bundle, ("system", "hook"))
        assert await client.call(service, b"b", timeout_seconds=5) == b"btimeout=5s"
        there = f"https://hook.system.svc:{port}/hook"
        outside = WebhookTarget(there, bundle, ("system", "hook"), outside="127.0.0.1")
        assert await client.call(outside, b"c", timeout_seconds=5) == b"ctimeout=5s"
        with pytest.raises(WebhookCallError, match="an error on the server"):
            await client.call(direct, b"fail", timeout_seconds=5)
        with pytest.raises(WebhookCallError, match="failed to verify certificate"):
            await client.call(
                WebhookTarget(direct.url, trustme.CA().cert_pem.bytes()), b"", timeout_seconds=5
            )
        other = WebhookTarget("https://x.y.svc:443/hook", bundle, ("y", "x"))
        with pytest.raises(WebhookCallError, match='service "x" not found'):
            await client.call(other, b"", timeout_seconds=5)
    finally:
        await client.close()
        await runner.cleanup()
    with pytest.raises(WebhookCallError, match="refused"):
        await client.call(direct, b"", timeout_seconds=5)
    await client.close()
