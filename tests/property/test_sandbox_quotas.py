"""Quotas against a model, through any sequence of writes: what is accepted always had room, what is
refused had none, and when all is quiet, used is what the objects that are there use."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lws.client.resources import PODS, Resource
from lws.runtime.clock import VirtualClock
from lws.sandbox.cluster.cache import Caches
from lws.sandbox.cluster.context import Context
from lws.sandbox.cluster.events import Recorder
from lws.sandbox.cluster.quotas import QuotaController
from lws.sandbox.server import Server
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
PLACE = "default"
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
CPUS = st.integers(min_value=0, max_value=4)
HARD = st.fixed_dictionaries({"pods": st.integers(0, 4), "cpu": st.integers(0, 8)})
_RECOUNT = 301.0

T = TypeVar("T")
Json = dict[str, Any]


class QuotaMachine(RuleBasedStateMachine):
    """Pods of one namespace, and one quota of pods and cores."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = VirtualClock()
        self.server = Server(clock=self.clock)
        self.api = self.server.api
        self.pods: dict[str, int] = {}
        self.ended: set[str] = set()
        self.hard = {"pods": 3, "cpu": 6}
        self.tasks: list[asyncio.Task[None]] = []
        self.do(self._start())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _start(self) -> None:
        caches = Caches(self.api)
        recorder = Recorder(self.api, self.clock, is_on=False)
        controller = QuotaController(Context(self.api, self.clock, caches, recorder))

        async def run() -> None:
            async with asyncio.TaskGroup() as group:
                await caches.start(group)
                group.create_task(controller.run())

        self.tasks.append(self.loop.create_task(run()))
        made = {"metadata": {"name": "q"}, "spec": {"hard": _written(self.hard)}}
        await self.api.create(QUOTAS, made, namespace=PLACE)
        await self.clock.run_for(1)

    def teardown(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.do(_gathered(self.tasks))
        self.loop.close()

    @property
    def status(self) -> Json:
        found: Json = self.api.get(QUOTAS, name="q", namespace=PLACE)["status"]
        return found

    @property
    def used(self) -> dict[str, int]:
        return {name: int(value) for name, value in self.status["used"].items()}

    def has_room(self, cpu: int) -> bool:
        """By what is charged, not by what is there: a charge may be too high, never too low."""
        hard = {name: int(value) for name, value in self.status["hard"].items()}
        after = {"pods": self.used["pods"] + 1, "cpu": self.used["cpu"] + cpu}
        return all(after[name] <= hard[name] for name in after if name == "pods" or cpu)

    def try_making(self, name: str, cpu: int, caller: Caller) -> ApiStatus | None:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}
        made = {"metadata": {"name": name}, "spec": {"containers": [container]}}
        try:
            self.do(self.api.create(PODS, made, namespace=PLACE, caller=caller))
        except ApiStatus as refusal:
            return refusal
        return None

    def catch_up(self) -> None:
        """What is due at once is done, so that nothing changes while a write is judged."""
        self.do(self.clock.run_for(0))

    @rule(name=NAMES, cpu=CPUS)
    def make(self, name: str, cpu: int) -> None:
        self.catch_up()
        had_room, before = self.has_room(cpu), self.used
        refusal = self.try_making(name, cpu, Caller())
        if refusal is None:
            self.pods[name] = cpu
        if not had_room:
            assert refusal is not None
            assert "exceeded quota: q" in refusal.message
            assert self.used == before
            return
        assert refusal is None or refusal.code == 409
        assert self.used == {"pods": before["pods"] + 1, "cpu": before["cpu"] + cpu}

    @rule(name=NAMES, cpu=CPUS)
    def rehearse(self, name: str, cpu: int) -> None:
        self.catch_up()
        had_room, before = self.has_room(cpu), self.used
        refusal = self.try_making(name, cpu, Caller(dry_run=True))
        assert (refusal is not None and refusal.code == 403) is not had_room
        assert self.used == before

    @rule(name=NAMES)
    def end(self, name: str) -> None:
        if name in self.pods:
            pod = self.api.get(PODS, name=name, namespace=PLACE)
            over = {**pod, "status": {**pod["status"], "phase": "Succeeded"}}
            self.do(self.api.update(PODS, over, namespace=PLACE, subresource="status"))
            self.ended.add(name)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        if self.pods.pop(name, None) is not None:
            self.ended.discard(name)
            self.do(self.api.delete(PODS, name=name, namespace=PLACE))

    @rule(hard=HARD)
    def change(self, hard: dict[str, int]) -> None:
        self.catch_up()
        quota = self.api.get(QUOTAS, name="q", namespace=PLACE)
        self.hard = hard
        changed = {**quota, "spec": {"hard": _written(hard)}}
        self.do(self.api.update(QUOTAS, changed, namespace=PLACE))

    @rule(seconds=st.sampled_from([0.01, 1.0]))
    def wait(self, seconds: float) -> None:
        self.do(self.clock.run_for(seconds))

    @rule()
    def settle(self) -> None:
        self.do(self.clock.run_for(_RECOUNT))
        assert self.used == self.real_use()
        assert self.status["hard"] == _written(self.hard)

    def real_use(self) -> dict[str, int]:
        running = [cpu for name, cpu in self.pods.items() if name not in self.ended]
        return {"pods": len(running), "cpu": sum(running)}

    @invariant()
    def what_is_there_is_charged(self) -> None:
        use = self.real_use()
        assert all(self.used[name] >= use[name] for name in use)


async def _gathered(tasks: list[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def _written(hard: dict[str, int]) -> dict[str, str]:
    return {name: str(value) for name, value in hard.items()}


TestQuotas = QuotaMachine.TestCase
TestQuotas.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
