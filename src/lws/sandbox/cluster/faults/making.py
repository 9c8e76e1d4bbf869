"""Each fault, made and told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lws.client.requests import PatchType
from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.faults.asked import (
    ContainerFault,
    Fault,
    NodeFault,
    PodFault,
    SlowStart,
    Taint,
)
from lws.sandbox.cluster.faults.draining import evicted_from
from lws.sandbox.cluster.objects import is_terminating, name_of, phase_of, status_of
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, JsonObject, Verbs

CHAOS = Caller(user="sandbox-chaos", field_manager="sandbox-chaos")
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, and what follows by itself, a line each."""

    done: Sequence[str]
    follows: Sequence[str] = field(default_factory=tuple)


class Faults:
    """Makes trouble in one cluster. ApiStatus says why something cannot be done."""

    def __init__(self, api: Verbs, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    async def make(self, fault: Fault) -> Outcome:
        """Done, and visible to every client, when this returns."""
        match fault:
            case ContainerFault():
                return await self._container(fault)
            case PodFault():
                return await self._pod(fault)
            case NodeFault():
                return await self._node(fault)
            case SlowStart():
                return self._slow_start(fault)

    # Pods

    async def _container(self, fault: ContainerFault) -> Outcome:
        pod = self._pod_of(fault.namespace, fault.pod)
        specs = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
        known = [one["name"] for one in specs]
        name = fault.container or pod["spec"]["containers"][0]["name"]
        place = f"{fault.namespace}/{fault.pod}"
        if name not in known:
            there = ", ".join(known)
            raise _refused(404, f"pod {place} has no container {name}; it has: {there}")
        _require_running(pod)
        reason = _REASONS.get(fault.exit_code, "Error")
        await self._cluster.fail_container(
            fault.namespace, fault.pod, name, exit_code=fault.exit_code, reason=reason
        )
        done = f"container {name} of pod {place} ended with exit code {fault.exit_code} ({reason})"
        return Outcome([done])

    async def _pod(self, fault: PodFault) -> Outcome:
        pod = self._pod_of(fault.namespace, fault.pod)
        space, name, place = fault.namespace, fault.pod, f"{fault.namespace}/{fault.pod}"
        if fault.how == "delete":
            await self._api.delete(PODS, name=name, namespace=space, caller=CHAOS)
            return Outcome([f"pod {place} was deleted"])
        _require_running(pod)
        match fault.how:
            case "evict":
                await self._cluster.evict(space, name)
                node = pod["spec"].get("nodeName", "")
                return Outcome([f"pod {place} was evicted: {node} was short of memory"])
            case "fail":
                await self._cluster.fail_pod(space, name, reason="Error", message="chaos")
                return Outcome([f"pod {place} failed as a whole, for good"])
        await self._cluster.set_ready(space, name, fault.how == "ready")
        now = "is ready again" if fault.how == "ready" else "is not ready; its containers run on"
        return Outcome([f"pod {place} {now}"])

    def _pod_of(self, namespace: str, name: str) -> JsonObject:
        pods = self._api.list(PODS, namespace=namespace).items
        for pod in pods:
            if name_of(pod) == name:
                return pod
        there = _some([name_of(pod) for pod in pods])
        has = f"pods of this namespace: {there}" if pods else "this namespace has no pods"
        raise _refused(404, f"there is no pod {name} in namespace {namespace}; {has}")

    # Nodes

    async def _node(self, fault: NodeFault) -> Outcome:
        nodes = self._api.list(NODES).items
        name = fault.node
        if name not in map(name_of, nodes):
            there = _some([name_of(one) for one in nodes])
            raise _refused(404, f"there is no node {name}; nodes: {there}")
        match fault.how:
            case "down":
                return await self._down(name)
            case "up":
                await self._cluster.revive_node(name)
                return Outcome([f"the kubelet of {name} is back"])
            case "drain":
                return await self._drain(name)
            case "cordon" | "uncordon":
                await self._cordon(name, fault.how == "cordon")
                takes = "takes no new pods" if fault.how == "cordon" else "takes pods again"
                return Outcome([f"node {name} {takes}"])
            case "remove":
                await self._api.delete(NODES, name=name, caller=CHAOS)
                return Outcome(
                    [f"node {name} is gone for good"], ["its pods are deleted soon, by force"]
                )
        assert fault.taint is not None, "asked for by fault_of"
        return await self._taint(name, fault.taint, is_added=fault.how == "taint")

    async def _down(self, name: str) -> Outcome:
        await self._cluster.kill_node(name)
        grace = self._cluster.node_grace
        return Outcome(
            [f"the kubelet of {name} is silent: its pods neither run on nor end"],
            [
                f"the node counts as lost in {grace:.0f} s, its pods are not ready then",
                "they are evicted 300 s later, if they do not tolerate more or less",
            ],
        )

    async def _cordon(self, name: str, is_cordoned: bool) -> None:
        await self._patch_node(name, {"spec": {"unschedulable": is_cordoned or None}})

    async def _drain(self, name: str) -> Outcome:
        await self._cordon(name, True)
        evicted, refused = await evicted_from(self._api, name, CHAOS)
        done = [f"node {name} takes no new pods", *(f"pod {pod} was evicted" for pod in evicted)]
        follows = [f"pod {pod} stays: {why}" for pod, why in refused]
        if refused:
            follows.append("drain again when the budget allows it")
        return Outcome(done, [*follows, f"lws chaos node {name} --uncordon lets pods come back"])

    async def _taint(self, name: str, taint: Taint, *, is_added: bool) -> Outcome:
        spec = self._api.get(NODES, name=name).get("spec") or {}
        present = spec.get("taints") or []
        kept = [one for one in present if not _is_same(one, taint)]
        words = taint.key + (f":{taint.effect}" if taint.effect else "")
        if not is_added and len(kept) == len(present):
            there = _some([f"{one['key']}:{one['effect']}" for one in present]) or "none"
            raise _refused(404, f"node {name} has no taint {words}; taints: {there}")
        added: list[JsonObject] = []
        if is_added:
            value = {"value": taint.value} if taint.value else {}
            added = [{"key": taint.key, **value, "effect": taint.effect}]
        await self._patch_node(name, {"spec": {"taints": [*kept, *added] or None}})
        if not is_added:
            return Outcome([f"node {name} has lost the taint {words}"])
        return Outcome([f"node {name} has the taint {words}"], [_FOLLOWS[taint.effect]])

    async def _patch_node(self, name: str, patch: dict[str, Any]) -> None:
        await self._api.patch(NODES, patch, patch_type=PatchType.MERGE, name=name, caller=CHAOS)

    # All of them

    def _slow_start(self, fault: SlowStart) -> Outcome:
        before = self._cluster.ready_after
        self._cluster.ready_after = fault.seconds
        now = f"pods that start from now on are ready after {fault.seconds:g} s"
        return Outcome(
            [f"{now}, not after {before:g} s"],
            ["the annotation test.lws/ready-after of a pod goes before it"],
        )


_REASONS = {0: "Completed", 137: "OOMKilled"}
_FOLLOWS = {
    "NoSchedule": "pods that do not tolerate it stay, and no new ones come",
    "PreferNoSchedule": "nothing: the sandbox's scheduler has no preferences",
    "NoExecute": "pods that do not tolerate it are evicted at once",
}


def _is_same(present: JsonObject, taint: Taint) -> bool:
    return present["key"] == taint.key and taint.effect in ("", present["effect"])


def _require_running(pod: JsonObject) -> None:
    """What does not run cannot fail."""
    if phase_of(pod) == "Running" and not is_terminating(pod):
        return
    state = "is being deleted" if is_terminating(pod) else f"is {phase_of(pod)}"
    why = next(
        (
            f" ({one['message']})"
            for one in status_of(pod).get("conditions") or ()
            if one.get("type") == "PodScheduled" and one.get("message")
        ),
        "",
    )
    place = f"{pod['metadata']['namespace']}/{name_of(pod)}"
    raise _refused(409, f"pod {place} {state}{why}; only a pod that runs can fail")


def _refused(code: int, message: str) -> ApiStatus:
    reason = {404: "NotFound", 409: "Conflict"}[code]
    return ApiStatus(message, code=code, reason=reason)


def _some(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    shown = ", ".join(names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
