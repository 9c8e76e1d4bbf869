"""An informer on virtual time, for tests to look into."""

import asyncio
from typing import Any

from lws.runtime.clock import VirtualClock
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.reflection import Change, Identity
from tests.unit.runtime.fake_api import THINGS, FakeApi, Thing, decode_thing


class World:
    """An informer on virtual time, and what its handler was told."""

    def __init__(self, **arguments: Any) -> None:
        self.clock = VirtualClock()
        self.api = FakeApi()
        self.metrics = Metrics()
        self.told: list[tuple[str, str, int]] = []
        self.refused: list[Identity] = []
        self.informer: Informer[Thing] = Informer(
            client=self.api,
            resource=THINGS,
            decode=decode_thing,
            clock=self.clock,
            on_malformed=lambda identity, error: self.refused.append(identity),
            metrics=self.metrics,
            **arguments,
        )
        self.informer.add_handler(self.note)
        self.task: asyncio.Task[None] | None = None

    def note(self, change: Change[Thing]) -> None:
        words = {(True, False): "add", (False, False): "change", (False, True): "delete"}
        word = words[change.old is None, change.new is None]
        thing = change.latest
        if change.old is not None and change.new is not None:
            assert change.old.metadata.uid == change.new.metadata.uid
        self.told.append((word, thing.metadata.name, thing.value))

    async def start(self) -> None:
        self.task = asyncio.create_task(self.informer.run())
        await self.informer.synced()
        await self.clock.settle()

    async def settle(self, seconds: float = 5.0) -> None:
        await self.clock.run_for(seconds)

    def values(self) -> dict[str, int]:
        return {thing.metadata.name: thing.value for thing in self.informer.store.values()}
