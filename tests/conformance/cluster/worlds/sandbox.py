"""The sandbox, in virtual time."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, TypeVar

from lws.client.requests import PatchType, Propagation
from lws.client.resources import PODS, Resource
from lws.runtime.clock import VirtualClock
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec
from lws.sandbox.server.server import Server
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import DeleteOptions, WatchOptions
from lws.sandbox.store import Store
from tests.conformance.cluster.worlds.world import Json, World

T = TypeVar("T")

_KINDS = {"merge": PatchType.MERGE, "strategic": PatchType.STRATEGIC, "json": PatchType.JSON}
_STEP = 0.1
_OTHERS_TURNS = 50
_QUIET = 3.0


class SlowStore(Store):
    """As with a file behind it: others see a write, and act, before its writer has an answer."""

    async def durable(self) -> None:
        for _ in range(_OTHERS_TURNS):
            await asyncio.sleep(0)


class SandboxWorld(World):
    """Runs its own event loop, only while it is asked for something."""

    def __init__(self, *, nodes: list[NodeSpec], options: ClusterOptions) -> None:
        self.namespace = "world"
        self.nodes = [node.name for node in nodes]
        self.clock = VirtualClock()
        self.server = Server(clock=self.clock, store=SlowStore())
        self.cluster = Cluster(self.server.api, self.clock, nodes=nodes, options=options)
        self._loop = asyncio.new_event_loop()
        self._changes: list[tuple[str, Json]] = []
        self._watching: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator["SandboxWorld"]:
        """Started, and stopped at the end."""
        self.do(self._start())
        try:
            yield self
        finally:
            self.do(self._stop())
            self._loop.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the loop of this world."""
        return self._loop.run_until_complete(work)

    async def _start(self) -> None:
        await self.server.__aenter__()
        await self.cluster.start()
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        await self.server.api.create(self._resource("namespaces"), namespace)
        self._watching = asyncio.create_task(self._watch())
        await self.clock.run_for(1)

    async def _stop(self) -> None:
        assert self._watching is not None
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await self.cluster.stop()
        await self.server.__aexit__(None, None, None)

    async def _watch(self) -> None:
        version = self.server.api.list(PODS).resource_version
        options = WatchOptions(resource_version=version)
        watch = self.server.api.watch(PODS, namespace=self.namespace, options=options)
        async with watch as events:
            async for event in events:
                self._changes.append((event.type.value, event.object))

    def _resource(self, plural: str) -> Resource:
        plural, _, group = plural.partition(".")
        for one in self.server.api.resources():
            if one.plural == plural and (not group or one.group == group):
                return one
        raise LookupError(plural)

    def _where(self, resource: Resource) -> str | None:
        return self.namespace if resource.namespaced else None

    def create(self, obj: Mapping[str, Any]) -> Json:
        resource = self.server.api.resource_of(obj["apiVersion"], obj["kind"])
        assert resource is not None
        return self.do(self.server.api.create(resource, obj, namespace=self._where(resource)))

    def find(self, resource: str, name: str) -> Json | None:
        found = self._resource(resource)
        try:
            return self.server.api.get(found, name=name, namespace=self._where(found))
        except ApiStatus as refusal:
            if refusal.code != 404:
                raise
            return None

    def items(self, resource: str) -> list[Json]:
        found = self._resource(resource)
        return list(self.server.api.list(found, namespace=self._where(found)).items)

    def patch(
        self,
        resource: str,
        name: str,
        change: Mapping[str, Any],
        *,
        subresource: str = "",
        kind: str = "merge",
    ) -> Json:
        found = self._resource(resource)
        return self.do(
            self.server.api.patch(
                found,
                change,
                patch_type=_KINDS[kind],
                name=name,
                namespace=self._where(found),
                subresource=subresource,
            )
        )

    def delete(
        self, resource: str, name: str, *, propagation: str | None = None, grace: int | None = None
    ) -> None:
        found = self._resource(resource)
        options = DeleteOptions(
            grace_period_seconds=grace,
            propagation=Propagation(propagation) if propagation else None,
        )
        with contextlib.suppress(LookupError):
            try:
                self.do(
                    self.server.api.delete(
                        found, name=name, namespace=self._where(found), options=options
                    )
                )
            except ApiStatus as refusal:
                if refusal.code != 404:
                    raise

    def until(self, check: Callable[[], object], *, timeout: float = 30, what: str = "") -> None:
        self.pass_time(0)
        waited = 0.0
        while not check():
            assert waited < timeout, f"after {timeout:g} virtual seconds still not: {what}"
            self.pass_time(_STEP)
            waited += _STEP

    def settle(self) -> None:
        self.pass_time(_QUIET)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with all that it sets going."""
        self.do(self.clock.run_for(seconds))

    def changes(self) -> list[tuple[str, Json]]:
        return list(self._changes)
