"""Writes of the controllers go out only while this process may act."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from lws.client.errors import TransportError
from lws.client.requests import Request
from lws.client.responses import Response
from lws.client.transport import Transport


class Fence:
    """A transport that asks before each write.

    A process that was stopped for longer than its lease goes on with what it was about to do,
    before its event loop comes to know that another leads.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._may_act: Callable[[], bool] = _always

    def close_unless(self, may_act: Callable[[], bool]) -> None:
        """Ask this from here on."""
        self._may_act = may_act

    async def send(self, request: Request) -> Response:
        """TransportError, with nothing sent, for a write that must not be."""
        if request.method != "GET" and not self._may_act():
            raise TransportError(f"{request}: not sent, this process does not lead any more")
        return await self._transport.send(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Watches are for everybody."""
        return self._transport.stream(request)


def _always() -> bool:
    return True
