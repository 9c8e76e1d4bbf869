"""Clients that are broken, slow, half gone or many: each gets its 4xx, and the server lives."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import orjson
import pytest

from lws.runtime.clock import RealClock
from lws.sandbox.http import HttpServer, ListenOptions, serving
from lws.sandbox.server import Server
from lws.sandbox.store import Store

MAPS = "/api/v1/namespaces/default/configmaps"


class Running:
    """A server on a port, and raw ways to it."""

    def __init__(self, server: Server, http: HttpServer, session: aiohttp.ClientSession) -> None:
        self.server, self.url, self.session = server, http.url, session
        place = urlsplit(http.url)
        self.host, self.port = place.hostname or "", place.port or 0

    async def say(self, text: bytes) -> bytes:
        """The status code that comes back for these bytes."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(text)
        line = await asyncio.wait_for(reader.readline(), 5)
        writer.transport.abort()
        return line.split(b" ")[1]

    async def lives(self) -> None:
        async with self.session.get(self.url + MAPS) as answer:
            assert answer.status == 200


@asynccontextmanager
async def running(*, window: int = 10_000) -> AsyncIterator[Running]:
    server = Server(clock=RealClock(), store=Store(window=window))
    async with (
        server,
        HttpServer(server.handler, ListenOptions()) as http,
        aiohttp.ClientSession() as session,
    ):
        one = Running(server, http, session)
        yield one
        await one.lives()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS where none is spoken\r\n\r\n", b"400"),
        (b"\x00\xff\xfe\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"GET /" + b"a" * (70 << 10) + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * (70 << 10) + b"\r\n\r\n", b"400"),
    ],
)
async def test_what_is_no_http_is_refused(text: bytes, code: bytes) -> None:
    async with running() as server:
        assert await server.say(text) == code


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "code"),
    [
        ("POST", MAPS, b"{", "application/json", 400),
        ("POST", MAPS, b"\xff\xfe", "application/json", 400),
        ("POST", MAPS, b"[" * 100_000, "application/json", 400),
        ("POST", MAPS, b"a: " + b"[" * 5_000, "application/yaml", 400),
        ("POST", MAPS, b"a: &a [*a]", "application/yaml", 400),
        ("POST", MAPS, b"k8s\x00" + b"\xff" * 50, "application/vnd.kubernetes.protobuf", 400),
        ("POST", MAPS, b"x", "text/plain", 415),
        ("POST", MAPS, b"x", "multipart/form-data; boundary=x", 415),
        ("PATCH", f"{MAPS}/a", b"{}", "application/json", 415),
        ("GET", f"{MAPS}/%2e%2e/x", None, "", 404),
        ("GET", "/%00", None, "", 404),
        ("GET", f"{MAPS}?limit=x", None, "", 400),
        ("GET", f"{MAPS}?watch=1&resourceVersion=x", None, "", 500),
        ("TRACE", MAPS, None, "", 405),
    ],
)
async def test_what_makes_no_sense_gets_its_code(
    method: str, path: str, body: bytes | None, kind: str, code: int
) -> None:
    """500 is what a real server answers there, too."""
    async with running() as server:
        headers = {"Content-Type": kind} if kind else {}
        async with server.session.request(
            method, server.url + path, data=body, headers=headers
        ) as answer:
            assert answer.status == code
            text = await answer.read()
        if text != b"404 page not found\n":
            assert orjson.loads(text)["code"] == code


async def test_a_bomb_of_yaml_anchors_is_refused_before_it_bursts() -> None:
    lines = [b"a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)]
    async with running() as server:
        headers = {"Content-Type": "application/yaml"}
        async with (
            asyncio.timeout(5),
            server.session.post(
                server.url + MAPS, data=b"\n".join(lines), headers=headers
            ) as answer,
        ):
            assert answer.status == 400


async def test_a_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.1)
    async with running() as server:
        head = (
            f"POST {MAPS} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\nConnection: close\r\n\r\n"
        )
        assert await server.say(head.encode() + b"{") == b"408"


async def test_many_half_open_connections_harm_nobody() -> None:
    async with running() as server:
        opened = [await asyncio.open_connection(server.host, server.port) for _ in range(200)]
        for number, (_, writer) in enumerate(opened):
            writer.write((b"", b"GET ", b"POST /x HTTP/1.1\r\nHost: a\r\n")[number % 3])
        await server.lives()
        for _, writer in opened:
            writer.transport.abort()


async def test_watches_that_vanish_leave_nothing_behind() -> None:
    async with running() as server:
        before = len(asyncio.all_tasks())
        path = f"{MAPS}?watch=1&timeoutSeconds=60"
        streams = [await server.session.get(server.url + path) for _ in range(100)]
        history = server.server.store._history("/configmaps")
        assert len(history._subscribers) == 100
        for stream in streams:
            stream.close()
        async with asyncio.timeout(5):
            while history._subscribers:
                await server.lives()
        gc.collect()
        assert len(asyncio.all_tasks()) <= before + 3


async def test_a_watcher_that_does_not_read_costs_no_more_than_the_history() -> None:
    """It is told that it lags too far behind, when at last it reads."""
    async with running(window=20) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port, limit=1 << 10)
        head = f"GET {MAPS}?watch=1&timeoutSeconds=60 HTTP/1.1\r\nHost: a\r\n\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
        store, big = server.server.store, "x" * 500_000
        history = store._history("/configmaps")
        for number in range(60):
            body = {"metadata": {"name": f"m{number}"}, "data": {"a": big}}
            async with server.session.post(server.url + MAPS, json=body) as answer:
                assert answer.status == 201
        assert len(history._changes) <= 40
        rest = bytearray()
        async with asyncio.timeout(10):
            while b'"type":"ERROR"' not in rest[-4000:]:
                rest += await reader.read(1 << 20)
        assert b"too old resource version" in rest[-4000:]
        assert rest.count(b'"type":"ADDED"') < 60
        writer.transport.abort()
