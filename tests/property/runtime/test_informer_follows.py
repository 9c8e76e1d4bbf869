"""Whatever a server and the way to it do, the store ends equal to the server, and on the way
handlers hear a story without a contradiction."""

import asyncio
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from structlog.testing import capture_logs

from lws.client.errors import Expired, MalformedAnswer, TooManyRequests, Unavailable
from lws.runtime.clock import VirtualClock
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.reflection import Change
from tests.unit.runtime.fake_api import THINGS, FakeApi, Thing, decode_thing, reset

METRICS = Metrics()
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
FAILURES: dict[str, Callable[[], BaseException]] = {
    "reset": reset,
    "expired": lambda: Expired("too old", reason="Expired"),
    "unavailable": lambda: Unavailable("down"),
    "busy": lambda: TooManyRequests(retry_after=3),
    "page": lambda: MalformedAnswer("<html>"),
    "timeout": TimeoutError,
}

Step = tuple[str, Any]
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("put_malformed"), NAMES),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("replace"), NAMES),
    st.tuples(st.just("cut"), st.sampled_from([None, *FAILURES])),
    st.tuples(st.just("cut_and_miss"), st.lists(st.tuples(NAMES, st.booleans()), max_size=5)),
    st.tuples(st.just("error_event"), st.sampled_from([410, 500, 504])),
    st.tuples(st.just("fail"), st.lists(st.sampled_from([None, *FAILURES]), max_size=4)),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("bookmark"), st.none()),
    st.tuples(st.just("repeat"), st.tuples(st.integers(1, 12), st.integers(1, 12))),
    st.tuples(st.just("garbage"), st.none()),
    st.tuples(st.just("reorder"), st.integers(min_value=0, max_value=5)),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.1, 2.0, 40.0, 200.0])),
)


class Story:
    """What handlers hear, checked word by word."""

    def __init__(self) -> None:
        self.alive: dict[str, Thing] = {}
        self.names: dict[str, str] = {}

    def hear(self, change: Change[Thing]) -> None:
        uid, name = change.latest.metadata.uid, change.latest.metadata.name
        if change.old is None:
            assert uid not in self.alive, "added twice"
            assert name not in self.names, "a name with two lives at once"
        else:
            assert self.alive[uid] == change.old, "not from what was told before"
        if change.new is None:
            del self.alive[uid]
            del self.names[name]
            return
        assert change.new.metadata.uid == uid, "a change of identity is two changes"
        if change.old is not None:
            assert change.old.metadata.resource_version != change.new.metadata.resource_version
        self.alive[uid] = change.new
        self.names[name] = uid


class World:
    """Server, informer, story; and what has happened to every UID, for the law of last_seen."""

    def __init__(self, *, page_size: int, streams: bool) -> None:
        self.clock = VirtualClock()
        self.api = FakeApi()
        self.story = Story()
        self.problems: list[BaseException] = []
        self.deleted: dict[str, int] = {}
        self.informer: Informer[Thing] = Informer(
            client=self.api,
            resource=THINGS,
            decode=decode_thing,
            clock=self.clock,
            page_size=page_size,
            streams_list=streams,
            metrics=METRICS,
        )
        self.informer.add_handler(self.hear)
        self.seen = 0

    def hear(self, change: Change[Thing]) -> None:
        try:
            self.story.hear(change)
        except (AssertionError, KeyError) as problem:
            self.problems.append(problem)

    def do(self, step: Step) -> None:
        getattr(self, f"do_{step[0]}")(step[1])

    def do_put(self, name: str) -> None:
        self.api.put(name, self.api.revision)

    def do_put_malformed(self, name: str) -> None:
        self.api.put(name, "no number")

    def do_delete(self, name: str) -> None:
        if name in self.api.objects:
            uid = self.api.objects[name]["metadata"]["uid"]
            self.api.delete(name)
            self.deleted[uid] = self.api.revision

    def do_replace(self, name: str) -> None:
        if name in self.api.objects:
            uid = self.api.objects[name]["metadata"]["uid"]
            self.deleted[uid] = self.api.revision + 1
        self.api.replace_quietly(name, self.api.revision)

    def do_cut(self, why: str | None) -> None:
        self.api.cut(FAILURES[why]() if why else None)

    def do_cut_and_miss(self, changes: list[tuple[str, bool]]) -> None:
        self.api.is_mute = True
        for name, there in changes:
            self.do_put(name) if there else self.do_delete(name)
        self.api.is_mute = False
        self.api.cut(reset())

    def do_error_event(self, code: int) -> None:
        self.api.send_error(code, "Expired" if code == 410 else "InternalError")

    def do_fail(self, failures: list[str | None]) -> None:
        self.api.failures.extend(FAILURES[name]() if name else None for name in failures)

    def do_compact(self, _: None) -> None:
        self.api.compact()

    def do_bookmark(self, _: None) -> None:
        self.api.send_bookmark()

    def do_repeat(self, part: tuple[int, int]) -> None:
        back, length = part
        since = self.api.revision - back
        self.api.repeat_history(since, since + length)

    def do_garbage(self, _: None) -> None:
        self.api.send_line(b'{"type": "ADDED", "object"')

    def do_reorder(self, turns: int) -> None:
        names = list(self.api.objects)
        order = names[turns:] + names[:turns]
        self.api.objects = {name: self.api.objects[name] for name in reversed(order)}

    def check(self) -> None:
        """At any moment: what last_seen promises, and no contradiction so far."""
        assert not self.problems, self.problems
        seen, store = self.informer.last_seen, self.informer.store
        assert self.seen <= seen <= self.api.revision
        self.seen = seen
        for name, item in self.api.objects.items():
            version = item["metadata"]["resourceVersion"]
            if int(version) <= seen and isinstance(item["value"], int):
                known = store.get(namespace="default", name=name)
                assert known is not None
                assert known.metadata.resource_version == version
        for thing in store.values():
            assert self.deleted.get(thing.metadata.uid, seen + 1) > seen
        assert set(self.story.alive) == {thing.metadata.uid for thing in store.values()}

    def check_equal(self) -> None:
        """At the end."""
        readable = {
            name: item["metadata"]["resourceVersion"]
            for name, item in self.api.objects.items()
            if isinstance(item["value"], int)
        }
        held = {
            thing.metadata.name: thing.metadata.resource_version
            for thing in self.informer.store.values()
        }
        assert held == readable
        assert self.informer.last_seen == self.api.revision


async def follow(steps: list[tuple[Step, bool]], *, page_size: int, streams: bool) -> None:
    world = World(page_size=page_size, streams=streams)
    for name in "abc":
        world.do_put(name)
    task = asyncio.create_task(world.informer.run())
    await world.informer.synced()
    for step, is_alone in steps:
        if step[0] == "wait":
            await world.clock.run_for(step[1])
        else:
            world.do(step)
            if is_alone:  # else it happens together with the next one
                await world.clock.settle()
        world.check()
    world.api.failures.clear()
    world.api.cut(reset())
    await world.clock.run_for(100)
    world.check()
    world.check_equal()
    assert not task.done()
    task.cancel()


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(st.tuples(STEPS, st.booleans()), max_size=30),
    page_size=st.sampled_from([1, 2, 500]),
    streams=st.booleans(),
)
def test_the_store_ends_equal_to_the_server(
    steps: list[tuple[Step, bool]], page_size: int, streams: bool
) -> None:
    with capture_logs():
        asyncio.run(follow(steps, page_size=page_size, streams=streams))
