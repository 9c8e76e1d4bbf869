"""What the control plane makes of silent nodes: conditions, taints, pods that are not Ready."""

from lws.base.times import format_time
from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.kubelet.kubelet import ON_NODE
from lws.sandbox.cluster.objects import (
    condition,
    condition_of,
    has_condition,
    is_ready,
    name_of,
    namespace_of,
    status_of,
    with_conditions,
)
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.verbs import JsonObject

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
SOURCE = Source("node-controller")
_KINDS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_SILENT = ("NodeStatusUnknown", "Kubelet stopped posting node status.")


class NodeMonitor:
    """Looks at a node when it changes, and when its grace is over."""

    def __init__(self, context: Context, options: ClusterOptions, dead: set[str]) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._grace = options.node_grace
        self._dead = dead
        self._silent_since: dict[str, float] = {}
        self._nodes = context.caches.of(NODES)
        self._pods = context.caches.of(PODS)
        self.worker: Worker[str] = Worker(context.clock, self._look_at, parallel=4)
        self._nodes.on_change(self._changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def silent(self, name: str) -> None:
        """A node's kubelet has just died."""
        self._silent_since[name] = self._clock.monotonic()
        self.worker.add_after(name, self._grace)

    def heard(self, name: str) -> None:
        """It works again."""
        self._silent_since.pop(name, None)
        self.worker.add(name)

    def _changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None:
            self.worker.add(name_of(new))
        elif old is not None:
            self._silent_since.pop(name_of(old), None)

    async def _look_at(self, name: str) -> None:
        node = self._nodes.get("", name)
        if node is None:
            return
        if self._is_lost(name) and not has_condition(node, "Ready", "Unknown"):
            node = await self._mark_unknown(node)
        node = await self._taint(node)
        if self._is_to_doubt(node):
            await self._mark_pods(name)

    def _is_lost(self, name: str) -> bool:
        since = self._silent_since.get(name)
        if name not in self._dead or since is None:
            return False
        return self._clock.monotonic() - since >= self._grace - 1e-6

    def _is_to_doubt(self, node: JsonObject) -> bool:
        """Not one whose kubelet is back and has only not said yet that the node is ready: it has
        told of its pods already, and what is said of them now nobody would correct."""
        ready = condition_of(node, "Ready")
        if ready is None or ready["status"] == "True":
            return False
        return ready["status"] != "Unknown" or name_of(node) in self._dead

    async def _mark_unknown(self, node: JsonObject) -> JsonObject:
        reason, message = _SILENT
        unknown = (condition(self._clock, kind, "Unknown", reason, message) for kind in _KINDS)
        self._recorder.normal(
            SOURCE, node, "NodeNotReady", f"Node {name_of(node)} status is now: NodeNotReady"
        )
        updated = await self._api.update(
            NODES, with_conditions(node, *unknown), subresource="status", caller=CONTROLLERS
        )
        await self._nodes.seen(updated)
        return updated

    async def _taint(self, node: JsonObject) -> JsonObject:
        """The taints that follow from its conditions, and no longer from former ones."""
        ours = (NOT_READY, UNREACHABLE, UNSCHEDULABLE)
        spec = node.get("spec") or {}
        present = list(spec.get("taints") or ())
        wanted = self._wanted_taints(node)
        kept = [one for one in present if one["key"] not in ours or _pair(one) in wanted]
        added = wanted - {_pair(one) for one in kept}
        if not added and len(kept) == len(present):
            return node
        now = format_time(self._clock.now())
        fresh = [{"key": key, "effect": effect, "timeAdded": now} for key, effect in sorted(added)]
        changed = {name: value for name, value in spec.items() if name != "taints"}
        if kept or fresh:
            changed["taints"] = [*kept, *fresh]
        updated = await self._api.update(NODES, {**node, "spec": changed}, caller=CONTROLLERS)
        await self._nodes.seen(updated)
        return updated

    def _wanted_taints(self, node: JsonObject) -> set[tuple[str, str]]:
        wanted = set()
        if (node.get("spec") or {}).get("unschedulable"):
            wanted.add((UNSCHEDULABLE, "NoSchedule"))
        ready = condition_of(node, "Ready")
        if ready is not None and ready["status"] != "True":
            key = UNREACHABLE if ready["status"] == "Unknown" else NOT_READY
            wanted |= {(key, "NoSchedule"), (key, "NoExecute")}
        return wanted

    async def _mark_pods(self, node: str) -> None:
        """Nobody knows of a lost node's pods whether they serve."""
        for pod in self._pods.by(ON_NODE, node):
            if not is_ready(pod):
                continue
            conditions = [
                {**one, "status": "False", "lastTransitionTime": format_time(self._clock.now())}
                if one["type"] == "Ready"
                else one
                for one in status_of(pod)["conditions"]
            ]
            changed = {**pod, "status": {**pod["status"], "conditions": conditions}}
            self._recorder.warning(SOURCE, pod, "NodeNotReady", "Node is not ready")
            with may_be_gone():
                await self._api.update(
                    PODS,
                    changed,
                    namespace=namespace_of(pod),
                    subresource="status",
                    caller=CONTROLLERS,
                )


def _pair(taint: JsonObject) -> tuple[str, str]:
    return taint["key"], taint["effect"]
