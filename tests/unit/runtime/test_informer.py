"""The store follows the server through all that servers do."""

import asyncio
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from lws.client.errors import ApiError, Cause, Expired, TooManyRequests, Unavailable
from lws.client.requests import Request
from lws.runtime.reflection import Change, Identity
from tests.unit.runtime.fake_api import Thing, reset
from tests.unit.runtime.informed import World


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


async def test_what_was_there_and_what_comes_is_in_the_store() -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    world.api.put("b", 2)
    world.api.put("a", 3)
    world.api.delete("b")
    await world.clock.settle()
    assert world.values() == {"a": 3}
    assert world.told == [("add", "a", 1), ("add", "b", 2), ("change", "a", 3), ("delete", "b", 2)]
    assert world.informer.last_seen == world.api.revision


async def test_a_list_is_read_page_by_page_at_the_latest_state() -> None:
    world = World(page_size=2, label_selector="x=y", namespace="default")
    for number in range(5):
        world.api.put(f"thing-{number}", number)
    await world.start()
    assert len(world.values()) == 5
    lists = [dict(request.query) for request in world.api.requests if request.verb == "list"]
    assert [query.get("continue") is not None for query in lists] == [False, True, True]
    assert all(query["limit"] == "2" and query["labelSelector"] == "x=y" for query in lists)
    assert all("resourceVersion" not in query for query in lists)


async def test_pages_that_expire_are_read_again_in_one_piece() -> None:
    world = World(page_size=2)
    for number in range(5):
        world.api.put(f"thing-{number}", number)
    world.api.failures.extend([None, Expired("too old")])
    await world.start()
    assert len(world.values()) == 5
    lists = [dict(request.query) for request in world.api.requests if request.verb == "list"]
    assert "limit" not in lists[-1]
    assert "continue" not in lists[-1]


async def test_a_watch_asks_for_bookmarks_and_lasts_half_an_hour_to_an_hour() -> None:
    world = World()
    await world.start()
    query = dict(world.api.requests[-1].query)
    assert query["allowWatchBookmarks"] == "true"
    assert query["resourceVersion"] == str(world.api.revision)
    assert 1800 <= int(query["timeoutSeconds"]) <= 3600


async def test_at_rest_nothing_is_asked_for_as_long_as_bookmarks_come() -> None:
    world = World()
    await world.start()
    before = len(world.api.requests)
    for _ in range(30):
        await world.settle(60)
        world.api.revision += 1
        world.api.send_bookmark()
    await world.clock.settle()
    assert len(world.api.requests) == before
    assert world.informer.last_seen == world.api.revision


async def test_a_watch_that_falls_silent_is_opened_anew_and_nothing_is_listed() -> None:
    world = World()
    await world.start()
    await world.settle(179)
    assert world.api.verbs() == ["list", "watch"]
    await world.settle(5)
    assert world.api.verbs() == ["list", "watch", "watch"]
    assert world.api.open_watches == 1


@pytest.mark.parametrize("ending", [None, reset(), Unavailable("restarting")])
async def test_a_watch_that_ends_goes_on_where_it_was(ending: BaseException | None) -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    world.api.put("a", 2)
    await world.clock.settle()
    world.api.cut(ending)
    world.api.put("a", 3)
    await world.settle()
    assert world.api.verbs() == ["list", "watch", "watch"]
    assert world.told == [("add", "a", 1), ("change", "a", 2), ("change", "a", 3)]


async def test_a_server_that_is_away_is_asked_ever_more_rarely() -> None:
    world = World()
    await world.start()
    world.api.failures.extend([reset()] * 1000)
    world.api.cut(reset())
    await world.settle(600)
    tries = len(world.api.requests)
    assert 20 < tries < 60
    assert "list" not in world.api.verbs()[1:]


async def test_a_quiet_watch_that_is_cut_every_minute_is_opened_again_at_once() -> None:
    world = World()
    await world.start()
    for _ in range(12):
        await world.settle(55)
        assert world.api.open_watches == 1
        world.api.cut(reset())
        await world.settle(1)
    assert world.api.open_watches == 1
    assert world.api.verbs() == ["list"] + ["watch"] * 13


async def test_the_servers_retry_after_is_kept() -> None:
    world = World()
    await world.start()
    world.api.failures.append(TooManyRequests(retry_after=45))
    world.api.cut()
    await world.settle(40)
    assert world.api.verbs() == ["list", "watch", "watch"]
    await world.settle(10)
    assert world.api.open_watches == 1


@pytest.mark.parametrize("form", ["status", "event"])
async def test_both_forms_of_410_lead_to_a_list_that_finds_what_was_missed(form: str) -> None:
    world = World()
    for name in ("gone", "changed", "same"):
        world.api.put(name, 1)
    await world.start()
    world.told.clear()
    world.api.is_mute = True
    world.api.delete("gone")
    world.api.put("changed", 2)
    world.api.put("new", 3)
    world.api.is_mute = False
    world.api.compact()
    if form == "status":
        world.api.cut()
    else:
        world.api.send_error(410, "Expired")
    await world.settle()
    assert world.values() == {"changed": 2, "same": 1, "new": 3}
    assert sorted(world.told) == [
        ("add", "new", 3),
        ("change", "changed", 2),
        ("delete", "gone", 1),
    ]


async def test_another_error_event_leads_to_no_list() -> None:
    world = World()
    await world.start()
    world.api.send_error(500, "InternalError")
    await world.settle()
    assert world.api.verbs() == ["list", "watch", "watch"]


async def test_a_name_that_lives_again_is_a_deletion_and_an_addition() -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    world.api.replace_quietly("a", 2)
    await world.clock.settle()
    assert world.told == [("add", "a", 1), ("delete", "a", 1), ("add", "a", 2)]


async def test_a_name_that_lived_again_unseen_is_found_by_the_next_list() -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    world.api.is_mute = True
    world.api.delete("a")
    world.api.put("a", 2)
    world.api.compact()
    await world.settle(200)
    assert world.told == [("add", "a", 1), ("delete", "a", 1), ("add", "a", 2)]


async def test_events_that_come_twice_are_told_once() -> None:
    world = World()
    await world.start()
    for value in (1, 2):
        world.api.put("a", value)
    world.api.delete("a")
    world.api.put("a", 3)
    await world.clock.settle()
    told = list(world.told)
    world.api.send("MODIFIED", world.api.objects["a"])
    await world.clock.settle()
    assert world.told == told


async def test_older_events_that_come_again_change_nothing() -> None:
    world = World()
    await world.start()
    start = world.api.revision
    world.api.put("a", 1)
    world.api.delete("a")
    world.api.put("a", 2)
    await world.clock.settle()
    told = list(world.told)
    world.api.repeat_history(start)
    await world.clock.settle()
    assert world.values() == {"a": 2}
    assert world.told == told


async def test_a_malformed_version_from_the_past_drops_nothing() -> None:
    world = World()
    await world.start()
    start = world.api.revision
    world.api.put("a", "no number")
    world.api.put("a", 1)
    await world.clock.settle()
    world.api.repeat_history(start, start + 1)
    await world.clock.settle()
    assert world.values() == {"a": 1}
    assert world.told == [("add", "a", 1)]


async def test_a_malformed_object_stops_no_other_and_is_dropped() -> None:
    world = World()
    world.api.put("good", 1)
    world.api.put("bad", "no number")
    await world.start()
    assert world.values() == {"good": 1}
    world.api.put("good", "no number either")
    world.api.put("other", 5)
    await world.clock.settle()
    assert world.values() == {"other": 5}
    assert [identity.name for identity in world.refused] == ["bad", "good"]
    assert world.told == [("add", "good", 1), ("delete", "good", 1), ("add", "other", 5)]
    assert world.informer.last_seen == world.api.revision
    world.api.put("good", 2)
    await world.clock.settle()
    assert world.values() == {"other": 5, "good": 2}
    assert world.metrics.value("lws_informer_malformed_total", resource="things") == 2


async def test_an_object_that_an_index_cannot_take_is_malformed() -> None:
    world = World()
    world.informer.store.add_index("inverse", lambda thing: [1 / thing.value])
    world.api.put("a", 1)
    world.api.put("b", 1)
    await world.start()
    world.api.put("a", 0)
    await world.clock.settle()
    assert world.values() == {"b": 1}
    assert [identity.name for identity in world.refused] == ["a"]
    assert world.told[-1] == ("delete", "a", 1)


async def test_an_object_without_even_a_name_is_passed_over() -> None:
    world = World()
    await world.start()
    world.api.send("ADDED", {"metadata": {"name": 5}})
    world.api.send("ADDED", "not an object at all")
    world.api.put("a", 1)
    await world.clock.settle()
    assert world.values() == {"a": 1}
    assert world.refused == [Identity(), Identity()]
    assert world.api.open_watches == 1


async def test_a_line_that_is_no_event_breaks_the_watch_and_it_goes_on() -> None:
    world = World()
    await world.start()
    world.api.send_line(b"<html>")
    await world.settle()
    world.api.put("a", 1)
    await world.clock.settle()
    assert world.values() == {"a": 1}
    assert world.api.verbs() == ["list", "watch", "watch"]


async def test_a_list_that_is_no_list_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.api.put("a", 1)
    answers = [b"<html>", b'{"items":[]}']
    right = world.api.request_bytes

    async def answer(request: Request) -> bytes:
        return answers.pop(0) if answers else await right(request)

    monkeypatch.setattr(world.api, "request_bytes", answer)
    await world.start()
    assert answers == []
    assert world.values() == {"a": 1}


async def test_a_bookmark_that_is_none_breaks_the_watch_and_it_goes_on() -> None:
    world = World()
    await world.start()
    world.api.send("BOOKMARK", "nonsense")
    await world.settle()
    assert world.api.verbs() == ["list", "watch", "watch"]


async def test_a_handler_of_malformed_objects_may_fail_too() -> None:
    world = World()

    def fail(identity: Identity, error: Exception) -> None:
        raise KeyError(identity.name)

    world.informer._on_malformed = fail
    await world.start()
    world.api.put("bad", "no number")
    world.api.put("good", 1)
    await world.clock.settle()
    assert world.values() == {"good": 1}


async def test_a_version_that_is_refused_again_and_again_is_given_up() -> None:
    world = World()
    await world.start()
    world.api.failures.extend([ApiError("invalid resource version", status=400)] * 5)
    world.api.cut()
    await world.settle(60)
    assert world.api.verbs()[-2:] == ["list", "watch"]


async def test_a_server_restored_from_a_backup_is_listed_at_once() -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    backup = world.api.objects["a"]
    world.api.put("a", 2)
    await world.clock.settle()
    seen = world.informer.last_seen
    world.api.objects["a"] = backup
    world.api.revision -= 1
    world.api.compact()
    world.api.compacted = 0
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    world.api.failures.append(Unavailable("Timeout", status=504, causes=[cause]))
    world.api.cut()
    await world.settle()
    assert world.values() == {"a": 1}
    assert world.informer.last_seen == seen
    assert dict(world.api.requests[-1].query)["resourceVersion"] == str(world.api.revision)


async def test_a_handler_that_fails_kills_neither_informer_nor_other_handlers() -> None:
    world = World()

    def fail(change: Change[Thing]) -> None:
        raise KeyError("mistake")

    later: list[str] = []
    world.informer.add_handler(fail)
    world.informer.add_handler(lambda change: later.append(change.latest.metadata.name))
    world.api.put("a", 1)
    await world.start()
    world.api.put("b", 2)
    await world.clock.settle()
    assert later == ["a", "b"]
    assert world.metrics.value("lws_informer_handler_errors_total", resource="things") == 2


async def test_a_handler_that_comes_late_is_told_what_is_there() -> None:
    world = World()
    world.api.put("a", 1)
    await world.start()
    changes: list[Change[Thing]] = []
    world.informer.add_handler(changes.append)
    assert [(change.old, change.latest.metadata.name) for change in changes] == [(None, "a")]


async def test_the_store_shows_a_change_before_handlers_hear_of_it() -> None:
    world = World()
    seen: list[bool] = []

    def look(change: Change[Thing]) -> None:
        metadata = change.latest.metadata
        there = world.informer.store.get(namespace=metadata.namespace, name=metadata.name)
        seen.append(there is change.new)

    world.informer.add_handler(look)
    world.api.put("a", 1)
    await world.start()
    world.api.put("a", 2)
    world.api.replace_quietly("a", 3)
    world.api.delete("a")
    await world.clock.settle()
    assert seen == [True] * 5


async def test_it_is_synced_only_after_the_last_page() -> None:
    world = World()
    world.api.hold = asyncio.Event()
    world.task = asyncio.create_task(world.informer.run())
    await world.settle(10)
    assert not world.informer.is_synced
    world.api.hold.set()
    await world.informer.synced()


async def test_versions_that_are_no_numbers_are_recognised() -> None:
    world = World()
    await world.start()
    world.api.send(
        "ADDED",
        {"metadata": {"name": "a", "namespace": "d", "uid": "1", "resourceVersion": "x1"}},
    )
    await world.clock.settle()
    assert world.informer.has_seen("x1")
    assert not world.informer.has_seen("x2")


async def test_the_silence_of_a_watch_can_be_read() -> None:
    world = World()
    await world.start()
    await world.settle(50)
    value = world.metrics.value("lws_informer_silence_seconds", resource="things")
    assert value == pytest.approx(50)
    assert world.metrics.value("lws_informer_lists_total", resource="things") == 1


@pytest.mark.parametrize(
    "refusal", [Expired("too old"), Unavailable("Too large resource version: 9, current: 8")]
)
async def test_where_no_watch_comes_to_be_lists_become_rarer(refusal: ApiError) -> None:
    """The list is from the store; the watch is refused by a server whose cache lies behind."""
    world = World()
    world.api.failures.extend([None, refusal] * 500)
    await world.start()
    await world.settle(300)
    assert world.api.verbs().count("list") < 25
    world.api.failures.clear()
    world.api.put("a", 1)
    await world.settle(30)
    assert world.values() == {"a": 1}
