"""Events tell a person everything and cost the API server little."""

import asyncio
from collections import deque
from dataclasses import replace
from typing import Any

import msgspec
from structlog.testing import capture_logs

from lws.client.errors import (
    AlreadyExists,
    Cause,
    Forbidden,
    Invalid,
    NotFound,
    Unavailable,
)
from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.runtime.events import Event, EventRecorder, ObjectReference, cut_note
from lws.runtime.metrics import Metrics


class World:
    """A recorder on virtual time, and the requests that it made."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.metrics = Metrics()
        self.requests: list[Request] = []
        self.failures: deque[BaseException | None] = deque()
        self.recorder = EventRecorder(
            client=self, clock=self.clock, component="lws", instance="lws-0", metrics=self.metrics
        )
        self.task = asyncio.create_task(self.recorder.run())

    async def request_bytes(self, request: Request) -> bytes:
        self.requests.append(request)
        failure = self.failures.popleft() if self.failures else None
        if failure is not None:
            raise failure
        return b"{}"

    async def emit_times(self, times: int) -> None:
        """The same event, the first one written before the next comes."""
        for _ in range(times):
            self.recorder.emit(event())
            await self.clock.settle()

    def verbs(self) -> list[str]:
        return [request.verb for request in self.requests]

    def body(self, number: int = -1) -> dict[str, Any]:
        return msgspec.json.decode(self.requests[number].body or b"", type=dict[str, Any])

    def dropped(self, why: str) -> float:
        return self.metrics.value("lws_events_dropped_total", why=why)


def event(note: str = "made", *, reason: str = "Created", name: str = "set") -> Event:
    regarding = ObjectReference(
        api_version="leaderworkerset.x-k8s.io/v1",
        kind="LeaderWorkerSet",
        namespace="ns",
        name=name,
        uid=f"uid of {name}",
        resource_version="7",
    )
    return Event(regarding=regarding, type="Normal", reason=reason, action="Create", note=note)


async def test_a_first_event_is_written_at_once_and_whole() -> None:
    world = World()
    world.recorder.emit(event())
    await world.clock.settle()
    assert world.verbs() == ["create"]
    assert world.requests[0].path == "/apis/events.k8s.io/v1/namespaces/ns/events"
    body = world.body()
    assert body["metadata"]["name"].startswith("set.")
    assert body["eventTime"] == "2023-11-14T22:13:20.000000Z"
    assert body["reportingController"] == "lws"
    assert body["reportingInstance"] == "lws-0"
    assert body["regarding"]["resourceVersion"] == "7"
    assert (body["type"], body["reason"], body["action"]) == ("Normal", "Created", "Create")
    assert "series" not in body


async def test_repeats_are_counted_and_told_once_in_five_minutes() -> None:
    world = World()
    for _ in range(590):
        world.recorder.emit(event())
        await world.clock.run_for(1)
    assert world.verbs() == ["create", "patch"]
    assert world.requests[1].path.endswith(world.body(0)["metadata"]["name"])
    assert set(world.body()) == {"series"}
    assert 300 <= world.body()["series"]["count"] <= 332


async def test_repeats_before_the_first_write_go_with_it() -> None:
    world = World()
    for _ in range(4):
        world.recorder.emit(event())
    await world.clock.run_for(1000)
    assert world.verbs() == ["create"]
    assert world.body()["series"]["count"] == 4


async def test_the_end_of_a_series_is_told_and_the_next_event_is_a_first_one() -> None:
    world = World()
    await world.emit_times(3)
    await world.clock.run_for(1000)
    assert world.verbs() == ["create", "patch"]
    assert world.body()["series"]["count"] == 3
    world.recorder.emit(event())
    await world.clock.settle()
    assert world.verbs() == ["create", "patch", "create"]


async def test_an_event_that_does_not_repeat_is_one_write() -> None:
    world = World()
    world.recorder.emit(event())
    await world.clock.run_for(10_000)
    assert world.verbs() == ["create"]
    assert not world.recorder._series


async def test_other_reasons_and_other_objects_are_other_events() -> None:
    world = World()
    for one in (event(), event(reason="Deleted"), event(name="other"), event("other note")):
        world.recorder.emit(one)
    await world.clock.settle()
    assert world.verbs() == ["create"] * 4


async def test_of_very_many_that_differ_in_their_notes_ten_are_told_and_the_rest_counted() -> None:
    world = World()
    for number in range(100):
        world.recorder.emit(event(f"made {number}"))
        await world.clock.settle()
    assert world.verbs() == ["create"] * 10
    await world.recorder.flush()
    assert world.verbs() == ["create"] * 10 + ["patch"]
    assert world.body()["series"]["count"] == 91


async def test_an_event_may_say_that_few_of_its_kind_are_enough() -> None:
    world = World()
    for number in range(5):
        world.recorder.emit(replace(event(f"made {number}"), notes_max=2))
    await world.clock.settle()
    assert [world.body(at)["note"] for at in range(2)] == ["made 0", "made 1"]
    await world.clock.run_for(1000)
    assert len(world.requests) == 2
    assert world.body(1)["series"]["count"] == 4


async def test_an_event_may_wait_to_be_told_together_with_its_kind() -> None:
    world = World()
    for number in range(3):
        world.recorder.emit(replace(event(f"made {number}"), notes_max=1, fold_seconds=5))
        await world.clock.run_for(1)
    assert world.verbs() == []
    await world.clock.run_for(2.1)
    assert world.verbs() == ["create"]
    assert (world.body()["note"], world.body()["series"]["count"]) == ("made 0", 3)
    await world.clock.run_for(1000)
    assert world.verbs() == ["create"]


async def test_what_waits_is_written_by_a_flush_and_only_then() -> None:
    world = World()
    world.recorder.emit(replace(event(), notes_max=1, fold_seconds=5))
    await world.recorder.flush()
    assert world.verbs() == ["create"]
    await world.clock.run_for(10)
    assert world.verbs() == ["create"]


async def test_a_kind_of_event_that_has_ended_tells_its_notes_anew() -> None:
    world = World()
    for number in range(20):
        world.recorder.emit(event(f"made {number}"))
    await world.clock.run_for(800)
    world.recorder.emit(event("made 20"))
    await world.clock.settle()
    assert world.body()["note"] == "made 20"


async def test_names_are_unique_also_within_one_moment_and_never_too_long() -> None:
    world = World()
    for number in range(50):
        world.recorder.emit(event(reason=f"Reason{number}", name="n" * 253))
    await world.clock.settle()
    names = {world.body(number)["metadata"]["name"] for number in range(50)}
    assert len(names) == 50
    assert max(len(name) for name in names) == 253


async def test_a_flush_writes_what_is_counted() -> None:
    world = World()
    await world.emit_times(5)
    world.task.cancel()
    await world.recorder.flush()
    assert world.verbs() == ["create", "patch"]
    assert world.body()["series"]["count"] == 5


async def test_a_flush_that_takes_too_long_is_given_up() -> None:
    world = World()
    world.task.cancel()
    world.failures.extend([Unavailable()] * 100)
    for number in range(10):
        world.recorder.emit(event(reason=f"Reason{number}"))
    with capture_logs():
        await world.recorder.flush(seconds=3)
    assert world.clock.monotonic() <= 3
    assert world.dropped("shutdown") + world.dropped("failed") == 10


async def test_a_failing_server_is_tried_again() -> None:
    world = World()
    world.failures.extend([Unavailable(), Unavailable()])
    world.recorder.emit(event())
    await world.clock.run_for(10)
    assert world.verbs() == ["create"] * 3
    assert len({world.body(number)["metadata"]["name"] for number in range(3)}) == 1


async def test_a_server_that_goes_on_failing_costs_the_event_and_nothing_else() -> None:
    world = World()
    world.failures.extend([Unavailable()] * 5)
    world.recorder.emit(event())
    world.recorder.emit(event(reason="Second"))
    with capture_logs():
        await world.clock.run_for(60)
    assert world.verbs() == ["create"] * 6
    assert world.dropped("failed") == 1


async def test_an_event_that_was_written_after_all_is_not_written_again() -> None:
    world = World()
    world.failures.extend([Unavailable(), AlreadyExists()])
    world.recorder.emit(event())
    await world.clock.run_for(1000)
    assert world.verbs() == ["create"] * 2


async def test_a_series_whose_event_has_expired_begins_anew() -> None:
    world = World()
    world.failures.extend([None, NotFound()])
    await world.emit_times(2)
    await world.clock.run_for(400)
    assert world.verbs() == ["create", "patch", "create"]
    assert world.body()["series"]["count"] == 2
    assert world.body(0)["metadata"]["name"] != world.body(2)["metadata"]["name"]


async def test_events_in_a_namespace_that_goes_away_are_dropped() -> None:
    world = World()
    cause = Cause("NamespaceTerminating", "namespace ns is being terminated", "metadata.namespace")
    world.failures.extend([Forbidden(causes=[cause]), Invalid()])
    world.recorder.emit(event())
    world.recorder.emit(event(reason="Second"))
    await world.clock.run_for(30)
    assert world.verbs() == ["create"] * 2
    assert world.dropped("namespace terminating") == 1
    assert world.dropped("refused") == 1


async def test_too_many_at_once_cost_the_oldest() -> None:
    world = World()
    for number in range(1200):
        world.recorder.emit(event(reason=f"Reason{number}"))
    await world.clock.settle()
    assert len(world.requests) == 1000
    assert world.dropped("overflow") == 200
    assert world.body(0)["reason"] == "Reason200"


async def test_a_cancelled_write_is_not_lost() -> None:
    world = World()
    world.recorder.emit(event())
    world.failures.append(asyncio.CancelledError())
    await world.clock.settle()
    await world.recorder.flush()
    assert world.verbs() == ["create"] * 2


def test_a_note_is_cut_at_a_whole_character_within_1024_bytes() -> None:
    assert cut_note("short") == "short"
    for note in ("x" * 2000, "ü" * 2000, "😀" * 500):
        cut = cut_note(note)
        assert cut.endswith("…")
        assert 1018 <= len(cut.encode()) <= 1024
    assert cut_note("\ud800") == "?"
