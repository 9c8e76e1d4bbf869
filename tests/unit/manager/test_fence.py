"""Writes of the controllers go out only while this process may act."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import pytest

from lws.client import requests, resources
from lws.client.errors import Retryable, TransportError
from lws.client.requests import Propagation, Request
from lws.client.responses import Response
from lws.manager.fence import Fence

READ = requests.get(resources.PODS, namespace="default", name="a")
WRITES = [
    requests.create(resources.PODS, namespace="default", body={}),
    requests.delete(
        resources.PODS, namespace="default", name="a", propagation=Propagation.FOREGROUND
    ),
]


class Sent:
    """A transport that remembers."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        return Response(status=200, headers={}, body=b"{}")

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        raise NotImplementedError


@pytest.mark.parametrize("write", WRITES, ids=["create", "delete"])
async def test_a_write_is_sent_only_while_this_process_may_act(write: Request) -> None:
    sent = Sent()
    fence = Fence(sent)
    leads = True
    fence.close_unless(lambda: leads)
    await fence.send(write)
    leads = False
    with pytest.raises(TransportError, match="does not lead") as refused:
        await fence.send(write)
    assert isinstance(refused.value, Retryable), "no mistake of ours: told in one line"
    assert sent.requests == [write]


async def test_reads_are_sent_always_and_writes_where_nobody_is_elected() -> None:
    sent = Sent()
    fence = Fence(sent)
    await fence.send(WRITES[0])
    fence.close_unless(lambda: False)
    await fence.send(READ)
    assert sent.requests == [WRITES[0], READ]
