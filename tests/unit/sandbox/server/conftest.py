"""A server in memory, and shorthands."""

from typing import Any

import orjson
import pytest

from lws.client.requests import Request
from lws.client.resources import Resource
from lws.client.responses import Response
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import ADMIN_USER, Server, User

CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


class Client:
    """Asks the handler as a client on the network would."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        user: User = ADMIN_USER,
    ) -> Response:
        """The answer; a query stands in the path."""
        path, _, query = path.partition("?")
        pairs = tuple(
            (name, value)
            for name, _, value in (part.partition("=") for part in query.split("&") if part)
        )
        data = body if isinstance(body, bytes) or body is None else orjson.dumps(body)
        request = Request(method, path, query=pairs, body=data, content_type=content_type)
        headers = {"accept": accept, "user-agent": "test/1"}
        return await self._server.handler.handle(request, headers=headers, user=user)

    async def json(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The answer's body."""
        return orjson.loads((await self.ask(method, path, body, **options)).body)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(start=1_800_000_000.0)


@pytest.fixture
def server(clock: VirtualClock) -> Server:
    return Server(clock=clock)


@pytest.fixture
def client(server: Server) -> Client:
    return Client(server)
