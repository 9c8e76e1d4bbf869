"""Names on the wire: labels, annotations, environment, objects (spec: api.md sections 4, 5)."""

import hashlib

GROUP = "leaderworkerset.x-k8s.io"
API_VERSION = "leaderworkerset.x-k8s.io/v1"
KIND = "LeaderWorkerSet"
DS_GROUP = "disaggregatedset.x-k8s.io"
DS_API_VERSION = "disaggregatedset.x-k8s.io/v1"
DS_KIND = "DisaggregatedSet"
FIELD_MANAGER = "lws"

_PREFIX = "leaderworkerset.sigs.k8s.io/"

# Labels.
NAME = _PREFIX + "name"
GROUP_INDEX = _PREFIX + "group-index"
WORKER_INDEX = _PREFIX + "worker-index"
GROUP_KEY = _PREFIX + "group-key"
REVISION_KEY = _PREFIX + "template-revision-hash"
SUBGROUP_INDEX = _PREFIX + "subgroup-index"
SUBGROUP_KEY = _PREFIX + "subgroup-key"
HISTORY_OF = _PREFIX + "history-of"
"""Ours: takes the place of `name` on a retired ControllerRevision (leaderworkerset.md step 9)."""
STATEFULSET_REVISION_HASH = "controller.kubernetes.io/hash"
"""On every ControllerRevision that the StatefulSet controller makes, and on none of ours."""

# Annotations.
SIZE = _PREFIX + "size"
REPLICAS = _PREFIX + "replicas"
LEADER_NAME = _PREFIX + "leader-name"
SUBGROUP_SIZE = _PREFIX + "subgroup-size"
SUBGROUP_POLICY_TYPE = _PREFIX + "subgroup-policy-type"
SUBDOMAIN_POLICY = _PREFIX + "subdomainPolicy"
EXCLUSIVE_TOPOLOGY = _PREFIX + "exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = _PREFIX + "subgroup-exclusive-topology"
RECREATE_AFTER_START = _PREFIX + "experimental-recreate-group-after-start"
LEADER_REQUESTS_TPUS = _PREFIX + "leader-requests-tpus"
PARTITION = _PREFIX + "partition"
"""Ours: the partition kept while the strategy is OnDelete (leaderworkerset.md section 3)."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

# Environment of every container.
ENV_LEADER_ADDRESS = "LWS_LEADER_ADDRESS"
ENV_GROUP_SIZE = "LWS_GROUP_SIZE"
ENV_WORKER_INDEX = "LWS_WORKER_INDEX"

DS_PREFIX = "disaggregatedset.x-k8s.io/"
DS_NAME = DS_PREFIX + "name"
DS_ROLE = DS_PREFIX + "role"
DS_SLICE = DS_PREFIX + "slice"
DS_REVISION = DS_PREFIX + "revision"
DS_INITIAL_REPLICAS = DS_PREFIX + "initial-replicas"
APP = "app"


def leader_pod_name(lws: str, group: int) -> str:
    """Name of a group: its leader pod, its worker StatefulSet, its own Service."""
    return f"{lws}-{group}"


def group_key(namespace: str, leader: str) -> str:
    """Value of the label `group-key`."""
    return _sha1(f"{namespace}/{leader}")


def subgroup_key(leader: str, subgroup: int) -> str:
    """Value of the label `subgroup-key`."""
    return _sha1(f"{leader}/{subgroup}")


def ordinal(pod_name: str) -> int | None:
    """The number after the last dash of a pod's name; None if there is none."""
    head, dash, tail = pod_name.rpartition("-")
    if not head or not dash or not (tail.isascii() and tail.isdigit()):
        return None
    return int(tail)


def hpa_pod_selector(lws: str) -> str:
    """Selector of the scale subresource: the leaders, one a group."""
    return f"{NAME}={lws},{WORKER_INDEX}=0"


def revision_name(*, lws: str, key: str, number: int) -> str:
    """Name of a ControllerRevision."""
    return f"{lws[:220]}-{key}-{number}"


def role_lws(*, ds: str, slice_index: int, revision: str, role: str) -> str:
    """Name of a role's LeaderWorkerSet."""
    return f"{ds}-{slice_index}-{revision}-{role}"


def role_service(lws: str) -> str:
    """Name of the headless Service of a role's LeaderWorkerSet."""
    return f"{lws}-prv"


def role_app(*, ds: str, slice_index: int, role: str) -> str:
    """Value of the label `app` on a role's LeaderWorkerSet and pods."""
    return f"{ds}-{slice_index}-{role}"


def role_scaler(*, ds: str, role: str) -> str:
    """Name of a role's scaler."""
    return f"{ds}-{role}"


def role_selector(*, ds: str, role: str) -> str:
    """Selector of a role's scaler: the leaders, one a group."""
    return f"{DS_NAME}={ds},{DS_ROLE}={role},{WORKER_INDEX}=0"


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
