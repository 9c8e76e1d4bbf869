"""The API against a model, through any sequence of writes: no lost update, pages of one moment, a
watch that resumes is the list replayed, apply is idempotent, resourceVersions only grow."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, ListOptions, WatchOptions
from lws.sandbox.store import Store

MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PLACE = "default"
NAMES = st.sampled_from(["a", "b", "c", "d"])
COLOURS = st.sampled_from(["red", "blue"])
SELECTORS = st.sampled_from(["", "colour=red", "colour!=red"])
ANY = st.integers(min_value=0, max_value=2**20)
WINDOW = 12

T = TypeVar("T")
Json = dict[str, Any]


@dataclass
class _Reader:
    """A client that lists once, and then watches from where it was, again and again."""

    selector: str
    shown: dict[str, Json]
    version: str


@dataclass
class _Pages:
    """A list that is read in pages, while others write."""

    whole: list[Json]
    limit: int
    read: list[Json] = field(default_factory=list)
    token: str = ""
    is_done: bool = False


class ApiMachine(RuleBasedStateMachine):
    """ConfigMaps of one namespace."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.server = Server(clock=VirtualClock(), store=Store(window=WINDOW))
        self.api = self.server.api
        self.model: dict[str, Json] = {}
        self.seen: list[Json] = []
        self.readers: list[_Reader] = []
        self.pages: list[_Pages] = []
        self.newest = int(self.api.list(MAPS).resource_version)

    def run_(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def wrote(self, obj: Json) -> None:
        """A success: the object is what is there now, and newer than all before."""
        version = int(obj["metadata"]["resourceVersion"])
        before = self.model.get(obj["metadata"]["name"])
        if before == obj:
            return
        assert version > self.newest
        self.newest = version
        self.model[obj["metadata"]["name"]] = obj
        self.seen.append(obj)

    def refused(self, refusal: ApiStatus, *reasons: str) -> None:
        assert refusal.reason in reasons, refusal

    # Writers

    @rule(name=NAMES, colour=COLOURS, value=ANY)
    def create(self, name: str, colour: str, value: int) -> None:
        obj = {"metadata": {"name": name, "labels": {"colour": colour}}, "data": {"v": f"{value}"}}
        try:
            self.wrote(self.run_(self.api.create(MAPS, obj, namespace=PLACE)))
        except ApiStatus as refusal:
            self.refused(refusal, "AlreadyExists")
            assert name in self.model
        else:
            assert self.model[name]["data"] == {"v": f"{value}"}

    @precondition(lambda self: self.seen)
    @rule(choice=ANY, colour=COLOURS, value=ANY)
    def update_what_was_seen(self, choice: int, colour: str, value: int) -> None:
        seen = self.seen[choice % len(self.seen)]
        name = seen["metadata"]["name"]
        metadata = {**seen["metadata"], "labels": {"colour": colour}}
        obj = {**seen, "metadata": metadata, "data": {"v": f"{value}"}}
        try:
            done = self.run_(self.api.update(MAPS, obj, namespace=PLACE))
        except ApiStatus as refusal:
            self.refused(refusal, "Conflict", "NotFound")
            assert self.model.get(name) != seen, "nobody was faster"
        else:
            assert self.model[name] == seen, "a lost update"
            self.wrote(done)

    @rule(name=NAMES, colour=COLOURS)
    def patch(self, name: str, colour: str) -> None:
        patch = {"metadata": {"labels": {"colour": colour}}}
        kind = PatchType.MERGE
        try:
            work = self.api.patch(MAPS, patch, patch_type=kind, name=name, namespace=PLACE)
            done = self.run_(work)
        except ApiStatus as refusal:
            self.refused(refusal, "NotFound")
            assert name not in self.model
        else:
            assert done.get("data") == self.model[name].get("data")
            self.wrote(done)

    @rule(name=NAMES, manager=st.sampled_from(["ann", "bob"]), value=ANY)
    def apply_twice(self, name: str, manager: str, value: int) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name},
            "data": {manager: f"{value}"},
        }

        def once() -> Json:
            return self.run_(
                self.api.patch(
                    MAPS,
                    body,
                    patch_type=PatchType.APPLY,
                    name=name,
                    namespace=PLACE,
                    force=True,
                    caller=Caller(field_manager=manager),
                )
            )

        first = once()
        self.wrote(first)
        assert first["data"][manager] == f"{value}"
        assert once() == first

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        try:
            self.run_(self.api.delete(MAPS, name=name, namespace=PLACE))
        except ApiStatus as refusal:
            self.refused(refusal, "NotFound")
            assert name not in self.model
        else:
            del self.model[name]
            version = int(self.api.list(MAPS).resource_version)
            assert version > self.newest
            self.newest = version

    @rule(name=NAMES, value=ANY)
    def dry_run(self, name: str, value: int) -> None:
        """Refused or answered as in earnest, and nothing is written: the invariants look."""
        caller = Caller(dry_run=True)
        obj = {"metadata": {"name": name}, "data": {"v": f"{value}"}}
        try:
            self.run_(self.api.create(MAPS, obj, namespace=PLACE, caller=caller))
        except ApiStatus as refusal:
            self.refused(refusal, "AlreadyExists")
            assert name in self.model

    # Readers

    @rule(limit=st.integers(min_value=1, max_value=3))
    def begin_pages(self, limit: int) -> None:
        self.pages.append(_Pages([self.model[name] for name in sorted(self.model)], limit))
        self._turn(self.pages[-1])

    @precondition(lambda self: self.pages)
    @rule(choice=ANY)
    def next_page(self, choice: int) -> None:
        self._turn(self.pages[choice % len(self.pages)])

    def _turn(self, pages: _Pages) -> None:
        if pages.is_done:
            return
        options = ListOptions(limit=pages.limit, continue_token=pages.token)
        try:
            page = self.api.list(MAPS, namespace=PLACE, options=options)
        except ApiStatus as refusal:
            self.refused(refusal, "Expired")
            pages.is_done = True
            return
        pages.read += page.items
        pages.token = page.continue_token
        assert len(page.items) <= pages.limit
        assert pages.whole[: len(pages.read)] == pages.read, "of one moment, each once, in order"
        pages.is_done = not pages.token
        if pages.is_done:
            assert pages.read == pages.whole

    @rule(selector=SELECTORS)
    def begin_watch(self, selector: str) -> None:
        listing = self._listed(selector)
        shown = {one["metadata"]["name"]: one for one in listing.items}
        self.readers.append(_Reader(selector, shown, listing.resource_version))

    @precondition(lambda self: self.readers)
    @rule(choice=ANY)
    def watch_on(self, choice: int) -> None:
        reader = self.readers[choice % len(self.readers)]
        if self.run_(self._follow(reader)):
            listing = self._listed(reader.selector)
            assert reader.shown == {one["metadata"]["name"]: one for one in listing.items}
        else:
            self.readers.remove(reader)

    async def _follow(self, reader: _Reader) -> bool:
        """Up to now; False if that is too far back."""
        options = WatchOptions(label_selector=reader.selector, resource_version=reader.version)
        try:
            watch = self.api.watch(MAPS, namespace=PLACE, options=options)
        except ApiStatus as refusal:
            self.refused(refusal, "Expired")
            return False
        async with watch:
            watch.stop()
            async for event in watch:
                self._see(reader, event.type.value, event.object)
        return True

    def _see(self, reader: _Reader, kind: str, obj: Json) -> None:
        name, version = obj["metadata"]["name"], obj["metadata"]["resourceVersion"]
        assert int(version) > int(reader.version), "out of order, or twice"
        reader.version = version
        assert (kind == "ADDED") is (name not in reader.shown)
        if kind == "DELETED":
            del reader.shown[name]
        else:
            reader.shown[name] = obj

    def _listed(self, selector: str) -> Any:
        options = ListOptions(label_selector=selector)
        return self.api.list(MAPS, namespace=PLACE, options=options)

    # Always

    @invariant()
    def the_list_is_the_model_at_the_newest_revision(self) -> None:
        listing = self._listed("")
        assert list(listing.items) == [self.model[name] for name in sorted(self.model)]
        assert int(listing.resource_version) == self.newest

    def teardown(self) -> None:
        for reader in self.readers:
            if self.run_(self._follow(reader)):
                shown = {one["metadata"]["name"] for one in self._listed(reader.selector).items}
                assert reader.shown.keys() == shown
        self.loop.close()


TestApi = ApiMachine.TestCase
TestApi.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
