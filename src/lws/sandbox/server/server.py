"""One API server, put together: the objects it begins with, and what it does by itself."""

import asyncio
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from lws.base.clock import Clock
from lws.base.times import format_time
from lws.sandbox.patch import updated
from lws.sandbox.server.admission import chain_of
from lws.sandbox.server.api import Api
from lws.sandbox.server.authorization.bootstrap import bootstrap_objects, restored
from lws.sandbox.server.builtin import builtin_kinds
from lws.sandbox.server.definitions import Definitions
from lws.sandbox.server.documents import in_order
from lws.sandbox.server.emptying import Emptier
from lws.sandbox.server.handler import Handler
from lws.sandbox.server.intake import resets_of
from lws.sandbox.server.lifecycle import SYSTEM_NAMESPACES
from lws.sandbox.server.metadata import new_uid
from lws.sandbox.server.operations import Admission, NoAdmission, World
from lws.sandbox.server.registry import Registry
from lws.sandbox.store import Key, Store

JsonObject = dict[str, Any]


class Server:
    """`async with Server(clock=...) as server:` runs what a server does by itself, too.

    Without that, namespaces and definitions that are to go are not emptied; all else works.
    """

    def __init__(
        self, *, clock: Clock, store: Store | None = None, admission: Admission | None = None
    ) -> None:
        self.store = store or Store()
        self.world = World(
            store=self.store,
            clock=clock,
            registry=Registry(builtin_kinds()),
            admission=NoAdmission(),
        )
        self.world.admission = chain_of(self.world, admission)
        self.api = Api(self.world)
        self.handler = Handler(self.api)
        self._definitions = Definitions(self.world)
        self._emptier = Emptier(self.world, self.api)
        self._task: asyncio.Task[None] | None = None
        for key, obj in (*_first_objects(), *bootstrap_objects()):
            self._ensure(key, obj)
        self._definitions.load()
        self.world.observers += [self._definitions.on_write, self._emptier.on_write]

    async def __aenter__(self) -> Self:
        """Start what it does by itself."""
        self._task = asyncio.get_running_loop().create_task(self._emptier.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, and write out what is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self.store.close()

    def _ensure(self, key: Key, obj: JsonObject) -> None:
        """What is there from a former life stays as it is, or is given back what it lacks."""
        present = self.store.get(key)
        if present is not None:
            changed = restored(present, obj)
            if changed is not None:
                self.store.update(key, changed, expected=present)
            return
        clock = self.world.clock
        metadata = {
            **obj["metadata"],
            "uid": new_uid(clock),
            "creationTimestamp": format_time(clock.now()),
        }
        kind = self.world.registry.find_kind(obj["apiVersion"], obj["kind"])
        assert kind is not None, "these kinds are built in"
        sent = {**obj, "metadata": metadata}
        if obj["kind"] == "Namespace":
            sent.pop("spec")  # its finalizer is the server's own doing
        owned = updated(
            old=None,
            new=sent,
            schema=kind.schema,
            manager="kube-apiserver",
            api_version=obj["apiVersion"],
            now=clock.now(),
            reset=resets_of(kind, ""),
        )
        self.store.create(key, in_order({**obj, "metadata": owned["metadata"]}))


def _first_objects() -> Iterator[tuple[Key, JsonObject]]:
    for name in SYSTEM_NAMESPACES:
        yield Key("/namespaces", "", name), _namespace(name)
    for name, value in _PRIORITIES.items():
        yield Key("scheduling.k8s.io/priorityclasses", "", name), _priority(name, value)
    yield Key("/services", "default", "kubernetes"), _SERVICE


def _namespace(name: str) -> JsonObject:
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


_PRIORITIES: Mapping[str, tuple[int, str]] = {
    "system-cluster-critical": (
        2_000_000_000,
        (
            "Used for system critical pods that must run in the cluster, but can be moved to"
            " another node if necessary."
        ),
    ),
    "system-node-critical": (
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
}


def _priority(name: str, value: tuple[int, str]) -> JsonObject:
    return {
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": {"name": name, "generation": 1},
        "value": value[0],
        "description": value[1],
        "preemptionPolicy": "PreemptLowerPriority",
    }


_SERVICE: JsonObject = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {
        "name": "kubernetes",
        "namespace": "default",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {
        "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    },
    "status": {"loadBalancer": {}},
}
