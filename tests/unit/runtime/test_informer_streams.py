"""Lists that come as a watch's first events."""

import asyncio
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from lws.client.errors import ApiError
from tests.unit.runtime.informed import World


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


async def test_a_list_can_come_as_a_stream() -> None:
    world = World(streams_list=True)
    world.api.put("a", 1)
    world.api.put("b", 2)
    await world.start()
    world.api.put("c", 3)
    await world.clock.settle()
    assert world.values() == {"a": 1, "b": 2, "c": 3}
    assert world.api.verbs() == ["watch"]
    assert world.informer.last_seen == world.api.revision


async def test_an_object_that_goes_while_the_list_streams_is_not_there() -> None:
    world = World(streams_list=True)
    world.api.put("a", 1)
    world.api.put("b", 1)
    world.api.is_mute = True
    world.api.ends_initial_events = False
    world.task = asyncio.create_task(world.informer.run())
    await world.clock.settle()
    world.api.send("DELETED", world.api.objects.pop("a"))
    world.api.send_bookmark()
    await world.clock.settle()
    assert not world.informer.is_synced
    world.api.send_bookmark(ends_initial_events=True)
    await world.informer.synced()
    assert world.values() == {"b": 1}


async def test_a_stream_that_ends_before_its_list_is_whole_is_no_list() -> None:
    world = World(streams_list=True)
    world.api.put("a", 1)
    world.api.ends_initial_events = False
    world.task = asyncio.create_task(world.informer.run())
    await world.clock.settle()
    world.api.cut()
    await world.clock.settle()
    assert not world.informer.is_synced
    await world.informer.synced()
    assert world.api.verbs()[:2] == ["watch", "list"]


async def test_a_server_that_cannot_stream_lists_is_asked_for_pages() -> None:
    world = World(streams_list=True)
    world.api.put("a", 1)
    world.api.failures.append(ApiError("sendInitialEvents is forbidden", status=422))
    await world.start()
    assert world.values() == {"a": 1}
    assert world.api.verbs() == ["watch", "list", "watch"]
