"""The judge's runs, with the real manager in them: one seed, one run."""

import asyncio
import gc
import hashlib
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import msgspec
import structlog

from lws.client import resources
from lws.client.connection import ConnectionConfig
from lws.manager.configuration import defaults
from lws.manager.run import Manager
from lws.manager.settings import Settings
from lws.runtime.clock import VirtualClock
from lws.runtime.election import LeadershipLost
from lws.runtime.logs import level_of
from lws.simulation.chance import Chance
from lws.simulation.lives import LifeClock
from lws.simulation.run import Judged, Outcome, Plan, Run
from lws.simulation.wire import Wire
from lws.webhooks.configuration import (
    ServiceAddress,
    mutating_configuration,
    validating_configuration,
)
from lws.webhooks.dispatch import handle

SERVICE = ServiceAddress(name="lws-webhook-service", namespace="lws-system")
NOWHERE = "0"
"""An address that is not listened on."""


def simulate_seed(seed: int, *, plan: Plan | None = None, log_level: str = "panic") -> Outcome:
    """The run of one seed, judged; the same seed, the same run."""
    clock = VirtualClock(seed=_number(seed, "clock"))
    mistakes: list[str] = []
    _listen(mistakes, prints=log_level)
    judged = Judged(
        program=_program,
        review=handle,
        configurations={
            resources.MUTATINGWEBHOOKCONFIGURATIONS: dict(mutating_configuration(SERVICE)),
            resources.VALIDATINGWEBHOOKCONFIGURATIONS: dict(validating_configuration(SERVICE)),
        },
    )

    def chance(stream: str) -> Chance:
        return Chance(VirtualClock(seed=_number(seed, stream)).random)

    async def whole() -> Outcome:
        run = Run(judged, clock=clock, chance=chance, plan=plan, mistakes=mistakes)
        return await run.run()

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


async def _program(*, transport: Wire, clock: LifeClock, identity: str) -> int:
    manager = Manager(
        _settings(),
        ConnectionConfig(server="https://simulated.invalid"),
        clock,
        identity=identity,
        is_alone=False,
    )
    return await manager.run_on(transport)


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
