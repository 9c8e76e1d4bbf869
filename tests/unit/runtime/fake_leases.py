"""The one Lease of an API server in memory, with optimistic concurrency and faults."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from lws.client.errors import AlreadyExists, Conflict, NotFound, TransportError
from lws.client.requests import Priority, Request

Lease = dict[str, Any]


class LeaseApi:
    """What all candidates talk to."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.revision = 0
        self.writes = 0

    @property
    def holder(self) -> str:
        return str(self.lease["spec"]["holderIdentity"]) if self.lease else ""

    def answer(self, request: Request) -> bytes:
        assert request.priority is Priority.LEASE
        if request.verb == "get":
            if self.lease is None:
                raise NotFound("no lease")
            return msgspec.json.encode(self.lease)
        return self._write(request)

    def _write(self, request: Request) -> bytes:
        body = msgspec.json.decode(request.body or b"", type=dict[str, Any])
        if request.verb == "create" and self.lease is not None:
            raise AlreadyExists("there is one")
        if request.verb == "update":
            if self.lease is None:
                raise NotFound("no lease")
            if body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
                raise Conflict("changed")
        self.revision += 1
        self.writes += 1
        self.lease = {
            **body,
            "metadata": {**body["metadata"], "resourceVersion": str(self.revision)},
        }
        return msgspec.json.encode(self.lease)


Fault = Callable[[Request, Callable[[], bytes]], Awaitable[bytes]]


class Line:
    """One candidate's line to the API, which `fault` may bend."""

    def __init__(self, api: LeaseApi) -> None:
        self.api = api
        self.is_down = False
        self.fault: Fault | None = None
        self.requests: list[Request] = []

    async def request_bytes(self, request: Request) -> bytes:
        self.requests.append(request)
        if self.is_down:
            raise TransportError("no route")
        if self.fault is not None:
            return await self.fault(request, lambda: self.api.answer(request))
        return self.api.answer(request)
