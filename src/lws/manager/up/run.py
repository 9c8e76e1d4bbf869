"""The process of `lws up`."""

import asyncio
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from lws.base.errors import InvalidInput
from lws.manager.up.local import LocalControlPlane
from lws.manager.up.options import UpOptions
from lws.runtime.clock import RealClock
from lws.runtime.logs import configure_logs
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process, collect_seldom, freeze_heap, run
from lws.sandbox.server.status import ApiStatus

log = structlog.get_logger(__name__)

Show = Callable[[LocalControlPlane, Process], None]
"""Called once everything runs; what it starts belongs to the process."""


def run_up(
    options: UpOptions,
    *,
    kubeconfig: Path,
    manifests: Sequence[Mapping[str, Any]],
    log_level: str,
    show: Show,
) -> int:
    """Until a signal; the exit code. InvalidInput says what was told wrong."""
    clock = RealClock()
    configure_logs(clock=clock, level=log_level)
    return run(lambda: _up(options, clock, kubeconfig, manifests, show))


async def _up(
    options: UpOptions,
    clock: RealClock,
    kubeconfig: Path,
    manifests: Sequence[Mapping[str, Any]],
    show: Show,
) -> int:
    process = Process(clock=clock)
    async with LocalControlPlane(options, clock=clock) as plane:
        process.spawn("cluster", plane.cluster.wait())
        written = _write_kubeconfig(kubeconfig, plane.kubeconfig)
        try:
            work = _start(plane, process, manifests, show, operator=options.operator)
            starting = asyncio.create_task(work)
            starting.add_done_callback(lambda task: _told(task, process))
            code = await process.run()
            if starting.done() and not starting.cancelled() and starting.exception() is not None:
                raise starting.exception() or AssertionError
            starting.cancel()
            return code
        finally:
            _remove(kubeconfig, written)


async def _start(
    plane: LocalControlPlane,
    process: Process,
    manifests: Sequence[Mapping[str, Any]],
    show: Show,
    *,
    operator: bool,
) -> None:
    if operator:
        await plane.start_operator(process, Metrics())
    try:
        await plane.apply(manifests, namespace="default")
    except ApiStatus as refusal:
        raise InvalidInput(field="--apply", message=refusal.message) from refusal
    except LookupError as error:
        raise InvalidInput(field="--apply", message=str(error.args[0])) from error
    freeze_heap()
    collect_seldom()
    gc.enable()
    show(plane, process)


def _told(task: "asyncio.Task[None]", process: Process) -> None:
    if not task.cancelled() and task.exception() is not None:
        process.stop("could not start")


def _remove(path: Path, content: bytes) -> None:
    """Unless somebody has written something else there."""
    if path.is_file() and path.read_bytes() == content:
        path.unlink()


def _write_kubeconfig(path: Path, content: bytes) -> bytes:
    """For this user alone: it holds a token."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise InvalidInput(field="--kubeconfig", message=message) from error
    return content
