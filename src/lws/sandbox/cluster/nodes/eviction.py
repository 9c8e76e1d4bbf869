"""Taints with the effect NoExecute: pods that do not tolerate them go, at once or in time."""

from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.absent import may_be_gone
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
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

SOURCE = Source("taint-eviction-controller")
Place = tuple[str, str]
_EARLY = 1e-6  # seconds that do not matter


class TaintEviction:
    """Looks at the pods of a node whose taints change, and at pods that come to a node."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._nodes = context.caches.of(NODES)
        self._pods = context.caches.of(PODS)
        self.worker: Worker[Place] = Worker(context.clock, self._look_at)
        self._since: dict[Place, tuple[str, float]] = {}
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
        if new is None and old is not None:
            self._since.pop(place_of(old), None)
        if new is None or not new["spec"].get("nodeName"):
            return
        if old is None or not old["spec"].get("nodeName"):
            self.worker.add(place_of(new))

    async def _look_at(self, place: Place) -> None:
        pod = self._pods.get(*place)
        limit = self._limit(pod) if pod is not None and not is_terminating(pod) else None
        if pod is None or limit is None:
            self._since.pop(place, None)
            return
        now = self._clock.monotonic()
        uid, since = self._since.get(place, ("", now))
        if uid != uid_of(pod):
            uid, since = self._since[place] = (uid_of(pod), now)
        wait = since + limit - now
        if wait > _EARLY:
            self.worker.add_after(place, wait)
        else:
            await self._evict(pod)

    def _limit(self, pod: JsonObject) -> float | None:
        """For how many seconds the pod may stay on its tainted node; None: as long as it likes."""
        node = self._nodes.get("", pod["spec"].get("nodeName") or "")
        tolerations = pod["spec"].get("tolerations") or ()
        limits: list[float] = []
        for taint in _taints(node) if node is not None else ():
            fitting = [one for one in tolerations if is_tolerated(one, taint)]
            if not fitting:
                return 0.0
            limits += [one["tolerationSeconds"] for one in fitting if "tolerationSeconds" in one]
        return max(0.0, min(limits)) if limits else None

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
        with may_be_gone():
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


def _taints(node: JsonObject) -> list[JsonObject]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [one for one in taints if one.get("effect") == "NoExecute"]
