"""Pods, Services and Nodes, as far as a decision reads them."""

import msgspec

from lws.api import names
from lws.api.meta import ObjectMeta, OwnerReference, Struct
from lws.base.ids import UID, ResourceVersion, RevisionKey


class GroupLabels(Struct, frozen=True, kw_only=True):
    """Our labels on pods and worker StatefulSets; the user's own are not kept."""

    name: str = msgspec.field(name=names.NAME, default="")
    group_index: str = msgspec.field(name=names.GROUP_INDEX, default="")
    worker_index: str = msgspec.field(name=names.WORKER_INDEX, default="")
    group_key: str = msgspec.field(name=names.GROUP_KEY, default="")
    revision_key: RevisionKey = msgspec.field(name=names.REVISION_KEY, default=RevisionKey(""))


class GroupAnnotations(Struct, frozen=True, kw_only=True):
    """Our annotations on pods; the user's own are not kept."""

    size: str = msgspec.field(name=names.SIZE, default="")
    leader_name: str = msgspec.field(name=names.LEADER_NAME, default="")
    exclusive_topology: str = msgspec.field(name=names.EXCLUSIVE_TOPOLOGY, default="")
    subgroup_exclusive_topology: str = msgspec.field(
        name=names.SUBGROUP_EXCLUSIVE_TOPOLOGY, default=""
    )
    subdomain_policy: str = msgspec.field(name=names.SUBDOMAIN_POLICY, default="")


class GroupMeta(Struct, frozen=True, kw_only=True):
    """`metadata` of a pod."""

    name: str = ""
    namespace: str = ""
    uid: UID = UID("")
    resource_version: ResourceVersion = ResourceVersion("")
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: GroupLabels = GroupLabels()
    annotations: GroupAnnotations = GroupAnnotations()
    owner_references: tuple[OwnerReference, ...] = ()


class Running(Struct, frozen=True, kw_only=True):
    """`state.running`."""

    started_at: str | None = None


class Terminated(Struct, frozen=True, kw_only=True):
    """`state.terminated`, `lastState.terminated`."""

    exit_code: int = 0
    reason: str = ""
    finished_at: str | None = None


class Waiting(Struct, frozen=True, kw_only=True):
    """`state.waiting`."""

    reason: str = ""


class ContainerState(Struct, frozen=True, kw_only=True):
    """`state`, `lastState`."""

    running: Running | None = None
    terminated: Terminated | None = None
    waiting: Waiting | None = None


class ContainerStatus(Struct, frozen=True, kw_only=True):
    """`containerStatuses[]`, `initContainerStatuses[]`."""

    name: str = ""
    restart_count: int = 0
    state: ContainerState | None = None
    last_state: ContainerState | None = None


class PodCondition(Struct, frozen=True, kw_only=True):
    """`status.conditions[]` of a pod."""

    type: str = ""
    status: str = ""
    reason: str = ""
    last_transition_time: str | None = None


class PodStatus(Struct, frozen=True, kw_only=True):
    """`status` of a pod."""

    phase: str = ""
    reason: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    start_time: str | None = None


class PodSpec(Struct, frozen=True, kw_only=True):
    """`spec` of a pod."""

    node_name: str = ""


class Pod(Struct, frozen=True, kw_only=True):
    """A pod of some LeaderWorkerSet."""

    metadata: GroupMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Service(Struct, frozen=True, kw_only=True):
    """A headless Service; nothing of its spec is put back."""

    metadata: ObjectMeta


class PodGroup(Struct, frozen=True, kw_only=True):
    """A PodGroup of a gang scheduler; nothing of its spec is put back."""

    metadata: ObjectMeta


class Node(Struct, frozen=True, kw_only=True):
    """A node: only its labels are read."""

    metadata: ObjectMeta


decode_pod = msgspec.json.Decoder(Pod).decode
decode_service = msgspec.json.Decoder(Service).decode
decode_pod_group = msgspec.json.Decoder(PodGroup).decode
decode_node = msgspec.json.Decoder(Node).decode

__all__ = [
    "ContainerState",
    "ContainerStatus",
    "GroupAnnotations",
    "GroupLabels",
    "GroupMeta",
    "Node",
    "Pod",
    "PodCondition",
    "PodGroup",
    "PodSpec",
    "PodStatus",
    "Running",
    "Service",
    "Terminated",
    "Waiting",
    "decode_node",
    "decode_pod",
    "decode_pod_group",
    "decode_service",
]
