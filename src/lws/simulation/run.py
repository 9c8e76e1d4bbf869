"""One run: bring up, disturb, heal, rest, and take down; judged all the while."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from lws.api.crds import custom_resource_definitions
from lws.base.clock import Clock
from lws.client import resources
from lws.client.resources import Resource
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec
from lws.sandbox.server import Server
from lws.sandbox.server.admission import LocalWebhooks, Webhooks
from lws.sandbox.store import Store
from lws.simulation.chance import Chance
from lws.simulation.judge.judge import Judge
from lws.simulation.judge.rest import orphans, unsettled
from lws.simulation.judge.verdicts import Violation
from lws.simulation.lives import Life, apart, new_task
from lws.simulation.machines import Machine, Program
from lws.simulation.trouble import Trouble
from lws.simulation.users import Users
from lws.simulation.weather import CALM, WEATHERS
from lws.simulation.wire import Surroundings

WEBHOOK_ADDRESS = "lws-webhook-service.lws-system.svc:443"
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
SETTLE_SECONDS = 3600.0
"""A group that was recreated often waits five minutes, its pods' node up to as long."""
LOOK_SECONDS = 5.0
MEMORY_SECONDS = 960.0
"""So long after the last failure a set remembers it, and a repeated event is a series."""
MACHINES = ("a", "b")
Review = Callable[[str, bytes], tuple[int, bytes]]
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is handed in."""

    program: Program
    review: Review
    """Its webhooks: path and body in, status and body out."""
    configurations: Mapping[Resource, Object]
    """Its webhook configurations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long, in virtual seconds."""

    disturbed_seconds: float = 600.0
    rest_seconds: float = 600.0
    ready_after: float = 8.0
    nodes: int = 6


@dataclass(slots=True)
class Outcome:
    """What came of a run."""

    violations: list[Violation] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    writes: int = 0
    """Of the operator, without the lease."""
    rest_seconds: float = 0.0
    """At rest, with no write but the lease's."""
    renewals: int = 0
    """Writes of the lease in that time."""
    checked: int = 0
    """Writes of everybody that the rules were asked about."""
    seconds: float = 0.0
    revision: int = 0
    """Of the API server at the end: the same seed, the same number."""


class Run:
    """Everything of one seed."""

    def __init__(
        self,
        judged: Judged,
        *,
        clock: Clock,
        chance: Callable[[str], Chance],
        plan: Plan | None = None,
        mistakes: list[str] | None = None,
    ) -> None:
        """`chance` gives a stream by its name; the same name, the same stream. `mistakes` is
        filled, while it runs, with what the program itself takes for its mistakes."""
        self._mistakes = [] if mistakes is None else mistakes
        self._plan = plan or Plan()
        self._judged = judged
        self._clock = clock
        self._chance = chance("course")
        self._webhook_chance = chance("webhooks")
        self.outcome = Outcome()
        self.judge = Judge(clock)
        hooks = LocalWebhooks({WEBHOOK_ADDRESS: self._review})
        self.server = Server(clock=clock, store=Store(), admission=Webhooks(hooks))
        self.server.world.observers.append(self.judge.on_write)
        self._around = Surroundings(
            clock=clock,
            chance=chance("wire"),
            weather=CALM,
            watcher=self.judge,
            crash=self._crash,
        )
        self._cluster = Cluster(
            self.server.api,
            clock,
            nodes=[
                NodeSpec(name=f"node-{number}", labels={"kubernetes.io/hostname": f"node-{number}"})
                for number in range(self._plan.nodes)
            ],
            options=ClusterOptions(
                ready_after=self._plan.ready_after,
                max_unavailable_gate=self._chance.happens(0.5),
                events=False,
            ),
        )
        self._machines = [
            Machine(name, judged.program, self.server.handler, self._around) for name in MACHINES
        ]
        self._users = Users(self.server.api, chance("users"), self.tell)
        self._trouble = Trouble(self.server.api, self._cluster, chance("trouble"), self.tell)

    def tell(self, words: str) -> None:
        """A line of the story."""
        self.outcome.story.append(f"{self._clock.monotonic():9.3f}  {words}")

    async def run(self) -> Outcome:
        """From nothing to nothing; at the first violation it ends."""
        asyncio.get_running_loop().set_task_factory(new_task)
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self.server)
            await self._install()
            await opened.enter_async_context(self._cluster)
            for machine in self._machines:
                machine.start()
                opened.push_async_callback(machine.turn_off)
            await self._course()
        outcome = self.outcome
        outcome.violations = self.judge.violations
        outcome.writes, outcome.checked = self.judge.writes, self.judge.checked
        outcome.seconds = self._clock.monotonic()
        outcome.revision = self.server.store.revision
        return outcome

    async def _course(self) -> None:
        for part in (self._disturb, self._settle, self._rest, self._take_down):
            await part()
            failures = [words for machine in self._machines for words in machine.failures]
            for words in (*failures, *self._mistakes):
                self.judge.find("no mistakes", words)
            if self.judge.violations:
                return

    # Parts

    async def _disturb(self) -> None:
        await self._clock.sleep(5.0)
        await self._users.begin()
        end = self._clock.monotonic() + self._plan.disturbed_seconds
        acts = {
            self._users.act: 5.0,
            self._trouble.strike: 4.0,
            self._disturb_machine: 1.0,
            self._change_weather: 1.0,
            self._forget: 0.3,
        }
        while self._clock.monotonic() < end and not self._is_over:
            await self._clock.sleep(self._chance.between(0.1, 25.0))
            await self._chance.weighted(acts)()

    async def _settle(self) -> None:
        """Nothing disturbs any more: it must come to rest."""
        self._around.weather = CALM
        self._around.cut_off.clear()
        for machine in self._machines:
            if machine.life is not None:
                machine.life.thaw()
        await self._trouble.heal()
        await self._users.settle()
        self.tell("nothing disturbs any more")
        await self._until(lambda: list(unsettled(self.judge.books)), "convergence")
        self.tell("settled")

    async def _rest(self) -> None:
        """And then it must not write."""
        await self._clock.sleep(MEMORY_SECONDS)
        before, renewals = self.judge.writes, self.judge.renewals
        await self._clock.sleep(self._plan.rest_seconds)
        self.outcome.rest_seconds = self._plan.rest_seconds
        self.outcome.renewals = self.judge.renewals - renewals
        if (count := self.judge.writes - before) > 0:
            last = "; ".join(list(self.judge.recent)[-count:])
            self.judge.find("no write at rest", f"{count} writes: {last}")

    async def _take_down(self) -> None:
        await self._users.delete_all()
        self.tell("all sets are deleted")
        await self._until(lambda: list(orphans(self.judge.books)), "no orphans")

    @property
    def _is_over(self) -> bool:
        return bool(self.judge.violations or self._mistakes)

    async def _until(self, left: Callable[[], list[str]], rule: str) -> None:
        end = self._clock.monotonic() + SETTLE_SECONDS
        while (missing := left()) and self._clock.monotonic() < end:
            if self._is_over:
                return
            await self._clock.sleep(LOOK_SECONDS)
        if missing:
            self.judge.find(rule, "; ".join(missing))

    # Disturbances

    async def _disturb_machine(self) -> None:
        machine = self._chance.one_of(self._machines)
        how = self._chance.one_of(("killed", "frozen", "cut off"))
        seconds = self._chance.between(0.5, 40.0)
        self.tell(f"machine {machine.name} is {how} for {seconds:.1f} s")
        if how == "killed":
            apart(machine.kill())
        elif how == "frozen" and machine.life is not None:
            machine.life.freeze()
            apart(self._after(seconds, machine.life.thaw))
        else:
            self._around.cut_off.add(machine.name)
            apart(self._after(seconds, lambda: self._around.cut_off.discard(machine.name)))

    async def _after(self, seconds: float, act: Callable[[], None]) -> None:
        await self._clock.sleep(seconds)
        act()

    async def _change_weather(self) -> None:
        self._around.weather = self._chance.one_of(WEATHERS)
        self.tell(f"weather {WEATHERS.index(self._around.weather)}")

    async def _forget(self) -> None:
        self.server.store.forget()
        self.tell("the API server forgets its history")

    async def _crash(self, life: Life) -> None:
        for machine in self._machines:
            if machine.life is life:
                self.tell(f"{life.name} crashes in mid-write")
                await machine.kill()

    def _review(self, path: str, body: bytes) -> tuple[int, bytes]:
        if self._webhook_chance.happens(self._around.weather.webhook_down):
            return 503, b"no endpoints available"
        return self._judged.review(path, body)

    async def _install(self) -> None:
        api = self.server.api
        for definition in custom_resource_definitions():
            await api.create(resources.CRDS, dict(definition))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lws-system"}}
        await api.create(NAMESPACES, namespace)
        for resource, configuration in self._judged.configurations.items():
            await api.create(resource, dict(configuration))
