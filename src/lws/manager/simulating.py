"""The judge's runs, with the real manager in them: one seed, one run."""

import asyncio
import gc
import hashlib
import sys
import traceback
from collections.abc import Callable, Coroutine, MutableMapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import structlog

from lws.client import resources
from lws.client.connection import ConnectionConfig
from lws.client.kubernetes import KubernetesClient
from lws.manager.certificates import CertificateKeeper
from lws.manager.configuration import defaults
from lws.manager.run import Manager
from lws.manager.settings import Settings
from lws.runtime.clock import VirtualClock
from lws.runtime.election import LeadershipLost
from lws.runtime.logs import level_of
from lws.runtime.metrics import Metrics
from lws.simulation.chance import Chance
from lws.simulation.drills import Drill, DrillOutcome, DrillRun
from lws.simulation.lives import LifeClock
from lws.simulation.machines import Program
from lws.simulation.run import Judged, Outcome, Plan, Run
from lws.simulation.wire import Wire
from lws.webhooks.configuration import (
    ServiceAddress,
    mutating_configuration,
    validating_configuration,
)
from lws.webhooks.dispatch import handle

T = TypeVar("T")
SERVICE = ServiceAddress(name="lws-webhook-service", namespace="lws-system")
NOWHERE = "0"
"""An address that is not listened on."""


def simulate_seed(
    seed: int, *, plan: Plan | None = None, log_level: str = "panic", cert_dir: Path | None = None
) -> Outcome:
    """The run of one seed, judged; the same seed, the same run.

    With `cert_dir` every replica keeps certificates too, in a folder there; they are drawn by the
    machine's own dice.
    """
    clock = _clock(seed)
    mistakes: list[str] = []
    _listen(mistakes, prints=log_level)
    judged = _judged(_program if cert_dir is None else _keeping(cert_dir))

    async def whole() -> Outcome:
        run = Run(judged, clock=clock, chance=_chances(seed), plan=plan, mistakes=mistakes)
        return await run.run()

    return _to_its_end(whole)


def simulate_drill(drill: Drill, *, seed: int = 0) -> DrillOutcome:
    """One update, and what ends or delays its leader in it."""
    clock = _clock(seed)
    mistakes: list[str] = []
    _listen(mistakes, prints="panic")

    async def whole() -> DrillOutcome:
        run = DrillRun(
            _judged(_program), drill, clock=clock, chance=_chances(seed), mistakes=mistakes
        )
        return await run.drill()

    return _to_its_end(whole)


def _clock(seed: int) -> VirtualClock:
    return VirtualClock(seed=_number(seed, "clock"))


def _chances(seed: int) -> Callable[[str], Chance]:
    return lambda stream: Chance(VirtualClock(seed=_number(seed, stream)).random)


def _judged(program: Program) -> Judged:
    return Judged(
        program=program,
        review=handle,
        configurations={
            resources.MUTATINGWEBHOOKCONFIGURATIONS: dict(mutating_configuration(SERVICE)),
            resources.VALIDATINGWEBHOOKCONFIGURATIONS: dict(validating_configuration(SERVICE)),
        },
    )


def _to_its_end(whole: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # virtual time needs it
        try:
            return runner.run(whole())
        finally:
            gc.collect()


def _listen(mistakes: list[str], *, prints: str) -> None:
    """What the operators log: their mistakes for the judge, and lines for whoever wants them."""
    shown = level_of(prints)

    def take(
        logger: object, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        del logger
        error = event.get("exc_info")
        if event["event"] in MISTAKES or (error and not isinstance(error, LeadershipLost)):
            mistakes.append(_spelt(event))
        if level_of("error" if method == "exception" else method) >= shown:
            sys.stderr.write(f"{_spelt(event)}\n")
        raise structlog.DropEvent

    structlog.configure(
        processors=[take],
        wrapper_class=structlog.make_filtering_bound_logger(min(shown, level_of("error"))),
        cache_logger_on_first_use=False,
    )


MISTAKES = ("handler failed", "pass failed by a mistake of ours", "error outside any task")


def _spelt(event: MutableMapping[str, Any]) -> str:
    fields = {key: value for key, value in event.items() if key not in ("event", "exc_info")}
    error = event.get("exc_info")
    if error is True:
        error = sys.exc_info()[1]
    trace = "".join(traceback.format_exception(error)) if isinstance(error, Exception) else ""
    return f"{event['event']} {fields} {trace}"


def _keeping(cert_dir: Path) -> Program:
    """The manager, and beside it what keeps its certificates."""

    async def program(
        *, transport: Wire, clock: LifeClock, identity: str, terminated: asyncio.Event
    ) -> int:
        keeper = CertificateKeeper(
            client=KubernetesClient(transport),
            clock=clock,
            metrics=Metrics(),
            namespace=SERVICE.namespace,
            secret="lws-webhook-server-cert",  # noqa: S106 - its name
            service=SERVICE.name,
            cert_dir=cert_dir / identity.partition("/")[0],
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(keeper.run())
            for informer in keeper.informers:
                group.create_task(informer.run())
            return await _program(
                transport=transport, clock=clock, identity=identity, terminated=terminated
            )

    return program


async def _program(
    *, transport: Wire, clock: LifeClock, identity: str, terminated: asyncio.Event
) -> int:
    manager = Manager(
        _settings(),
        ConnectionConfig(server="https://simulated.invalid"),
        clock,
        identity=identity,
        is_alone=False,
    )

    async def stop() -> None:
        await terminated.wait()
        manager.stop()

    stopping = asyncio.create_task(stop())
    try:
        return await manager.run_on(transport)
    finally:
        stopping.cancel()


def _settings() -> Settings:
    """As shipped, but nothing listens: webhooks are called in process."""
    configuration = defaults()
    parts: dict[str, Any] = {
        "metrics": msgspec.structs.replace(configuration.metrics, bind_address=NOWHERE),
        "health": msgspec.structs.replace(configuration.health, health_probe_bind_address=NOWHERE),
    }
    return Settings(configuration=msgspec.structs.replace(configuration, **parts), webhooks=False)


def _number(seed: int, stream: str) -> int:
    """A seed for one stream; streams do not depend on each other."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{stream}".encode()).digest()[:8], "big")
