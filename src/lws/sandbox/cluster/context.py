"""What every controller of a cluster is given."""

from dataclasses import dataclass

from lws.base.clock import Clock
from lws.client.resources import Resource
from lws.sandbox.cluster.cache import Caches
from lws.sandbox.cluster.events import Recorder
from lws.sandbox.server.verbs import Caller, Verbs

CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
ENDPOINT_SLICES = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
JOBS = Resource("batch", "v1", "jobs", "Job")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
STORAGE_CLASSES = Resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False
)
VOLUMES = Resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)

CONTROLLERS = Caller(user="system:kube-controller-manager", field_manager="kube-controller-manager")
SCHEDULER = Caller(user="system:kube-scheduler", field_manager="kube-scheduler")


def kubelet_of(node: str) -> Caller:
    """The kubelet of a node, as a caller."""
    return Caller(user=f"system:node:{node}", field_manager="kubelet")


@dataclass(frozen=True, slots=True)
class Context:
    """The server, the time, the shared caches, and who writes events."""

    api: Verbs
    clock: Clock
    caches: Caches
    recorder: Recorder
