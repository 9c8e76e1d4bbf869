"""The client's transport with no network: requests go straight into the handler."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from lws.client.requests import Request
from lws.client.responses import Response, error_of
from lws.sandbox.server.handler import ADMIN_USER, Handler, User
from lws.sandbox.server.presentation import refusal_response
from lws.sandbox.server.status import ApiStatus


class LocalTransport:
    """A `client.transport.Transport` on a handler, as a user and a program."""

    def __init__(
        self, handler: Handler, *, user: User = ADMIN_USER, user_agent: str = "lws"
    ) -> None:
        self._handler = handler
        self._user = user
        self._headers = {"accept": "application/json", "user-agent": user_agent}

    async def send(self, request: Request) -> Response:
        """The whole answer, whatever its status."""
        return await self._handler.handle(request, headers=self._headers, user=self._user)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The body as it comes; ApiError if the answer is no success."""
        stream = self._handler.stream(request, headers=self._headers, user=self._user)
        try:
            lines = await stream.__aenter__()
        except ApiStatus as refusal:
            raise error_of(refusal_response(refusal), request) from refusal
        try:
            yield lines
        finally:
            await stream.__aexit__(None, None, None)
