"""Taints with the effect NoExecute: pods that do not tolerate them go, at once or in time."""

from lws.base.times import parse_time
from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.kubelet.kubelet import ON_NODE
from lws.sandbox.cluster.objects import (
    condition,
    is_terminating,
    name_of,
    namespace_of,
    place_of,
    uid_of,
    with_conditions,
)
from lws.sandbox.cluster.scheduler.filters import is_tolerated
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

SOURCE = Source("taint-eviction-controller")
Place = tuple[str, str]


class TaintEviction:
    """Looks at the pods of a node whose taints change, and at pods that come to a node."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._nodes = context.caches.of(NODES)
        self._pods = context.caches.of(PODS)
        self.worker: Worker[Place] = Worker(context.clock, self._look_at)
        self._nodes.on_change(self._node_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _node_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or _taints(new) == (_taints(old) if old is not None else []):
            return
        for pod in self._pods.by(ON_NODE, name_of(new)):
            self.worker.add(place_of(pod))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or not new["spec"].get("nodeName"):
            return
        if old is None or not old["spec"].get("nodeName"):
            self.worker.add(place_of(new))

    async def _look_at(self, place: Place) -> None:
        pod = self._pods.get(*place)
        if pod is None or is_terminating(pod):
            return
        node = self._nodes.get("", pod["spec"].get("nodeName") or "")
        taints = _taints(node) if node is not None else []
        if not taints:
            return
        wait = self._wait(pod, taints)
        if wait is None:
            return
        if wait > 0:
            self.worker.add_after(place, wait)
        else:
            await self._evict(pod)

    def _wait(self, pod: JsonObject, taints: list[JsonObject]) -> float | None:
        """Seconds until the pod has to go; None if it may stay."""
        tolerations = pod["spec"].get("tolerations") or ()
        waits = []
        for taint in taints:
            fitting = [one for one in tolerations if is_tolerated(one, taint)]
            if not fitting:
                return 0.0
            limits = [one["tolerationSeconds"] for one in fitting if "tolerationSeconds" in one]
            if limits:
                waits.append(self._since(taint) + max(0, min(limits)) - self._clock.now())
        return max(0.0, min(waits)) if waits else None

    def _since(self, taint: JsonObject) -> float:
        added = taint.get("timeAdded")
        return parse_time(added) if added else self._clock.now()

    async def _evict(self, pod: JsonObject) -> None:
        space, name = namespace_of(pod), name_of(pod)
        self._recorder.normal(
            SOURCE, pod, "TaintManagerEviction", f"Marking for deletion Pod {space}/{name}"
        )
        target = condition(
            self._clock,
            "DisruptionTarget",
            "True",
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
        )
        try:
            await self._api.update(
                PODS,
                with_conditions(pod, target),
                namespace=space,
                subresource="status",
                caller=CONTROLLERS,
            )
            await self._api.delete(
                PODS,
                name=name,
                namespace=space,
                options=DeleteOptions(uid=uid_of(pod)),
                caller=CONTROLLERS,
            )
        except ApiStatus as refusal:
            if refusal.code != 404:
                raise


def _taints(node: JsonObject) -> list[JsonObject]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [one for one in taints if one.get("effect") == "NoExecute"]
