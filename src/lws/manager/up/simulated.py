"""A rollout on the sandbox in virtual time: hours of a cluster in seconds of this machine.

The operator is the real one, its controllers, planner and webhooks; only time is not.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lws.api import names
from lws.base.errors import InvalidInput
from lws.client import resources
from lws.manager.up.local import LocalControlPlane
from lws.manager.up.options import UpOptions
from lws.runtime.clock import RealClock, VirtualClock
from lws.runtime.logs import configure_logs
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process, collect_seldom
from lws.sandbox.server.status import ApiStatus

Document = Mapping[str, Any]
NAMESPACE = "default"
SAMPLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PodFailure:
    """A container of this pod ends, so many seconds into the rollout."""

    seconds: float
    pod: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """Times are in seconds."""

    start_seconds: float = 60.0
    """From a pod's start to its readiness: a model that is loaded."""
    limit_seconds: float = 4 * 3600.0
    nodes: int = 64
    max_unavailable_gate: bool = False
    failures: tuple[PodFailure, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """Ready groups of each role (or set), by revision, at a moment of the rollout."""

    seconds: float
    ready: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What happened."""

    samples: tuple[Sample, ...]
    """Where something changed, the first before the rollout."""
    is_complete: bool
    seconds: float
    pods_created: int
    lowest: Mapping[str, int] = field(default_factory=dict)
    """Fewest ready groups of each role on the way."""


def simulate(
    *, old: Sequence[Document], new: Sequence[Document], options: SimulationOptions
) -> Simulation:
    """Bring up `old`, then roll to `new`; InvalidInput if a manifest is refused."""
    configure_logs(clock=RealClock(), level="error")
    collect_seldom()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # virtual time needs it
        return runner.run(_simulate(old, new, options))


async def _simulate(
    old: Sequence[Document], new: Sequence[Document], options: SimulationOptions
) -> Simulation:
    clock = VirtualClock(seed=options.seed)
    up = UpOptions(
        nodes=options.nodes,
        ready_after=options.start_seconds,
        max_unavailable_gate=options.max_unavailable_gate,
        listens=False,
    )
    async with LocalControlPlane(up, clock=clock) as plane:
        process = Process(clock=clock)
        try:
            await plane.start_operator(process, Metrics())
            run = _Run(plane, clock, options)
            await run.bring_up(old)
            return await run.roll(new)
        finally:
            process.stop("the rollout is over")
            await end_tasks()


async def end_tasks() -> None:
    """Cancel all that runs beside the caller."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Run:
    def __init__(
        self, plane: LocalControlPlane, clock: VirtualClock, options: SimulationOptions
    ) -> None:
        self._plane, self._clock, self._options = plane, clock, options
        self._uids: set[str] = set()

    async def bring_up(self, documents: Sequence[Document]) -> None:
        """Until all of it is available."""
        await self._apply(documents)
        limit = self._clock.monotonic() + self._options.limit_seconds
        while not self._is_settled(documents):
            if self._clock.monotonic() > limit:
                message = (
                    f"does not come up within {self._options.limit_seconds:.0f} s (--limit): "
                    f"is there room for its pods on {self._options.nodes} nodes (--nodes)?"
                )
                raise InvalidInput(field="the old manifest", message=message)
            await self._clock.sleep(SAMPLE_SECONDS)

    async def roll(self, documents: Sequence[Document]) -> Simulation:
        """Apply the new manifest and look, second by second."""
        self._uids = {str(pod["metadata"]["uid"]) for pod in self._pods()}
        standing = len(self._uids)
        samples = [Sample(0.0, self._ready())]
        started = self._clock.monotonic()
        await self._apply(documents)
        failures = sorted(self._options.failures, key=lambda one: one.seconds)
        seconds, seen = 0.0, -1
        while seconds < self._options.limit_seconds:
            await self._clock.sleep(SAMPLE_SECONDS)
            seconds = self._clock.monotonic() - started
            while failures and failures[0].seconds <= seconds:
                await self._fail(failures.pop(0))
            if seen == (seen := self._plane.server.store.revision):
                continue  # nobody has written, so all is as it was
            self._uids |= {str(pod["metadata"]["uid"]) for pod in self._pods()}
            sample = Sample(seconds, self._ready())
            if sample.ready != samples[-1].ready:
                samples.append(sample)
            if not failures and self._is_settled(documents):
                break
        complete = self._is_settled(documents)
        return Simulation(
            samples=tuple(samples),
            is_complete=complete,
            seconds=seconds,
            pods_created=len(self._uids) - standing,
            lowest=_lowest(samples),
        )

    async def _apply(self, documents: Sequence[Document]) -> None:
        try:
            await self._plane.apply(documents, namespace=NAMESPACE)
        except ApiStatus as refusal:
            raise InvalidInput(field="manifest", message=refusal.message) from refusal

    async def _fail(self, failure: PodFailure) -> None:
        try:
            await self._plane.cluster.fail_container(NAMESPACE, failure.pod)
        except (ApiStatus, LookupError) as error:
            message = f"there is no pod {failure.pod} after {failure.seconds:.0f} s"
            raise InvalidInput(field="--fail", message=message) from error

    def _pods(self) -> list[Document]:
        pods = self._plane.server.api.list(resources.PODS).items
        return [pod for pod in pods if names.NAME in (pod["metadata"].get("labels") or {})]

    def _is_settled(self, documents: Sequence[Document]) -> bool:
        return all(self._is_available(one) for one in documents if one["kind"] in _SETS)

    def _is_available(self, document: Document) -> bool:
        api = self._plane.server.api
        live = api.get(
            _SETS[document["kind"]], name=document["metadata"]["name"], namespace=NAMESPACE
        )
        status = live.get("status") or {}
        true = {one["type"] for one in status.get("conditions", []) if one["status"] == "True"}
        is_seen = status.get("observedGeneration") == live["metadata"]["generation"]
        return is_seen and "Available" in true and "Progressing" not in true

    def _ready(self) -> dict[str, dict[str, int]]:
        """Ready groups by role or set, and by revision."""
        api = self._plane.server.api
        sets = {
            (lws["metadata"]["name"]): lws for lws in api.list(resources.LEADERWORKERSETS).items
        }
        ready: dict[str, Counter[str]] = {}
        groups: dict[tuple[str, str], list[Document]] = {}
        for pod in self._pods():
            labels = pod["metadata"]["labels"]
            key = labels[names.NAME], labels.get(names.GROUP_INDEX, "")
            groups.setdefault(key, []).append(pod)
        for (name, _), pods in groups.items():
            lws = sets.get(name)
            if lws is not None and _is_whole(pods):
                labels = pods[0]["metadata"]["labels"]
                role = labels.get(names.DS_ROLE, name)
                revision = labels.get(names.DS_REVISION) or labels.get(names.REVISION_KEY, "")
                ready.setdefault(role, Counter())[revision] += 1
        return {role: dict(sorted(found.items())) for role, found in sorted(ready.items())}


_SETS = {
    names.KIND: resources.LEADERWORKERSETS,
    names.DS_KIND: resources.DISAGGREGATEDSETS,
}


def _is_whole(pods: Sequence[Document]) -> bool:
    sizes = {pod["metadata"].get("annotations", {}).get(names.SIZE) for pod in pods}
    keys = {pod["metadata"]["labels"].get(names.REVISION_KEY) for pod in pods}
    if len(sizes) != 1 or len(keys) != 1:
        return False
    return {str(len(pods))} == sizes and all(_is_ready(pod) for pod in pods)


def _is_ready(pod: Document) -> bool:
    if pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = (pod.get("status") or {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _lowest(samples: Sequence[Sample]) -> dict[str, int]:
    roles = {role for sample in samples for role in sample.ready}
    return {
        role: min(sum(sample.ready.get(role, {}).values()) for sample in samples)
        for role in sorted(roles)
    }
