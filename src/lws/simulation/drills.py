"""Drills: one update, one fault in it at a chosen moment, and how long it takes to be over."""

from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lws.api import names
from lws.sandbox.server.verbs import Caller
from lws.simulation.judge.rest import unsettled
from lws.simulation.lives import apart
from lws.simulation.machines import Machine
from lws.simulation.run import Run
from lws.simulation.users import KINDS
from lws.simulation.wishes import NAMESPACE

LOOK_SECONDS = 0.1
STOPPED_SECONDS = 30.0
"""Twice the lease."""
GONE_SECONDS = 60.0
USER = Caller(user="user", field_manager="kubectl")


class Blow(Enum):
    """What befalls the leader."""

    NONE = "nothing"
    SIGTERM = "SIGTERM"
    SIGKILL = "SIGKILL"
    SIGSTOP = "SIGSTOP for 30 s"
    NO_SERVER = "no API server for 60 s"


@dataclass(frozen=True, slots=True)
class Drill:
    """`at`: seconds after the update was asked for."""

    kind: str
    blow: Blow
    at: float


@dataclass(frozen=True, slots=True)
class DrillOutcome:
    """Seconds of virtual time."""

    failover_seconds: float | None
    """Until another life held the lease; None: the same one held it all the while."""
    update_seconds: float
    """From the request to all of it updated and available."""
    violations: tuple[str, ...]


class DrillRun(Run):
    """A run whose course is one drill."""

    def __init__(self, judged: Any, drill: Drill, **parts: Any) -> None:
        super().__init__(judged, **parts)
        self._drill = drill
        self._failover: float | None = None
        self._update_seconds = 0.0

    async def drill(self) -> DrillOutcome:
        """All of it."""
        outcome = await self.run()
        words = tuple(map(str, outcome.violations))
        return DrillOutcome(self._failover, self._update_seconds, words)

    async def _course(self) -> None:
        manifest = _manifest(self._drill.kind, "serve:1")
        resource = KINDS[self._drill.kind]
        await self._clock.sleep(5.0)
        await self.server.api.create(resource, manifest, namespace=NAMESPACE, caller=USER)
        await self._until(lambda: list(unsettled(self.judge.books)), "convergence")
        live = self.server.api.get(resource, name="drill", namespace=NAMESPACE)
        spec = _manifest(self._drill.kind, "serve:2")["spec"]
        began = self._clock.monotonic()
        await self.server.api.update(
            resource, {**live, "spec": spec}, namespace=NAMESPACE, caller=USER
        )
        await self._clock.sleep(self._drill.at)
        await self._strike()
        while list(unsettled(self.judge.books)) and not self._is_over:
            await self._clock.sleep(LOOK_SECONDS)
            if self._clock.monotonic() - began > 3600.0:
                self.judge.find("convergence", "; ".join(unsettled(self.judge.books)))
        self._update_seconds = self._clock.monotonic() - began
        for words in self._mistakes:
            self.judge.find("no mistakes", words)

    async def _strike(self) -> None:
        first, struck = self.judge.holder, self._clock.monotonic()
        machine = next(one for one in self._machines if one.name == first.partition("/")[0])
        await self._befall(machine)
        if self._drill.blow is not Blow.NONE:
            apart(self._see_failover(first, struck))

    async def _befall(self, machine: Machine) -> None:
        life = machine.life
        assert life is not None, "it holds the lease"
        match self._drill.blow:
            case Blow.SIGTERM:
                machine.terminate()
            case Blow.SIGKILL:
                apart(machine.kill())
            case Blow.SIGSTOP:
                life.freeze()
                apart(self._after(STOPPED_SECONDS, life.thaw))
            case Blow.NO_SERVER:
                self._around.cut_off.update(one.name for one in self._machines)
                apart(self._after(GONE_SECONDS, self._around.cut_off.clear))

    async def _see_failover(self, first: str, struck: float) -> None:
        while self.judge.holder in ("", first):
            await self._clock.sleep(LOOK_SECONDS)
        self._failover = self._clock.monotonic() - struck


def _manifest(kind: str, image: str) -> dict[str, Any]:
    spec = {
        "replicas": 4,
        "leaderWorkerTemplate": {
            "size": 2,
            "workerTemplate": {"spec": {"containers": [{"name": "serve", "image": image}]}},
        },
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxSurge": 1, "maxUnavailable": 0},
        },
    }
    metadata = {"name": "drill", "namespace": NAMESPACE}
    if kind == names.KIND:
        return {
            "apiVersion": names.API_VERSION,
            "kind": kind,
            "metadata": metadata,
            "spec": spec,
        }
    roles = [{"name": role, "spec": deepcopy(spec)} for role in ("prefill", "decode")]
    return {
        "apiVersion": names.DS_API_VERSION,
        "kind": kind,
        "metadata": metadata,
        "spec": {"roles": roles},
    }
