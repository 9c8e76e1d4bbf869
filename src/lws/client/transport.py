"""The way to the API server. The only module of the client that does I/O over a network."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass
from typing import Any, Protocol, Self
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from lws import __version__
from lws.base.clock import Clock
from lws.client.connection import AuthenticationConfig, ConnectionConfig
from lws.client.credentials import ConfiguredCredentials, Credential, Credentials
from lws.client.errors import MalformedAnswer, SilentStream, TransportError
from lws.client.exec_plugin import ExecCredentials
from lws.client.limiter import RateLimiter
from lws.client.requests import JSON, Priority, Request
from lws.client.responses import Response, error_of, retry_after_of
from lws.client.tls import TlsContexts

# Probes after 30 s of silence, then two more; what we send is acknowledged within a minute.
_KEEPALIVE = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 60_000,
}


class Transport(Protocol):
    """Sends requests; real over HTTP, or in process."""

    async def send(self, request: Request) -> Response:
        """The whole answer, whatever its status; TransportError if none came."""
        ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The body as it comes, cut anywhere; ApiError if the answer is no success."""
        ...


class Observer(Protocol):
    """Is told of every answer, for metrics."""

    def on_response(self, *, verb: str, resource: str, code: str, seconds: float) -> None:
        """`code` is the HTTP status, or `<error>` where no answer came; `seconds` is to the
        answer's head."""
        ...


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """Limits on everything."""

    qps: float = 500
    burst: int = 500
    in_flight_max: int = 200  # API Priority and Fairness gives one user a few hundred seats
    timeout_seconds: float = 60  # the API server's own for a request
    connect_timeout_seconds: float = 10
    idle_timeout_seconds: float = 300  # of a stream; a dead peer shows in a minute, see `_socket`
    retries_max: int = 3
    retry_after_seconds_max: float = 10  # whoever is told to wait longer has better things to do
    user_agent: str = f"lws/{__version__}"


class HttpTransport:
    """HTTP/1.1 with a pool of connections. Belongs to one event loop; close it."""

    def __init__(
        self,
        config: ConnectionConfig,
        *,
        clock: Clock,
        options: TransportOptions | None = None,
        observers: Sequence[Observer] = (),
        credentials: Credentials | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._options = options or TransportOptions()
        self._observers = observers
        environ = os.environ if environ is None else environ
        self._credentials = credentials or _credentials(config.authentication, clock, environ)
        self._tls = TlsContexts(config.tls, clock=clock)
        self._limiter = RateLimiter(qps=self._options.qps, burst=self._options.burst, clock=clock)
        self._in_flight = asyncio.Semaphore(self._options.in_flight_max)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends every connection; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(self, request: Request) -> Response:
        """The whole answer, whatever its status; TransportError if none came.

        A 429 is waited out and tried again, as the server has not begun; so is a 503 that says
        when, for reads only. Not for the lease: who holds it must decide by its own deadline.
        """
        response = await self._send_once(request)
        for _ in range(self._options.retries_max):
            seconds = retry_seconds(request, response)
            if seconds is None or seconds > self._options.retry_after_seconds_max:
                break
            await self._clock.sleep(seconds * (1 + self._clock.random() / 10))
            response = await self._send_once(request)
        return response

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The body as it comes, cut anywhere; ApiError if the answer is no success.

        Too long a silence is a SilentStream. Bookmarks come every minute, but of a kind that has
        had no event since the API server started (1.36, measured) the first takes two.
        """
        limits = aiohttp.ClientTimeout(
            total=None,
            sock_connect=self._options.connect_timeout_seconds,
            sock_read=request.timeout_seconds or self._options.idle_timeout_seconds,
        )
        answer = await self._answer(request, limits)
        try:
            if answer.status != 200:
                raise error_of(await _read(answer, request), request)
            async with aclosing(_chunks(answer, request)) as chunks:
                yield chunks
        finally:
            answer.close()

    async def _send_once(self, request: Request) -> Response:
        limits = aiohttp.ClientTimeout(
            total=request.timeout_seconds or self._options.timeout_seconds,
            sock_connect=self._options.connect_timeout_seconds,
        )
        is_lease = request.priority is Priority.LEASE
        async with nullcontext() if is_lease else self._in_flight:
            answer = await self._answer(request, limits)
            async with answer:
                return await _read(answer, request)

    async def _answer(
        self, request: Request, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """The head of an answer, after credentials that were rejected are renewed once."""
        credential = await self._credentials.current()
        answer = await self._answer_to(credential, request, limits)
        if answer.status != 401:
            return answer
        try:
            renewed = await self._credentials.renew(credential)
        except BaseException:
            answer.close()
            raise
        if renewed == credential:
            return answer
        answer.close()
        return await self._answer_to(renewed, request, limits)

    async def _answer_to(
        self, credential: Credential, request: Request, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        await self._limiter.admit(request.priority)
        is_tls = self._config.server.startswith("https:")
        context = self._tls.context(credential.certificate) if is_tls else True
        started_at = self._clock.monotonic()
        code = "<error>"
        try:
            with _translated(request):
                answer = await self._open_session().request(
                    request.method,
                    self._url(request),
                    data=request.body,
                    headers=self._headers(request, credential),
                    timeout=limits,
                    ssl=context,
                    server_hostname=self._config.tls.server_name or None,
                    proxy=self._config.proxy_url or None,
                    allow_redirects=False,
                )
            code = str(answer.status)
            return answer
        finally:
            self._observe(request, code, self._clock.monotonic() - started_at)

    def _observe(self, request: Request, code: str, seconds: float) -> None:
        for observer in self._observers:
            observer.on_response(
                verb=request.verb, resource=request.resource, code=code, seconds=seconds
            )

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=30, socket_factory=_socket
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _url(self, request: Request) -> URL:
        query = urlencode(request.query, quote_via=quote)
        return URL(
            f"{self._config.server}{request.path}{'?' if query else ''}{query}", encoded=True
        )

    def _headers(self, request: Request, credential: Credential) -> list[tuple[str, str]]:
        headers = [
            ("Accept", JSON),
            ("Accept-Encoding", "gzip" if self._config.is_compressed else "identity"),
            ("User-Agent", self._options.user_agent),
            *self._config.authentication.impersonation,
        ]
        if request.content_type is not None:
            headers.append(("Content-Type", request.content_type))
        if credential.authorization:
            headers.append(("Authorization", credential.authorization))
        return headers


def retry_seconds(request: Request, response: Response) -> float | None:
    """How long to wait before the same request is sent again; None: leave it to the caller."""
    if request.priority is Priority.LEASE:
        return None
    if response.status == 429 or (response.status == 503 and request.method == "GET"):
        return retry_after_of(response)
    return None


def _credentials(
    config: AuthenticationConfig, clock: Clock, environ: Mapping[str, str]
) -> Credentials:
    """The provider that the configuration asks for."""
    configured = ConfiguredCredentials(config, clock=clock)
    if config.plugin is None:
        return configured
    return ExecCredentials(config.plugin, fallback=configured, clock=clock, environ=environ)


def _socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket whose dead peer shows within a minute, though nobody writes to it."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):  # not on every system
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


async def _read(answer: aiohttp.ClientResponse, request: Request) -> Response:
    with _translated(request):
        body = await answer.read()
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Response(answer.status, headers, body)


async def _chunks(answer: aiohttp.ClientResponse, request: Request) -> AsyncGenerator[bytes]:
    with _translated(request):
        async for chunk in answer.content.iter_any():
            yield chunk


@contextmanager
def _translated(request: Request) -> Iterator[None]:
    """The network library's errors as ours."""
    try:
        yield
    except aiohttp.ClientConnectorCertificateError as error:
        raise TransportError(
            f"{request}: the server's certificate is refused: {error.certificate_error};"
            " check certificate-authority and tls-server-name",
            was_sent=False,
        ) from error
    except aiohttp.ClientConnectorError as error:
        what = error.os_error.strerror or error.os_error
        raise TransportError(
            f"{request}: no connection to {error.host}:{error.port}: {what}", was_sent=False
        ) from error
    except aiohttp.ConnectionTimeoutError as error:
        raise TransportError(f"{request}: not connected in time", was_sent=False) from error
    except aiohttp.ClientResponseError as error:
        raise MalformedAnswer(f"{request}: no answer of an API server: {error.message}") from error
    except aiohttp.SocketTimeoutError as error:
        raise SilentStream(f"{request}: nothing came for too long") from error
    except TimeoutError as error:
        raise TransportError(f"{request}: no answer in time") from error
    except (aiohttp.ClientError, OSError) as error:
        raise TransportError(f"{request}: cut off: {error or type(error).__name__}") from error
