"""All of it together: what a cluster does besides its API server, to start, stop and disturb."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from lws.base.clock import Clock
from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.cache import Caches
from lws.sandbox.cluster.context import STORAGE_CLASSES, Context
from lws.sandbox.cluster.deployment.controller import DeploymentController
from lws.sandbox.cluster.disruption import DisruptionController
from lws.sandbox.cluster.endpoints.controller import EndpointSliceController
from lws.sandbox.cluster.events import Recorder
from lws.sandbox.cluster.garbage.collector import GarbageCollector
from lws.sandbox.cluster.job.controller import JobController
from lws.sandbox.cluster.kubelet import statuses
from lws.sandbox.cluster.kubelet.kubelet import Kubelets
from lws.sandbox.cluster.namespaces import NamespaceController
from lws.sandbox.cluster.nodes.eviction import TaintEviction
from lws.sandbox.cluster.nodes.heartbeat import Heartbeats, node_object
from lws.sandbox.cluster.nodes.monitor import NodeMonitor
from lws.sandbox.cluster.nodes.podgc import PodCollector
from lws.sandbox.cluster.objects import condition, with_conditions
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec
from lws.sandbox.cluster.quotas import QuotaController
from lws.sandbox.cluster.replicaset.controller import ReplicaSetController
from lws.sandbox.cluster.roles import RoleAggregation
from lws.sandbox.cluster.scheduler.scheduler import Scheduler
from lws.sandbox.cluster.statefulset.controller import StatefulSetController
from lws.sandbox.cluster.volumes import VolumeController
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject, Verbs

_EVICTED = "The node was low on resource: memory."


class Cluster:
    """Controllers, scheduler, nodes and kubelets of one API server.

    `async with Cluster(api, clock, nodes=…):` or `start` and `stop`, or `run` until cancelled.
    """

    def __init__(
        self,
        api: Verbs,
        clock: Clock,
        *,
        nodes: Sequence[NodeSpec] = (),
        options: ClusterOptions | None = None,
    ) -> None:
        self._api = api
        self._clock = clock
        self._node_specs = tuple(nodes)
        self._options = options or ClusterOptions()
        self._task: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._parts: tuple[Callable[[], Awaitable[None]], ...] = ()

    # Life

    async def run(self) -> None:
        """Until it is cancelled, or something in it breaks."""
        await self._bootstrap()
        caches = Caches(self._api)
        recorder = Recorder(self._api, self._clock, is_on=self._options.events)
        self._build(Context(self._api, self._clock, caches, recorder))
        async with asyncio.TaskGroup() as group:
            await caches.start(group)
            for part in (recorder.run, *self._parts):
                group.create_task(_forever(part))
            self._started.set()

    async def start(self) -> None:
        """Returns when everything runs; raises if it cannot."""
        self._task = asyncio.get_running_loop().create_task(self.run())
        waiting = asyncio.get_running_loop().create_task(self._started.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            waiting.cancel()
            await self._task

    async def stop(self) -> None:
        """Returns when nothing runs any more; raises what broke."""
        if self._task is None:
            return
        task, self._task = self._task, None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        self._started.clear()

    @property
    def is_running(self) -> bool:
        """Started, and not stopped."""
        return self._task is not None

    async def wait(self) -> None:
        """Until it is stopped; raises what broke, if something did."""
        if self._task is not None:
            await asyncio.wait((self._task,))
            if not self._task.cancelled():
                self._task.result()

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()

    def _build(self, context: Context) -> None:
        options = self._options
        self._kubelets = Kubelets(context, options)
        self._heartbeats = Heartbeats(context, options, self._kubelets.dead)
        self._monitor = NodeMonitor(context, options, self._kubelets.dead)
        parts = (
            NamespaceController(context),
            StatefulSetController(context, has_max_unavailable=options.max_unavailable_gate),
            ReplicaSetController(context),
            DeploymentController(context),
            JobController(context),
            GarbageCollector(context),
            EndpointSliceController(context),
            VolumeController(context),
            DisruptionController(context),
            QuotaController(context),
            RoleAggregation(context),
            Scheduler(context, options),
            self._kubelets,
            self._heartbeats,
            self._monitor,
            TaintEviction(context),
            PodCollector(context),
        )
        self._parts = tuple(part.run for part in parts)

    async def _bootstrap(self) -> None:
        """Nodes and the default StorageClass, where they are missing."""
        for spec in self._node_specs:
            await _ensure(partial(self._api.create, NODES, node_object(spec)))
        if self._options.storage_class:
            await _ensure(
                partial(
                    self._api.create, STORAGE_CLASSES, _storage_class(self._options.storage_class)
                )
            )

    # Trouble

    async def fail_container(
        self,
        namespace: str,
        pod: str,
        container: str | None = None,
        *,
        exit_code: int = 137,
        reason: str = "OOMKilled",
    ) -> None:
        """A container (the first, if none is named) ends; the pod's policy decides what follows."""
        found = self._pod(namespace, pod)
        name = container or statuses.container_names(found)[0]
        specs = [*found["spec"]["containers"], *(found["spec"].get("initContainers") or ())]
        if name not in [one["name"] for one in specs]:
            raise LookupError(f"pod {namespace}/{pod} has no container {name}")

        def change(live: JsonObject) -> JsonObject:
            return statuses.container_ended(
                statuses.with_entries(live), self._clock, name, exit_code=exit_code, reason=reason
            )

        await self._kubelets.change(found, change)

    async def fail_pod(
        self, namespace: str, pod: str, *, reason: str = "", message: str = ""
    ) -> None:
        """The pod as a whole fails for good."""

        def change(live: JsonObject) -> JsonObject:
            return statuses.ended(live, self._clock, exit_code=137, reason=reason, message=message)

        await self._kubelets.change(self._pod(namespace, pod), change)

    async def evict(self, namespace: str, pod: str) -> None:
        """Its node is short of memory: the kubelet ends the pod for good."""

        def change(live: JsonObject) -> JsonObject:
            failed = statuses.ended(
                live, self._clock, exit_code=137, reason="Evicted", message=_EVICTED
            )
            target = condition(
                self._clock, "DisruptionTarget", "True", "TerminationByKubelet", _EVICTED
            )
            return with_conditions(failed, target)

        await self._kubelets.change(self._pod(namespace, pod), change)

    async def set_ready(self, namespace: str, pod: str, ready: bool) -> None:
        """The readiness probe's answer changes; the containers keep running."""

        def change(live: JsonObject) -> JsonObject:
            return statuses.readied(live, self._clock, ready=ready, reason="ContainersNotReady")

        await self._kubelets.change(self._pod(namespace, pod), change)

    async def kill_node(self, name: str) -> None:
        """The machine is silent from now on: its pods neither run nor end."""
        self._api.get(NODES, name=name)
        self._kubelets.dead.add(name)
        self._monitor.silent(name)

    async def revive_node(self, name: str) -> None:
        """It is back."""
        self._api.get(NODES, name=name)
        self._kubelets.revive(name)
        self._heartbeats.worker.add(name)
        self._monitor.heard(name)

    @property
    def ready_after(self) -> float:
        """How many seconds pods that start from now on run until they are Ready."""
        return self._kubelets.ready_after

    @ready_after.setter
    def ready_after(self, seconds: float) -> None:
        self._kubelets.ready_after = seconds

    @property
    def node_grace(self) -> float:
        """For how many seconds a node may be silent before it counts as lost."""
        return self._options.node_grace

    def _pod(self, namespace: str, name: str) -> JsonObject:
        return self._api.get(PODS, name=name, namespace=namespace)


async def _forever(part: Callable[[], Awaitable[None]]) -> None:
    await part()


async def _ensure(create: Callable[[], Awaitable[JsonObject]]) -> None:
    try:
        await create()
    except ApiStatus as refusal:
        if refusal.reason != "AlreadyExists":
            raise


def _storage_class(name: str) -> JsonObject:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": name,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "sandbox.lws/volume",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }
