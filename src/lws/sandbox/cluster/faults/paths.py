"""The two paths, over HTTP values."""

from collections.abc import Awaitable, Callable, Mapping

from lws.client.requests import Request
from lws.client.responses import Response
from lws.sandbox.cluster.faults.asked import KINDS, fault_of
from lws.sandbox.cluster.faults.making import Faults
from lws.sandbox.server import status
from lws.sandbox.server.presentation import json_response

ABOUT, FAULTS = "/sandbox", "/sandbox/faults"
Answer = Callable[[Request], Awaitable[Response]]


def fault_paths(faults: Faults) -> Mapping[str, Answer]:
    """What the handler of the API server is to answer besides."""

    async def about(request: Request) -> Response:
        if request.method != "GET":
            raise status.method_not_allowed()
        return json_response({"kind": "Sandbox", "faults": KINDS})

    async def make(request: Request) -> Response:
        if request.method != "POST":
            raise status.method_not_allowed()
        outcome = await faults.make(fault_of(request.body or b""))
        return json_response(
            {"kind": "Fault", "done": list(outcome.done), "follows": list(outcome.follows)},
            code=201,
        )

    return {ABOUT: about, FAULTS: make}
