"""What may be chosen about a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ZONE = "topology.kubernetes.io/zone"
RACK = "topology.lws/rack"

_CAPACITY = {
    "cpu": "64",
    "memory": "512Gi",
    "pods": "110",
    "ephemeral-storage": "1Ti",
    "nvidia.com/gpu": "8",
}


def default_capacity() -> Mapping[str, str]:
    """A machine with eight accelerators."""
    return dict(_CAPACITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """A node that is to be there from the start."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=default_capacity)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Times are in seconds."""

    max_unavailable_gate: bool = False
    """The feature gate MaxUnavailableStatefulSet of the StatefulSet controller."""
    start_after: float = 0.0
    """How long a scheduled pod stays Pending."""
    ready_after: float = 0.0
    """How long a running pod is not Ready."""
    node_grace: float = 50.0
    """How long a node may be silent before it counts as lost."""
    leases: bool = False
    """Do kubelets renew their nodes' leases?"""
    events: bool = True
    """Do the components write Events?"""
    kubelet_events: bool = False
    """Do kubelets, for every container?"""
    storage_class: str = "standard"
    """The default StorageClass that is made if there is none; empty: none is."""
    schedulers: frozenset[str] = frozenset(
        ("default-scheduler", "volcano", "scheduler-plugins-scheduler")
    )
    """Whose pods the scheduler takes."""
