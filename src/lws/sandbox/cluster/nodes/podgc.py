"""Pods whose node is gone: nobody else would end them."""

from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.kubelet.kubelet import ON_NODE
from lws.sandbox.cluster.objects import (
    TERMINAL,
    condition,
    name_of,
    namespace_of,
    phase_of,
    uid_of,
    with_conditions,
    with_status,
)
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

QUARANTINE = 40.0
_PERIOD = 20.0  # a real collector looks that often


class PodCollector:
    """Ends the pods of a node that has been gone for a minute."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._nodes = context.caches.of(NODES)
        self._pods = context.caches.of(PODS)
        self._gone_since: dict[str, float] = {}
        self.worker: Worker[str] = Worker(context.clock, self._look_at, parallel=2)
        self._nodes.on_change(self._node_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _node_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None:
            self._gone_since.pop(name_of(new), None)
        elif old is not None:
            self.worker.add(name_of(old))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is None and new is not None and new["spec"].get("nodeName"):
            self.worker.add(new["spec"]["nodeName"])

    async def _look_at(self, node: str) -> None:
        if not node or self._nodes.get("", node) is not None:
            return
        if not self._pods.count(ON_NODE, node):
            self._gone_since.pop(node, None)
            return
        now = self._clock.monotonic()
        due = self._gone_since.setdefault(node, now) + _PERIOD + QUARANTINE
        if now < due - 1e-6:
            self.worker.add_after(node, due - now)
            return
        for pod in self._pods.by(ON_NODE, node):
            await self._end(pod)

    async def _end(self, pod: JsonObject) -> None:
        space, name = namespace_of(pod), name_of(pod)
        target = condition(
            self._clock,
            "DisruptionTarget",
            "True",
            "DeletionByPodGC",
            "PodGC: node no longer exists",
        )
        with may_be_gone():
            if phase_of(pod) not in TERMINAL:
                await self._api.update(
                    PODS,
                    with_conditions(with_status(pod, phase="Failed"), target),
                    namespace=space,
                    subresource="status",
                    caller=CONTROLLERS,
                )
            await self._api.delete(
                PODS,
                name=name,
                namespace=space,
                options=DeleteOptions(grace_period_seconds=0, uid=uid_of(pod)),
                caller=CONTROLLERS,
            )
