"""The HTTP transport against servers on loopback."""

import asyncio
import gzip
from pathlib import Path

import pytest
from aiohttp import web

from lws.client import errors, requests
from lws.client.connection import AuthenticationConfig, ConnectionConfig
from lws.client.credentials import Credential
from lws.client.requests import Priority, Request
from lws.client.resources import LEASES, PODS
from lws.client.responses import Response
from lws.client.transport import HttpTransport, TransportOptions, retry_seconds
from tests.unit.client.support import (
    Handler,
    OwnClock,
    Seen,
    serving,
    serving_bytes,
    settle,
    transport_to,
)

GET = requests.get(PODS, namespace="n", name="p")
POST = requests.create(PODS, namespace="n", body={"a": 1})
RENEW = requests.replace(LEASES, namespace="n", name="l", body={}).at_priority(Priority.LEASE)
WATCH = requests.watch(PODS, resource_version="1")


def answering(*answers: web.Response) -> tuple[Handler, list[str]]:
    """A handler that gives these answers in turn, the last for ever; and the Authorization
    headers that it saw."""
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        answer = answers[min(len(seen), len(answers)) - 1]
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)

    return handle, seen


def told_to_wait(status: int, seconds: int) -> web.Response:
    return web.Response(status=status, headers={"Retry-After": str(seconds)})


async def read_stream(transport: HttpTransport, seen: list[bytes]) -> None:
    """Reads a watch to its end, keeping what came."""
    async with transport.stream(WATCH) as chunks:
        async for chunk in chunks:
            seen += [chunk]


async def test_a_request_arrives_as_it_was_built() -> None:
    async def handle(request: web.Request) -> web.Response:
        assert request.raw_path == (
            "/prefix/api/v1/namespaces/n/pods?labelSelector=a%20in%20%28b%2Cc%29"
        )
        assert request.headers["Accept"] == "application/json"
        assert request.headers["Content-Type"] == "application/json"
        assert request.headers["User-Agent"].startswith("lws/")
        assert request.headers["Impersonate-User"] == "u"
        assert request.headers.getall("Impersonate-Group") == ["g", "h"]
        assert await request.read() == b'{"a":1}'
        return web.json_response({"kind": "Pod"}, status=201, headers={"X-Some": "1"})

    request = Request(
        "POST",
        "/api/v1/namespaces/n/pods",
        query=(("labelSelector", "a in (b,c)"),),
        body=b'{"a":1}',
        content_type="application/json",
    )
    acting = AuthenticationConfig(
        impersonation=(
            ("Impersonate-User", "u"),
            ("Impersonate-Group", "g"),
            ("Impersonate-Group", "h"),
        )
    )
    async with serving(handle) as url, transport_to(f"{url}/prefix", authentication=acting) as it:
        response = await it.send(request)
    assert (response.status, response.headers["x-some"]) == (201, "1")
    assert response.body == b'{"kind": "Pod"}'


async def test_an_answer_that_is_no_success_is_an_answer() -> None:
    handle, _ = answering(web.Response(status=404, body=b"{}"))
    async with serving(handle) as url, transport_to(url) as it:
        assert (await it.send(GET)).status == 404


async def test_a_redirect_is_not_followed_since_it_would_carry_the_token_away() -> None:
    handle, seen = answering(web.Response(status=302, headers={"Location": "/elsewhere"}))
    async with serving(handle) as url, transport_to(url) as it:
        assert (await it.send(GET)).status == 302
    assert len(seen) == 1


async def test_a_compressed_answer_is_read() -> None:
    async def handle(request: web.Request) -> web.Response:
        assert request.headers["Accept-Encoding"] == "gzip"
        body = gzip.compress(b'{"a":1}')
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    async with serving(handle) as url, transport_to(url) as it:
        assert (await it.send(GET)).body == b'{"a":1}'


async def test_compression_can_be_turned_off() -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(text=request.headers["Accept-Encoding"])

    async with serving(handle) as url:
        config = ConnectionConfig(server=url, is_compressed=False)
        async with HttpTransport(config, clock=OwnClock()) as it:
            assert (await it.send(GET)).body == b"identity"


async def test_every_answer_is_observed() -> None:
    handle, _ = answering(told_to_wait(429, 1), web.Response())
    seen = Seen()
    async with serving(handle) as url, transport_to(url, observer=seen) as it:
        await it.send(GET)
    async with transport_to("http://127.0.0.1:1", observer=seen) as it:
        with pytest.raises(errors.TransportError):
            await it.send(POST)
    assert seen.codes == ["429", "200", "<error>"]
    assert seen.verbs == ["get pods", "get pods", "create pods"]


@pytest.mark.parametrize("request_", [GET, POST])
async def test_a_429_is_waited_out_for_any_verb(request_: Request) -> None:
    handle, seen = answering(told_to_wait(429, 2), told_to_wait(429, 1), web.Response())
    clock = OwnClock()
    async with serving(handle) as url, transport_to(url, clock=clock) as it:
        assert (await it.send(request_)).status == 200
    assert clock.slept == [2, 1]
    assert len(seen) == 3


async def test_waiting_out_ends_after_three_times() -> None:
    handle, seen = answering(told_to_wait(429, 1))
    async with serving(handle) as url, transport_to(url) as it:
        assert (await it.send(GET)).status == 429
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("request_", "answer", "expected"),
    [
        (GET, Response(429, {"retry-after": "1"}), 1),
        (POST, Response(429, {"retry-after": "1"}), 1),
        (GET, Response(503, {"retry-after": "1"}), 1),
        (POST, Response(503, {"retry-after": "1"}), None),
        (GET, Response(500, {"retry-after": "1"}), None),
        (GET, Response(429), None),
        (RENEW, Response(429, {"retry-after": "1"}), None),
        (GET, Response(200, {"retry-after": "1"}), None),
    ],
)
def test_only_what_the_server_has_not_begun_is_sent_again(
    request_: Request, answer: Response, expected: float | None
) -> None:
    assert retry_seconds(request_, answer) == expected


async def test_who_is_told_to_wait_long_hears_so_at_once() -> None:
    handle, seen = answering(told_to_wait(429, 3600))
    clock = OwnClock()
    async with serving(handle) as url, transport_to(url, clock=clock) as it:
        assert (await it.send(GET)).status == 429
    assert (len(seen), clock.slept) == (1, [])


async def test_a_token_that_was_rotated_is_read_again_after_a_401(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    handle, seen = answering(web.Response(), web.Response(status=401), web.Response())
    files = AuthenticationConfig(token_file=str(token))
    async with serving(handle) as url, transport_to(url, authentication=files) as it:
        await it.send(GET)
        token.write_text("new\n")
        assert (await it.send(GET)).status == 200
    assert seen == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_401_that_nothing_can_help_is_the_answer(tmp_path: Path) -> None:
    handle, seen = answering(web.Response(status=401))
    static = AuthenticationConfig(token="t")
    async with serving(handle) as url, transport_to(url, authentication=static) as it:
        assert (await it.send(GET)).status == 401
        assert len(seen) == 1
    token = tmp_path / "token"
    token.write_text("first")
    files = AuthenticationConfig(token_file=str(token))
    async with serving(handle) as url, transport_to(url, authentication=files) as it:
        await it.send(GET)
        token.write_text("second")
        assert (await it.send(GET)).status == 401
    assert seen == ["Bearer t", "Bearer first", "Bearer first", "Bearer second"]


async def test_no_server_is_an_error_that_says_nothing_was_sent() -> None:
    async with transport_to("http://127.0.0.1:1") as it:
        with pytest.raises(errors.TransportError, match=r"no connection to 127\.0\.0\.1:1") as e:
            await it.send(GET)
    assert not e.value.was_sent
    assert isinstance(e.value, errors.Retryable)


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 200"]
)
async def test_an_answer_that_is_cut_off_may_have_been_acted_on(answer: bytes) -> None:
    async with serving_bytes(answer) as url, transport_to(url) as it:
        with pytest.raises(errors.TransportError) as e:
            await it.send(POST)
    assert e.value.was_sent


async def test_what_speaks_no_http_is_malformed() -> None:
    async with serving_bytes(b"SSH-2.0-OpenSSH\r\n\r\n") as url, transport_to(url) as it:
        with pytest.raises(errors.MalformedAnswer):
            await it.send(GET)


async def test_a_request_has_its_own_time() -> None:
    async with serving_bytes(b"", stays_open=True) as url, transport_to(url) as it:
        with pytest.raises(errors.TransportError, match="no answer in time"):
            await it.send(GET.within(0.05))


async def test_a_server_that_does_not_finish_its_greeting_is_given_up() -> None:
    options = TransportOptions(connect_timeout_seconds=0.05)
    async with (
        serving_bytes(b"", stays_open=True) as url,
        transport_to(url.replace("http:", "https:"), options=options) as it,
    ):
        with pytest.raises(errors.TransportError, match="not connected in time") as e:
            await it.send(GET)
    assert not e.value.was_sent


async def test_a_401_whose_credentials_cannot_be_renewed_is_their_error() -> None:
    class Broken:
        async def current(self) -> Credential:
            return Credential("Bearer t")

        async def renew(self, _rejected: Credential, /) -> Credential:
            raise errors.CredentialsError("broken")

    handle, _ = answering(web.Response(status=401))
    async with serving(handle) as url:
        config = ConnectionConfig(server=url)
        async with HttpTransport(config, clock=OwnClock(), credentials=Broken()) as it:
            with pytest.raises(errors.CredentialsError, match="broken"):
                await it.send(GET)


async def test_a_stream_comes_as_it_is_sent() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one\n")
        await response.write(b"two\n")
        return response

    async with serving(handle) as url, transport_to(url) as it, it.stream(WATCH) as chunks:
        assert b"".join([chunk async for chunk in chunks]) == b"one\ntwo\n"


async def test_a_stream_that_is_refused_raises_what_an_answer_would() -> None:
    body = b'{"kind":"Status","code":410,"reason":"Expired","message":"too old"}'
    handle, _ = answering(web.Response(status=410, body=body))
    async with serving(handle) as url, transport_to(url) as it:
        with pytest.raises(errors.Expired, match="GET /api/v1/pods: 410 Expired: too old"):
            async with it.stream(WATCH):
                pass


async def test_a_stream_that_breaks_off_is_an_error() -> None:
    cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n9\r\ntw"
    seen: list[bytes] = []
    async with serving_bytes(cut) as url, transport_to(url) as it:
        with pytest.raises(errors.TransportError):
            await read_stream(it, seen)
    assert b"".join(seen).startswith(b"one\n")


async def test_a_stream_that_falls_silent_is_an_error() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"
    options, seen = TransportOptions(idle_timeout_seconds=0.05), list[bytes]()
    async with (
        serving_bytes(head, stays_open=True) as url,
        transport_to(url, options=options) as it,
    ):
        with pytest.raises(errors.SilentStream, match="nothing came for too long"):
            await read_stream(it, seen)
    assert seen == [b"one\n"]


async def test_a_stream_can_be_left_in_the_middle() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"
    async with (
        serving_bytes(head, stays_open=True) as url,
        transport_to(url) as it,
        it.stream(WATCH) as chunks,
    ):
        assert await anext(chunks) == b"one\n"


async def test_the_lease_is_renewed_while_all_places_are_taken_and_all_tokens_spent() -> None:
    is_over = asyncio.Event()

    async def handle(request: web.Request) -> web.Response:
        if "leases" not in request.path:
            await is_over.wait()
        return web.Response()

    options = TransportOptions(in_flight_max=1, qps=0.001, burst=1)
    clock = OwnClock(is_instant=False)
    async with serving(handle) as url, transport_to(url, clock=clock, options=options) as it:
        blocked = [asyncio.create_task(it.send(GET)) for _ in range(3)]
        await settle()
        assert (await it.send(RENEW)).status == 200
        is_over.set()
        for task in blocked:
            task.cancel()
        await asyncio.gather(*blocked, return_exceptions=True)


async def test_a_closed_transport_opens_anew() -> None:
    handle, _ = answering(web.Response())
    async with serving(handle) as url, transport_to(url) as it:
        await it.send(GET)
        await it.close()
        assert (await it.send(GET)).status == 200


async def test_a_proxy_is_gone_through() -> None:
    asked: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        asked.append(request.raw_path)
        return web.Response()

    async with serving(handle) as proxy:
        config = ConnectionConfig(server="http://api.example", proxy_url=proxy)
        async with HttpTransport(config, clock=OwnClock()) as it:
            await it.send(requests.raw_get("/version"))
    assert asked == ["http://api.example/version"]
