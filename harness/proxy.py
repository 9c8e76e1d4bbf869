"""A proxy between the operator and the API server that does what networks and servers do.

with FaultProxy(plane) as proxy, Operator(plane, kubeconfig=proxy.kubeconfig) as operator:
    proxy.faults = Faults(too_many=0.3, cut_every=1.0)
    ...
    proxy.faults = CALM

It ends TLS with a certificate of the control plane's own authority, so it sees every request.
"""

import asyncio
import random
import ssl
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, web
from yarl import URL

from harness.certificates import write_server_files
from harness.plane import Plane
from harness.ports import release_port, take_port

_READS = frozenset({"GET", "HEAD"})
_HOP = frozenset({"connection", "transfer-encoding", "content-length", "host", "keep-alive"})
_STATUS = (
    '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"%s","reason":"%s","code":%d}'
)


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Shares of the requests, and times; what a request suffers is drawn anew each time."""

    too_many: float = 0.0
    """Answered 429 with `Retry-After: 1`, and not passed on."""
    broken: float = 0.0
    """Answered 500, and not passed on."""
    swallowed: float = 0.0
    """Of the writes: carried out, and the connection ends before the answer."""
    delay: float = 0.0
    """Seconds that a request waits at most."""
    cut_every: float | None = None
    """Seconds after which every open connection is cut, watches in the middle of a line."""
    silent: bool = False
    """Nobody answers: requests hang until this is over."""


CALM = Faults()


class FaultProxy:
    """One proxy; a context manager."""

    def __init__(self, plane: Plane, *, seed: int = 1) -> None:
        """Calm until `faults` is set, which may be done at any time."""
        self.faults = CALM
        self.counts: Counter[str] = Counter()
        """How often what was done."""
        self.port = take_port()
        self.kubeconfig = plane.home / f"proxy-{self.port}.kubeconfig"
        text = plane.operator_kubeconfig.read_text(encoding="utf-8")
        self.kubeconfig.write_text(text.replace(plane.server, self.url), encoding="utf-8")
        self._upstream = plane.server
        self._files = write_server_files(plane.home / f"proxy-{self.port}", plane.authority)
        self._ca = plane.server_files.ca
        self._random = random.Random(seed)  # noqa: S311 - chance, no secret
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._transports: set[asyncio.BaseTransport] = set()
        self._thread = threading.Thread(target=self._run, name="fault proxy", daemon=True)

    @property
    def url(self) -> str:
        """In the place of the API server's."""
        return f"https://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cut every connection now."""
        self._loop.call_soon_threadsafe(self._cut)

    def __enter__(self) -> "FaultProxy":
        """Start to serve."""
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the proxy does not serve")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(10)
        release_port(self.port)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        connector = TCPConnector(ssl=_client_tls(self._ca), limit=0)
        timeout = ClientTimeout(total=None)
        async with ClientSession(
            connector=connector, timeout=timeout, auto_decompress=False
        ) as self._session:
            runner = web.ServerRunner(
                web.Server(self._handle, handler_cancellation=True), shutdown_timeout=0.1
            )
            await runner.setup()
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(self._files.certificate, self._files.key)
            site = web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=tls)
            await site.start()
            self._ready.set()
            cutting = asyncio.create_task(self._cut_forever())
            await self._ending.wait()
            cutting.cancel()
            self._cut()
            await runner.cleanup()

    async def _cut_forever(self) -> None:
        while True:
            wait = self.faults.cut_every
            await asyncio.sleep(wait or 0.05)
            if wait is not None and self.faults.cut_every is not None:
                self._cut()

    def _cut(self) -> None:
        for transport in self._transports:
            _abort(transport)
            self.counts["cut"] += 1
        self._transports.clear()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        self._transports.add(transport)
        try:
            return await self._answer(request, transport)
        except (ClientError, OSError) as error:  # the API server is away, or the client is
            self.counts["lost"] += 1
            _abort(transport)
            raise ConnectionResetError from error
        finally:
            self._transports.discard(transport)

    async def _answer(
        self, request: web.BaseRequest, transport: asyncio.BaseTransport
    ) -> web.StreamResponse:
        faults = self.faults
        while self.faults.silent:  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.05)
        if faults.delay:
            await asyncio.sleep(self._random.random() * faults.delay)
        refusal = self._refusal(faults)
        if refusal is not None:
            return refusal
        self.counts["passed"] += 1
        swallows = request.method not in _READS and self._random.random() < faults.swallowed
        return await self._pass_on(request, None if not swallows else transport)

    def _refusal(self, faults: Faults) -> web.Response | None:
        drawn = self._random.random()
        if drawn < faults.too_many:
            self.counts["too many"] += 1
            return _failure(429, "TooManyRequests")
        if drawn < faults.too_many + faults.broken:
            self.counts["broken"] += 1
            return _failure(500, "InternalError")
        return None

    async def _pass_on(
        self, request: web.BaseRequest, swallowing: asyncio.BaseTransport | None
    ) -> web.StreamResponse:
        headers = {key: value for key, value in request.headers.items() if key.lower() not in _HOP}
        body = await request.read()
        async with self._session.request(
            request.method,
            URL(f"{self._upstream}{request.raw_path}", encoded=True),
            headers=headers,
            data=body or None,
        ) as answer:
            if swallowing is not None:
                await answer.read()
                self.counts["swallowed"] += 1
                _abort(swallowing)
                raise ConnectionResetError
            own = web.StreamResponse(status=answer.status)
            own.headers.extend(
                [(key, value) for key, value in answer.headers.items() if key.lower() not in _HOP]
            )
            await own.prepare(request)
            async for chunk in answer.content.iter_any():
                await own.write(chunk)
            await own.write_eof()
            return own


def _client_tls(ca: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(ca))


def _failure(status: int, reason: str) -> web.Response:
    headers = {"Retry-After": "1"} if status == 429 else None
    text = _STATUS % ("by the proxy", reason, status)
    return web.Response(status=status, text=text, content_type="application/json", headers=headers)


def _abort(transport: asyncio.BaseTransport) -> None:
    with suppress(Exception):
        transport.abort()  # type: ignore[attr-defined]
