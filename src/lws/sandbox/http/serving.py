"""The handler on a port."""

import asyncio
import errno
import os
import re
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from types import TracebackType
from typing import Self

import orjson
import structlog
from aiohttp import web
from multidict import CIMultiDict

from lws.base.errors import InvalidInput
from lws.client.requests import Request
from lws.client.responses import Response
from lws.sandbox.http.audit import AuditLog, Entry
from lws.sandbox.server import status
from lws.sandbox.server.authentication.users import ANONYMOUS
from lws.sandbox.server.handler import ADMIN_USER, Handler, User
from lws.sandbox.server.parsing import BODY_BYTES_MAX
from lws.sandbox.server.presentation import refusal_response
from lws.sandbox.server.status import ApiStatus

log = structlog.get_logger(__name__)

BODY_SECONDS = 30.0
SHUTDOWN_SECONDS = 1.0
KEEPALIVE_SECONDS = 120.0
_WARNING = re.compile(r'299 - "(?:[^"\\]|\\.)*"')
_HEADER_BYTES_MAX = 64 << 10
_IMPERSONATE = b"impersonate-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenOptions:
    """Where to listen, and whom to let in."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: any that is free."""
    tls: ssl.SSLContext | None = None
    tokens: Mapping[str, User] = field(default_factory=dict)
    """Users by their bearer token; none: whoever has no token is an administrator."""
    audit: AuditLog | None = None

    def require_safe(self) -> None:
        """`InvalidInput` if strangers could write here."""
        if _is_loopback(self.host):
            return
        if self.tls is None or not self.tokens:
            raise InvalidInput(
                field="--host",
                message=f"{self.host} can be reached by other machines, so TLS and a token are"
                " needed; give both, or listen on 127.0.0.1",
            )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (they are looked up)
_PORT_FAULTS = (errno.EADDRINUSE, errno.EACCES)


def _not_listening(options: ListenOptions, error: OSError) -> InvalidInput:
    """What to change, the port or the address."""
    known = error.errno if error.errno and error.errno > 0 else None
    why = os.strerror(known).lower() if known else str(error.strerror)
    if known in _PORT_FAULTS:
        message = f"cannot listen on {options.host}:{options.port}: {why}; choose another port"
        return InvalidInput(field="--port", message=message)
    message = f"cannot listen on {options.host}: {why}; name an address of this machine"
    return InvalidInput(field="--host", message=message)


class HttpServer:
    """`async with HttpServer(handler, options) as server:` serves; `server.url` says where."""

    def __init__(self, handler: Handler, options: ListenOptions) -> None:
        options.require_safe()
        self._handler = handler
        self._options = options
        self._runner: web.AppRunner | None = None
        self.port = options.port

    @property
    def url(self) -> str:
        """What goes into a kubeconfig."""
        scheme = "https" if self._options.tls else "http"
        host = _EVERYWHERE.get(self._options.host, self._options.host)
        host = f"[{host}]" if ":" in host else host
        return f"{scheme}://{host}:{self.port}"

    async def __aenter__(self) -> Self:
        """Listen."""
        if self._options.audit is not None:
            self._options.audit.open()
        app = web.Application(client_max_size=BODY_BYTES_MAX + 1)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            keepalive_timeout=KEEPALIVE_SECONDS,
            shutdown_timeout=SHUTDOWN_SECONDS,
            handler_cancellation=True,
            max_line_size=_HEADER_BYTES_MAX,
            max_field_size=_HEADER_BYTES_MAX,
            auto_decompress=True,
        )
        await self._runner.setup()
        options = self._options
        try:
            site = web.TCPSite(
                self._runner, options.host, options.port, ssl_context=options.tls, backlog=1024
            )
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise _not_listening(options, error) from error
        self.port = self._runner.addresses[0][1]
        self._handler.api.world.users = options.tokens
        self._handler.api.world.server_address = f"{options.host}:{self.port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; watches end."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._options.audit is not None:
            self._options.audit.close()

    async def _answer(self, incoming: web.Request) -> web.StreamResponse:
        entry: Entry | None = None
        try:
            user = self._user(incoming)
            request = await _request_of(incoming)
            headers = _headers_of(incoming)
            entry = self._noted(request, headers, user)
            user = self._acting(incoming, request, user, entry)
            if self._handler.media_of_stream(request):
                return await self._stream(incoming, request, headers, user, entry)
            response = await self._handler.handle(request, headers=headers, user=user)
        except ApiStatus as refusal:
            response = refusal_response(refusal)
        except Exception as error:
            log.error("request failed", method=incoming.method, path=incoming.path, exc_info=error)
            response = refusal_response(status.internal(f"{type(error).__name__}: {error}"))
        if entry is not None:
            entry.complete(response.status)
        return _outgoing(response)

    def _noted(self, request: Request, headers: Mapping[str, str], user: User) -> Entry | None:
        audit = self._options.audit
        if audit is None:
            return None
        return audit.begin(request, headers, user, self._handler.api.world.registry)

    def _user(self, incoming: web.Request) -> User:
        """Whoever comes without a token is nobody; or an administrator, where none is needed."""
        scheme, _, token = incoming.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS if self._options.tokens else ADMIN_USER
        user = self._handler.user_of(token.strip())
        if user is None:
            raise status.unauthorized()
        return user

    def _acting(
        self, incoming: web.Request, request: Request, user: User, entry: Entry | None
    ) -> User:
        """As whom the user wants to ask."""
        names = [name for name, _ in incoming.raw_headers]
        if not any(name[: len(_IMPERSONATE)].lower() == _IMPERSONATE for name in names):
            return user
        acting = self._handler.acting(request, user, list(incoming.headers.items()))
        if acting is None:
            return user
        if entry is not None:
            entry.impersonates(acting)
        return acting

    async def _stream(
        self,
        incoming: web.Request,
        request: Request,
        headers: Mapping[str, str],
        user: User,
        entry: Entry | None,
    ) -> web.StreamResponse:
        """A watch or a log that is followed: the head at once, each line as it comes."""
        media = self._handler.media_of_stream(request)
        async with self._handler.stream(request, headers=headers, user=user) as lines:
            outgoing = web.StreamResponse(
                headers={"Content-Type": media, "Cache-Control": "no-cache, private"}
            )
            outgoing.enable_chunked_encoding()
            if entry is not None:
                entry.started()
            await outgoing.prepare(incoming)
            try:
                async for line in lines:
                    await outgoing.write(line)
                await outgoing.write_eof()
            except (ConnectionError, asyncio.CancelledError):
                if incoming.transport is not None and not incoming.transport.is_closing():
                    raise
            finally:
                if entry is not None:
                    entry.complete(200)
            return outgoing


def _headers_of(incoming: web.Request) -> dict[str, str]:
    names = ("accept", "user-agent")
    return {name: incoming.headers[name] for name in names if name in incoming.headers}


async def _request_of(incoming: web.Request) -> Request:
    """The same as a value; 413 for a long body, 408 for a slow one."""
    if (incoming.content_length or 0) > BODY_BYTES_MAX:
        raise status.too_large_body(BODY_BYTES_MAX)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await incoming.read() if incoming.can_read_body else None
    except web.HTTPRequestEntityTooLarge:
        raise status.too_large_body(BODY_BYTES_MAX) from None
    except TimeoutError:
        raise ApiStatus("the body did not come in time", code=408, reason="Timeout") from None
    query = tuple((name, value) for name, value in incoming.query.items())
    return Request(
        incoming.method,
        incoming.rel_url.raw_path,
        query=query,
        body=body,
        content_type=incoming.headers.get("Content-Type"),
    )


def _outgoing(response: Response) -> web.Response:
    headers = CIMultiDict(response.headers)
    warnings = headers.pop("warning", "")
    for text in _WARNING.findall(warnings):  # a line each, as the real server sends them
        headers.add("warning", text)
    return web.Response(status=response.status, headers=headers, body=response.body)


def kubeconfig(url: str, *, token: str = "", authority: bytes = b"") -> bytes:
    """A kubeconfig (JSON, which is YAML) with one context that leads here."""
    cluster: dict[str, str] = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = b64encode(authority).decode()
    context = {"cluster": "sandbox", "user": "sandbox", "namespace": "default"}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": "sandbox", "user": {"token": token} if token else {}}],
        "contexts": [{"name": "sandbox", "context": context}],
        "current-context": "sandbox",
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2)
