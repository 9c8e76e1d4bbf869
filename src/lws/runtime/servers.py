"""The process's own HTTP servers: health, metrics, webhooks. The only importer of aiohttp here."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client.exposition import choose_encoder

from lws.base.clock import Clock
from lws.runtime.certificates import CertificateFiles
from lws.runtime.clock import Deadline
from lws.runtime.metrics import Metrics

log = structlog.get_logger(__name__)

BODY_BYTES_MAX = 8 << 20  # an object has 1.5 MiB in the store; a review carries it twice, and room
BODY_SECONDS = 10.0  # the API server gives a webhook no longer
SHUTDOWN_SECONDS = 3.0
KEEPALIVE_SECONDS = 90.0  # longer than the API server keeps a connection idle, so it closes first
JSON = "application/json"

Check = Callable[[], str | None]
Authorize = Callable[[str, str, str], Awaitable[bool]]
WebhookHandler = Callable[[str, bytes], tuple[int, bytes]]


class Checks:
    """Named questions whose answer is what is wrong, or None."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}

    def add(self, name: str, check: Check) -> None:
        """Ask this too from now on."""
        self._checks[name] = check

    def problems(self) -> dict[str, str]:
        """What is wrong, by name."""
        answers = {name: _ask(check) for name, check in self._checks.items()}
        return {name: answer for name, answer in answers.items() if answer is not None}

    def report(self) -> str:
        """One line a check, as Kubernetes' own health endpoints write them."""
        problems = self.problems()
        lines = [
            f"[-]{name} failed: {problems[name]}" if name in problems else f"[+]{name} ok"
            for name in self._checks
        ]
        return "\n".join([*lines, "not ok" if problems else "ok", ""])


class Server:
    """Serves while `run` runs. With certificate files it starts once they are there."""

    def __init__(
        self,
        app: web.Application,
        *,
        name: str,
        host: str | None,
        port: int,
        certificates: CertificateFiles | None = None,
    ) -> None:
        self.name = name
        self.port = port
        self._app = app
        self._host = host or None
        self._certificates = certificates
        self._serving = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Does it accept connections?"""
        return self._serving.is_set()

    def check(self) -> str | None:
        """For the readiness probe."""
        return None if self.is_ready else f"the {self.name} server does not serve yet"

    async def serving(self) -> None:
        """Wait until it accepts connections; `port` is then the one it listens on."""
        await self._serving.wait()

    async def run(self) -> None:
        """Serve until cancelled; requests in flight are then answered."""
        if self._certificates is None:
            await self._serve()
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._certificates.run())
            await self._certificates.loaded()
            await self._serve()

    async def _serve(self) -> None:
        runner = web.AppRunner(
            self._app,
            access_log=None,
            keepalive_timeout=KEEPALIVE_SECONDS,
            shutdown_timeout=SHUTDOWN_SECONDS,
        )
        await runner.setup()
        try:
            context = self._certificates.context if self._certificates else None
            await web.TCPSite(runner, self._host, self.port, ssl_context=context).start()
            self.port = runner.addresses[0][1]
            self._serving.set()
            log.info("serving", server=self.name, port=self.port)
            await asyncio.get_running_loop().create_future()  # until cancelled
        finally:
            self._serving.clear()
            await runner.cleanup()


def serve_health(
    *,
    host: str | None,
    port: int,
    liveness: Checks,
    readiness: Checks,
    liveness_path: str = "/healthz",
    readiness_path: str = "/readyz",
) -> Server:
    """Answers 200 while all checks of a path hold, else 500 with what does not."""

    def answer(checks: Checks, request: web.Request) -> web.Response:
        has_problems = bool(checks.problems())
        speaks = has_problems or "verbose" in request.query
        return web.Response(
            status=500 if has_problems else 200, text=checks.report() if speaks else "ok"
        )

    async def live(request: web.Request) -> web.Response:
        return answer(liveness, request)

    async def ready(request: web.Request) -> web.Response:
        return answer(readiness, request)

    app = web.Application()
    app.router.add_get(liveness_path, live)
    app.router.add_get(readiness_path, ready)
    return Server(app, name="health", host=host, port=port)


def serve_metrics(
    *,
    host: str | None,
    port: int,
    metrics: Metrics,
    path: str = "/metrics",
    authorize: Authorize | None = None,
    certificates: CertificateFiles | None = None,
) -> Server:
    """All metrics in Prometheus' formats, to those whom `authorize(token, verb, path)` lets in."""

    async def show(request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(metrics.registry), headers={"Content-Type": content_type})

    app = web.Application(middlewares=[_only_for(authorize)] if authorize else [])
    app.router.add_get(path, show)
    return Server(app, name="metrics", host=host, port=port, certificates=certificates)


def serve_https(
    *,
    host: str | None,
    port: int,
    cert_dir: Path | str,
    handler: WebhookHandler,
    clock: Clock,
    min_version: str = "",
    cipher_suites: Sequence[str] = (),
    body_bytes_max: int = BODY_BYTES_MAX,
) -> Server:
    """POST bodies to `handler(path, body)`, whose status and JSON are the answer."""

    async def answer(request: web.Request) -> web.Response:
        try:
            async with Deadline(clock, BODY_SECONDS):
                body = await request.read()
        except TimeoutError:
            return _json_error(408, "the body took too long to come")
        except web.HTTPRequestEntityTooLarge:
            return _json_error(413, f"the body is longer than {body_bytes_max} bytes")
        try:
            status, content = handler(request.path, body)
        except Exception:  # one review's failure is not the server's
            log.exception("webhook failed", path=request.path)
            return _json_error(500, "the webhook failed; its log says why")
        return web.Response(status=status, body=content, content_type=JSON)

    app = web.Application(client_max_size=body_bytes_max)
    app.router.add_post("/{path:.*}", answer)
    certificates = CertificateFiles(
        cert_dir=cert_dir, clock=clock, min_version=min_version, cipher_suites=cipher_suites
    )
    return Server(app, name="webhook", host=host, port=port, certificates=certificates)


def _only_for(authorize: Authorize) -> Middleware:
    """A middleware: 401 without a token, 403 where it is not enough, 503 where nobody can tell."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"}, text="no token")
        try:
            allowed = await authorize(token.strip(), request.method.lower(), request.path)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody was let in
            log.warning("authorization failed", error=str(error))
            return web.Response(status=503, text="authorization is not to be had now")
        return await handler(request) if allowed else web.Response(status=403, text="forbidden")

    return check


def _ask(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a check that fails has found something
        return f"{type(error).__name__}: {error}"


def _json_error(status: int, message: str) -> web.Response:
    body = msgspec.json.encode({"message": message})
    return web.Response(status=status, body=body, content_type=JSON)
