"""The client's transport with no network."""

import asyncio

import pytest

from lws.client import errors, requests
from lws.client.resources import LEASES, PODS
from lws.client.watch import EventType, LineSplitter, decode_event, error_of_event
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server
from lws.sandbox.transport import LocalTransport


def _transport() -> LocalTransport:
    return LocalTransport(Server(clock=VirtualClock()).handler, user_agent="test/1")


async def test_a_request_is_answered_and_a_refusal_is_an_answer_too() -> None:
    transport = _transport()
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    made = await transport.send(requests.create(LEASES, namespace="default", body=body))
    assert made.status == 201
    again = await transport.send(requests.create(LEASES, namespace="default", body=body))
    assert again.status == 409


async def test_a_watch_comes_in_lines_and_a_refused_one_is_an_error() -> None:
    server = Server(clock=VirtualClock())
    transport = LocalTransport(server.handler)
    request = requests.watch(PODS, resource_version="", timeout_seconds=5)
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    splitter = LineSplitter()
    async with transport.stream(request) as chunks:
        await transport.send(requests.create(PODS, namespace="default", body=body))
        lines = [line async for chunk in chunks for line in splitter.feed(chunk)]
    assert [decode_event(line).type for line in lines] == [EventType.ADDED]
    server.store.forget()
    async with transport.stream(requests.watch(PODS, resource_version="1")) as chunks:
        lines = [line async for chunk in chunks for line in splitter.feed(chunk)]
    assert [decode_event(line).type for line in lines] == [EventType.ERROR]
    assert isinstance(error_of_event(decode_event(lines[0])), errors.Expired)
    odd = requests.watch(PODS, resource_version="", label_selector="a=!")
    with pytest.raises(errors.BadRequest):
        async with transport.stream(odd):
            await asyncio.sleep(0)
