"""The way to the API server. The only module of the client that does I/O over a network."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from lws.client.requests import Request
from lws.client.responses import Response


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
        """`code` is the HTTP status, or `<error>` where no answer came."""
        ...
