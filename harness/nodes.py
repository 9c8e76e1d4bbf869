"""Nodes: plain objects with a capacity and labels; kwok renews their leases."""

from collections.abc import Callable, Mapping

from harness.kube import ApiError, Json, Kube

ZONE = "topology.kubernetes.io/zone"
RACK = "topology.test.lws/rack"
NodeLabels = Callable[[int], Mapping[str, str]]

_CAPACITY = {
    "cpu": "10000",
    "memory": "100Ti",
    "pods": "10000",
    "ephemeral-storage": "100Ti",
    "google.com/tpu": "10000",
    "nvidia.com/gpu": "10000",
}
_CALM = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def default_labels(number: int) -> Mapping[str, str]:
    """Racks of two nodes, zones of two racks."""
    return {ZONE: f"zone-{number // 4}", RACK: f"rack-{number // 2}"}


def node(name: str, labels: Mapping[str, str]) -> Json:
    """A node that is ready from the start and has room for everything."""
    conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    conditions += [{"type": kind, "status": "False", "reason": "Calm"} for kind in _CALM]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                **labels,
            },
        },
        "status": {
            "capacity": _CAPACITY,
            "allocatable": _CAPACITY,
            "conditions": conditions,
            "addresses": [{"type": "Hostname", "address": name}],
        },
    }


def add_nodes(kube: Kube, count: int, labels: NodeLabels = default_labels) -> list[str]:
    """Create `count` nodes `node-0`…, with these labels; their names."""
    names = [f"node-{number}" for number in range(count)]
    for number, name in enumerate(names):
        kube.create(node(name, labels(number)))
    return names


def remove_node(kube: Kube, name: str) -> list[str]:
    """A machine is gone: its node object, and its pods as the pod garbage collector ends them.

    That collector acts only after a minute; here it happens at once. Returns the pods' names.
    """
    pods = [pod for pod in kube.items("pods") if pod["spec"].get("nodeName") == name]
    kube.delete("nodes", name)
    for pod in pods:
        _collect(kube, pod)
    return [pod["metadata"]["name"] for pod in pods]


def _collect(kube: Kube, pod: Json) -> None:
    meta = pod["metadata"]
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
    change = {
        "metadata": {"uid": meta["uid"]},
        "status": {"phase": "Failed", "conditions": [condition]},
    }
    name, namespace = meta["name"], meta["namespace"]
    try:
        kube.patch("pods", name, change, namespace, kind="strategic", subresource="status")
        kube.delete("pods", name, namespace, grace=0, uid=meta["uid"])
    except ApiError as problem:
        if problem.status not in (404, 409):  # gone, or replaced by another of the same name
            raise


def taint(kube: Kube, name: str, key: str, *, effect: str = "NoExecute") -> None:
    """Taint a node; `NoExecute` evicts the pods that do not tolerate it."""
    present = kube.get("nodes", name)["spec"].get("taints", [])
    kube.patch("nodes", name, {"spec": {"taints": [*present, {"key": key, "effect": effect}]}})


def cordon(kube: Kube, name: str, *, unschedulable: bool = True) -> None:
    """Keep new pods off a node, or let them on again."""
    kube.patch("nodes", name, {"spec": {"unschedulable": unschedulable}})
