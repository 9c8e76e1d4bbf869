"""What a DisaggregatedSet costs the API server, in virtual time, with quick and with slow pods."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest

from lws.client import resources
from lws.client.requests import Request
from lws.client.responses import Response
from lws.manager.up import local
from lws.manager.up.options import UpOptions
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.sandbox.transport import LocalTransport

NAME, NAMESPACE = "pd", "default"
SLICES = 2
WRITES = ("create", "patch", "update", "delete")
REST_SECONDS = 10.0


class Counted(LocalTransport):
    """Counts the operator's writes by what they change; statuses by themselves."""

    counts: ClassVar[Counter[str]] = Counter()

    async def send(self, request: Request) -> Response:
        if request.verb in WRITES:
            part = "/status" if request.path.endswith("/status") else ""
            Counted.counts[request.resource.partition("/")[0] + part] += 1
        return await super().send(request)


def role(name: str, image: str) -> dict[str, Any]:
    container = {"name": "serve", "image": image}
    template = {"size": 2, "workerTemplate": {"spec": {"containers": [container]}}}
    return {"name": name, "spec": {"replicas": 2, "leaderWorkerTemplate": template}}


def a_set(image: str, *, slices: int = SLICES) -> dict[str, Any]:
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": NAME},
        "spec": {"slices": slices, "roles": [role("prefill", image), role("decode", image)]},
    }


@asynccontextmanager
async def a_plane(clock: VirtualClock, *, start_seconds: float) -> AsyncIterator[Any]:
    options = UpOptions(nodes=16, ready_after=start_seconds, listens=False)
    async with local.LocalControlPlane(options, clock=clock) as plane:
        process = Process(clock=clock)
        await plane.start_operator(process, Metrics())
        yield plane
        process.stop("it has been counted")
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def counted(plane: Any, clock: VirtualClock, image: str, slices: int) -> Counter[str]:
    """Writes from the user's to rest."""
    Counted.counts = Counter()
    await plane.apply([a_set(image, slices=slices)], namespace=NAMESPACE)
    for _ in range(1000):
        await clock.sleep(1.0)
        live = plane.server.api.get(resources.DISAGGREGATEDSETS, name=NAME, namespace=NAMESPACE)
        status = live.get("status") or {}
        true = {one["type"] for one in status.get("conditions", []) if one["status"] == "True"}
        if status.get("observedGeneration") == live["metadata"]["generation"] and (
            "Available" in true
        ):
            break
    else:
        raise AssertionError(f"not available: {status}")
    await clock.sleep(REST_SECONDS)
    return Counted.counts


async def life(start_seconds: float, slices: int = SLICES) -> tuple[Counter[str], Counter[str]]:
    clock = VirtualClock()
    async with a_plane(clock, start_seconds=start_seconds) as plane:
        created = await counted(plane, clock, "serve:1", slices)
        rolled = await counted(plane, clock, "serve:2", slices)
        Counted.counts = Counter()
        await clock.sleep(100.0)
        assert Counted.counts == Counter()
        return created, rolled


def writes(counts: Counter[str]) -> int:
    return counts.total() - counts["events"]


def both(
    monkeypatch: pytest.MonkeyPatch, start_seconds: float
) -> tuple[Counter[str], Counter[str]]:
    monkeypatch.setattr(local, "LocalTransport", Counted)
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(life(start_seconds))


SETS = 2 * SLICES
OBJECTS = 14 * SLICES
"""LeaderWorkerSets, their revisions, leader StatefulSets, Services and worker StatefulSets, and
the Services of the roles."""
STEPS = 12 * SLICES
"""Writes to LeaderWorkerSets in a roll: two notes, two that are made, two steps up and one down of
both, and two that are dropped."""


def test_a_set_whose_pods_come_up_at_once_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    created, rolled = both(monkeypatch, 1.0)
    assert created["leaderworkersets/status"] == SETS
    assert writes(created) <= OBJECTS + SETS + 3
    assert created["events"] == 3 * SETS
    assert rolled["leaderworkersets"] == STEPS
    assert rolled["leaderworkersets/status"] == 3 * SETS  # one at each step
    assert rolled["disaggregatedsets/status"] <= 6


def test_slow_pods_cost_one_status_and_event_more_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    created, rolled = both(monkeypatch, 60.0)
    assert created["leaderworkersets/status"] == 2 * SETS
    assert writes(created) <= OBJECTS + 2 * SETS + 3
    assert created["events"] == 4 * SETS
    assert rolled["leaderworkersets"] == STEPS
    assert rolled["leaderworkersets/status"] <= 5 * SETS
