"""What kubelets say of their nodes: capacity, conditions, leases."""

from lws.base.times import format_micro_time
from lws.client.resources import LEASES, NODES
from lws.sandbox.cluster.absent import find
from lws.sandbox.cluster.context import Context, kubelet_of
from lws.sandbox.cluster.kubelet.addresses import NODE_IP
from lws.sandbox.cluster.objects import (
    condition,
    condition_of,
    has_condition,
    name_of,
    status_of,
    uid_of,
    with_conditions,
    with_status,
)
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec, default_capacity
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.verbs import JsonObject

LEASE_NAMESPACE = "kube-node-lease"
_LEASE_SECONDS, _RENEW_SECONDS = 40, 10.0
_CALM = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def node_object(spec: NodeSpec) -> JsonObject:
    """A node as its kubelet registers it."""
    labels = {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name, "labels": {**labels, **spec.labels}},
        "status": {"capacity": dict(spec.capacity), "allocatable": dict(spec.capacity)},
    }


class Heartbeats:
    """Keeps the nodes of living kubelets Ready. `dead` are those that say nothing."""

    def __init__(self, context: Context, options: ClusterOptions, dead: set[str]) -> None:
        self._api = context.api
        self._clock = context.clock
        self._leases = options.leases
        self._dead = dead
        self._nodes = context.caches.of(NODES)
        self.worker: Worker[str] = Worker(context.clock, self._beat, parallel=2)
        self._nodes.on_change(self._changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and not (old is not None and has_condition(new, "Ready")):
            self.worker.add(name_of(new))

    async def _beat(self, name: str) -> None:
        node = self._nodes.get("", name)
        if node is None or name in self._dead:
            return
        if condition_of(node, "Ready") is None or has_condition(node, "Ready", "Unknown"):
            updated = await self._api.update(
                NODES, self._well(node), subresource="status", caller=kubelet_of(name)
            )
            await self._nodes.seen(updated)
        if self._leases:
            await self._renew(node)
            self.worker.add_after(name, _RENEW_SECONDS)

    def _well(self, node: JsonObject) -> JsonObject:
        """Room, an address, and good conditions."""
        present = status_of(node)
        capacity = present.get("capacity") or dict(default_capacity())
        fields: JsonObject = {
            "capacity": capacity,
            "allocatable": present.get("allocatable") or capacity,
            "addresses": present.get("addresses")
            or [
                {"type": "InternalIP", "address": NODE_IP},
                {"type": "Hostname", "address": name_of(node)},
            ],
            "nodeInfo": {**_NODE_INFO, **_told(present.get("nodeInfo") or {})},
        }
        calm = (
            condition(self._clock, kind, "False", reason, message)
            for kind, (reason, message) in _CALM.items()
        )
        ready = condition(
            self._clock, "Ready", "True", "KubeletReady", "kubelet is posting ready status"
        )
        return with_conditions(with_status(node, **fields), *calm, ready)

    async def _renew(self, node: JsonObject) -> None:
        name = name_of(node)
        lease: JsonObject = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": name,
                "namespace": LEASE_NAMESPACE,
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid_of(node)}
                ],
            },
            "spec": {
                "holderIdentity": name,
                "leaseDurationSeconds": _LEASE_SECONDS,
                "renewTime": format_micro_time(self._clock.now()),
            },
        }
        caller = kubelet_of(name)
        present = find(self._api, LEASES, name=name, namespace=LEASE_NAMESPACE)
        if present is None:
            await self._api.create(LEASES, lease, namespace=LEASE_NAMESPACE, caller=caller)
        else:
            renewed = {**present, "spec": lease["spec"]}
            await self._api.update(LEASES, renewed, namespace=LEASE_NAMESPACE, caller=caller)


def _told(info: JsonObject) -> JsonObject:
    """What whoever made the node said: the API server fills all else with empty words."""
    return {name: word for name, word in info.items() if word}


_NODE_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "sandbox://1",
    "kernelVersion": "",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.3",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "sandbox",
    "systemUUID": "",
}
