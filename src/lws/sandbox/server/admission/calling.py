"""How a webhook is reached."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from lws.base.errors import LwsError

Answer = tuple[int, bytes]
LocalHandler = Callable[[str, bytes], Answer | Awaitable[Answer]]
"""Path and body in, HTTP status and body out."""


class WebhookCallError(LwsError):
    """No answer that could be used; the message says why, in the server's words."""


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """Where a webhook is; a service is given as the URL it has inside a cluster."""

    url: str
    ca_bundle: bytes = b""
    service: tuple[str, str] | None = None
    """Namespace and name, if it is a service's."""
    outside: str = ""
    """The host for which that service stands, if it stands for one outside the cluster."""

    @property
    def address(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        """The path on the host."""
        return urlsplit(self.url).path or "/"


class WebhookClient(Protocol):
    """Asks a webhook."""

    async def call(self, target: WebhookTarget, body: bytes, *, timeout_seconds: float) -> bytes:
        """The body of the answer; WebhookCallError if there is none."""
        ...


class LocalWebhooks:
    """Webhooks in this process: handlers by host and port, e.g. `lws-webhook.lws-system.svc:443`.

    What is not in this process goes to `others`.
    """

    def __init__(
        self, handlers: Mapping[str, LocalHandler], *, others: WebhookClient | None = None
    ) -> None:
        self._handlers = handlers
        self._others = others

    async def call(self, target: WebhookTarget, body: bytes, *, timeout_seconds: float) -> bytes:
        """The body of the answer; WebhookCallError if there is none."""
        handler = self._handlers.get(target.address)
        if handler is None:
            if self._others is None:
                raise WebhookCallError(f'Post "{target.url}": no webhook is served there')
            return await self._others.call(target, body, timeout_seconds=timeout_seconds)
        answer: Any = handler(target.path, body)
        status, text = answer if isinstance(answer, tuple) else await answer
        if status != 200:
            raise WebhookCallError(status_words(status, text))
        return bytes(text)


def status_words(status: int, body: bytes) -> str:
    """What is said about an answer that is no success."""
    shown = body[:200].decode("utf-8", errors="replace").strip()
    if status == 404:
        return "the server could not find the requested resource"
    if status >= 500:
        why = shown or "unknown"
        return f'an error on the server ("{why}") has prevented the request from succeeding'
    return f"the server rejected our request for an unknown reason (status {status}: {shown})"
