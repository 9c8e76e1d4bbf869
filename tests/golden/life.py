"""A golden world brought to life: the sandbox begins with its objects, as they are in the store.

Nothing goes through an API server on the way in: UIDs, owners, managedFields, generations, status
and times are those of the world, as after a restore of a backup. Time is virtual.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from lws.client import resources
from lws.client.requests import PatchType, Request
from lws.client.resources import Resource
from lws.client.responses import Response
from lws.manager.up.local import LocalControlPlane
from lws.manager.up.options import UpOptions
from lws.manager.up.simulated import end_tasks
from lws.runtime.clock import RealClock, VirtualClock
from lws.runtime.logs import configure_logs
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.sandbox.server import ADMIN_USER, User
from lws.sandbox.server.handler import Handler
from lws.sandbox.store import Key
from tests.golden.worlds import NAMESPACE, STORED, Document, World, latest_moment

_NO_HEADERS: Mapping[str, str] = {}
POD_SECONDS = 5.0
"""From a pod's start to its readiness."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request of the operator that changes something."""

    method: str
    path: str
    body: Document

    def __str__(self) -> str:
        return f"{self.method} {self.path} {json.dumps(self.body)}"


class RecordingHandler(Handler):
    """Remembers what is asked of it, by the operator alone: the cluster does not come this way."""

    writes: list[Sent]

    async def handle(
        self, request: Request, *, headers: Mapping[str, str] = _NO_HEADERS, user: User = ADMIN_USER
    ) -> Response:
        """Note it, then do it."""
        if request.method != "GET" and "/events" not in request.path:
            body = json.loads(request.body or b"{}")
            self.writes.append(Sent(request.method, request.path, body))
        return await super().handle(request, headers=headers, user=user)


class Life:
    """A world that lives, and the operator on it."""

    def __init__(self, plane: LocalControlPlane, clock: VirtualClock, process: Process) -> None:
        self.plane, self.clock = plane, clock
        self._process = process
        self.handler = RecordingHandler(plane.server.api)
        self.handler.writes = []
        plane.server.handler = self.handler

    @property
    def writes(self) -> list[Sent]:
        """What the operator has sent so far, events left out."""
        return self.handler.writes

    async def start_operator(self) -> None:
        """From here on it acts."""
        await self.plane.start_operator(self._process, Metrics())

    def all(self, resource: Resource) -> list[Document]:
        """Every object of a kind in the world's namespace."""
        return list(self.plane.server.api.list(resource, namespace=NAMESPACE).items)

    def pods(self) -> dict[str, str]:
        """Pods that are not on their way out, and who they are."""
        return {
            pod["metadata"]["name"]: pod["metadata"]["uid"]
            for pod in self.all(resources.PODS)
            if "deletionTimestamp" not in pod["metadata"]
        }

    def templates(self) -> dict[str, Any]:
        """Of every StatefulSet: its pod template."""
        return {
            one["metadata"]["name"]: one["spec"]["template"]
            for one in self.all(resources.STATEFULSETS)
        }

    async def label_nodes(self, labels: Mapping[str, str]) -> None:
        """So that a new revision finds a place, or a topology is there."""
        for node in self.plane.server.api.list(resources.NODES).items:
            await self.plane.server.api.patch(
                resources.NODES,
                {"metadata": {"labels": dict(labels)}},
                patch_type=PatchType.MERGE,
                name=node["metadata"]["name"],
            )

    async def until(
        self, done: Callable[[], bool], *, seconds: float, look: Callable[[], None]
    ) -> None:
        """Second by second, with a look at each."""
        end = self.clock.monotonic() + seconds
        while not done():
            assert self.clock.monotonic() < end, "it does not come to an end"
            await self.clock.sleep(1.0)
            look()


@asynccontextmanager
async def living(world: World, *, gate: bool = False) -> AsyncIterator[Life]:
    """The world on a cluster of its own; no operator yet."""
    configure_logs(clock=RealClock(), level="error")
    clock = VirtualClock(start=latest_moment(world) + 2.0)
    options = UpOptions(
        nodes=6,
        ready_after=POD_SECONDS,
        topology={"rack": 3},
        max_unavailable_gate=gate,
        listens=False,
    )
    plane = LocalControlPlane(options, clock=clock)
    restore(plane, world)
    process = Process(clock=clock)
    async with plane:
        try:
            yield Life(plane, clock, process)
        finally:
            process.stop("the test is over")
            await end_tasks()


def restore(plane: LocalControlPlane, world: World) -> None:
    """Straight into the store."""
    for key, document in stored(world):
        plane.server.store.create(key, document)


def stored(world: World) -> Sequence[tuple[Key, Document]]:
    """Where each object stands in the store."""
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "uid": "11111111-0000-4000-8000-000000000000"},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
    found: list[tuple[Key, Document]] = [(Key("/namespaces", "", NAMESPACE), space)]
    for kind, documents in world.items():
        resource = STORED[kind]
        for document in documents:
            metadata = document["metadata"]
            whole = {"apiVersion": resource.api_version, "kind": resource.kind, **document}
            place = f"{resource.group}/{resource.plural}"
            found.append((Key(place, metadata["namespace"], metadata["name"]), whole))
    return found
