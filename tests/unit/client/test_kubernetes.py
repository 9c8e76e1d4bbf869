"""The client's methods over a transport that answers from a list."""

from collections.abc import Awaitable, Callable

import orjson
import pytest

from lws.client import errors, requests
from lws.client.kubernetes import KubernetesClient, Page
from lws.client.requests import PatchType
from lws.client.resources import PODS
from lws.client.responses import JsonObject, Response
from lws.client.watch import EventType
from tests.unit.client.support import ScriptedTransport

ADDED = b'{"type":"ADDED","object":{"n":1}}\n'
BOOKMARK = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n'
EXPIRED = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'


def named(*names: str) -> list[JsonObject]:
    """Objects that are nothing but a name."""
    return [{"name": name} for name in names]


def listing(*names: str, token: str = "", version: str = "5") -> bytes:
    """A page of a list."""
    metadata: JsonObject = {"resourceVersion": version}
    if token:
        metadata |= {"continue": token, "remainingItemCount": 9}
    return orjson.dumps({"kind": "PodList", "metadata": metadata, "items": named(*names) or None})


def gone() -> Response:
    return Response(410, {}, b'{"kind":"Status","code":410,"reason":"Expired"}')


async def test_an_answer_that_is_no_success_is_raised() -> None:
    client = KubernetesClient(ScriptedTransport(Response(404, {}, b"{}")))
    with pytest.raises(errors.NotFound, match="GET /api/v1/namespaces/n/pods/p: 404"):
        await client.get(PODS, namespace="n", name="p")


async def test_bytes_come_undecoded() -> None:
    client = KubernetesClient(ScriptedTransport(b"\xff"))
    assert await client.request_bytes(requests.raw_get("/version")) == b"\xff"


Call = Callable[[KubernetesClient], Awaitable[JsonObject]]
CALLS: list[tuple[Call, str]] = [
    (lambda c: c.get(PODS, namespace="n", name="p", subresource="status"), "get pods/status"),
    (lambda c: c.create(PODS, namespace="n", body={}), "create pods"),
    (lambda c: c.replace(PODS, namespace="n", name="p", body={}), "update pods"),
    (
        lambda c: c.patch(PODS, namespace="n", name="p", body=[], patch_type=PatchType.JSON),
        "patch pods",
    ),
    (
        lambda c: c.apply(
            PODS, namespace="n", name="p", body={}, field_manager="m", subresource="status"
        ),
        "patch pods/status",
    ),
    (lambda c: c.delete(PODS, namespace="n", name="p", uid="u"), "delete pods"),
]


@pytest.mark.parametrize(("call", "label"), CALLS, ids=[label for _, label in CALLS])
async def test_each_method_sends_its_request_and_decodes_the_answer(call: Call, label: str) -> None:
    transport = ScriptedTransport(b'{"a":1}')
    assert await call(KubernetesClient(transport)) == {"a": 1}
    assert f"{transport.requests[0].verb} {transport.requests[0].resource}" == label


async def test_a_page_says_how_to_go_on() -> None:
    client = KubernetesClient(ScriptedTransport(listing("a", token="t")))
    assert await client.list_page(PODS, limit=1) == Page(named("a"), "5", "t", 9)


async def test_a_collection_is_read_page_by_page() -> None:
    transport = ScriptedTransport(listing("a", "b", token="t"), listing("c"))
    page = await KubernetesClient(transport).list_all(PODS, label_selector="x", limit=2)
    assert (page.items, page.resource_version) == (named("a", "b", "c"), "5")
    assert [dict(request.query).get("continue") for request in transport.requests] == [None, "t"]


async def test_an_empty_collection_has_no_items_but_a_version() -> None:
    page = await KubernetesClient(ScriptedTransport(listing())).list_all(PODS)
    assert (page.items, page.resource_version) == ([], "5")


async def test_a_collection_that_expires_between_pages_is_read_in_one_piece() -> None:
    transport = ScriptedTransport(listing("a", token="t"), gone(), listing("b", version="8"))
    page = await KubernetesClient(transport).list_all(PODS)
    assert (page.items, page.resource_version) == (named("b"), "8")
    assert "limit" not in dict(transport.requests[2].query)
    assert "continue" not in dict(transport.requests[2].query)


async def test_a_collection_that_is_expired_at_once_is_an_error() -> None:
    with pytest.raises(errors.Expired):
        await KubernetesClient(ScriptedTransport(gone())).list_all(PODS)


async def test_the_lines_of_a_watch_are_events_errors_too_and_a_torn_one_is_dropped() -> None:
    chunks = [ADDED[:10], ADDED[10:] + EXPIRED, BOOKMARK[:-5]]
    client = KubernetesClient(ScriptedTransport(chunks=chunks))
    request = requests.watch(PODS, resource_version="1")
    async with client.watch_lines(request) as lines:
        assert [line async for line in lines] == [ADDED.rstrip(), EXPIRED.rstrip()]


async def test_a_watch_gives_events() -> None:
    transport = ScriptedTransport(chunks=[ADDED + BOOKMARK])
    client = KubernetesClient(transport)
    async with client.watch(PODS, resource_version="1", timeout_seconds=5) as events:
        found = [event async for event in events]
    assert [event.type for event in found] == [EventType.ADDED, EventType.BOOKMARK]
    assert bytes(found[0].object_bytes) == b'{"n":1}'
    assert dict(transport.requests[0].query)["timeoutSeconds"] == "5"


async def test_an_error_in_a_watch_is_raised() -> None:
    client = KubernetesClient(ScriptedTransport(chunks=[ADDED + EXPIRED]))
    async with client.watch(PODS, resource_version="1") as events:
        assert (await anext(events)).type is EventType.ADDED
        with pytest.raises(errors.Expired, match="GET /api/v1/pods: 410 Expired"):
            await anext(events)
