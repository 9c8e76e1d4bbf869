"""What the client's tests share: a clock that a test owns, and servers on loopback."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from lws.client.connection import AuthenticationConfig, ConnectionConfig, TlsConfig
from lws.client.requests import Request
from lws.client.responses import Response
from lws.client.transport import HttpTransport, Observer, TransportOptions

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class OwnClock:
    """Time that passes only when the test says so, or at once for whoever sleeps."""

    def __init__(self, *, is_instant: bool = True) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []
        self._is_instant = is_instant
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return 1_700_000_000.0 + self.seconds

    def monotonic(self) -> float:
        return self.seconds

    def random(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._is_instant:
            self.seconds += max(0.0, seconds)
            await asyncio.sleep(0)
            return
        wake = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.seconds + seconds, wake))
        await wake

    async def advance(self, seconds: float) -> None:
        """Let time pass, and those whose time has come run."""
        end = self.seconds + seconds
        while due := [one for one in self._sleepers if one[0] <= end + 1e-9]:
            first = min(due, key=lambda one: one[0])
            self._sleepers.remove(first)
            self.seconds = max(self.seconds, first[0])
            if not first[1].done():
                first[1].set_result(None)
            await settle()
        self.seconds = end
        await settle()


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)


class Seen:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.codes: list[str] = []
        self.verbs: list[str] = []

    def on_response(self, *, verb: str, resource: str, code: str, seconds: float) -> None:
        assert seconds >= 0
        self.codes.append(code)
        self.verbs.append(f"{verb} {resource}")


class ScriptedTransport:
    """Answers in order from a list, and keeps what was asked."""

    def __init__(self, *answers: Response | bytes, chunks: list[bytes] | None = None) -> None:
        self.answers = [Response(200, {}, a) if isinstance(a, bytes) else a for a in answers]
        self.chunks = chunks or []
        self.requests: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        return self.answers.pop(0)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        self.requests.append(request)

        async def chunks() -> AsyncIterator[bytes]:
            for chunk in self.chunks:
                yield chunk

        yield chunks()


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server on loopback that gives every request to `handler`; its URL."""
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def serving_bytes(answer: bytes, *, stays_open: bool = False) -> AsyncIterator[str]:
    """A server on loopback that sends these bytes to whatever it reads; its URL."""
    is_over = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if stays_open:
                await is_over.wait()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client gave up
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        is_over.set()
        server.close()
        await server.wait_closed()


def transport_to(
    server: str,
    *,
    clock: OwnClock | None = None,
    tls: TlsConfig | None = None,
    authentication: AuthenticationConfig | None = None,
    options: TransportOptions | None = None,
    observer: Observer | None = None,
) -> HttpTransport:
    """A transport to a server, on a clock of the test's."""
    config = ConnectionConfig(
        server=server,
        tls=tls or TlsConfig(),
        authentication=authentication or AuthenticationConfig(),
    )
    return HttpTransport(
        config,
        clock=clock or OwnClock(),
        options=options,
        observers=[observer] if observer else [],
    )
