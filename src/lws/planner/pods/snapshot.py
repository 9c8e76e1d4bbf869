"""One consistent picture of one group, and the facts that the set's plan needs of it."""

from dataclasses import dataclass, field

from lws.api.apps import StatefulSet
from lws.api.core import Pod, PodGroup, Service
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.ids import UID, ResourceVersion, RevisionKey
from lws.planner.pods.membership import Membership
from lws.planner.revision import Revision


@dataclass(frozen=True, slots=True)
class LeaderNode:
    """What exclusive placement knows of the leader's node."""

    known: bool
    """False: the node could not be read yet."""
    topology: str | None
    """Value of the topology label; None: the node does not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSnapshot:
    """A group as the caches show it."""

    lws: LeaderWorkerSet
    index: int
    leader: Pod | None
    """The pod named like the group, terminating or not."""
    workers: tuple[Pod, ...]
    """Every other pod with this set's name and this group index, of any life of the group."""
    statefulset: StatefulSet | None
    """The StatefulSet named like the group, whoever owns it."""
    service: Service | None
    """The Service named like the group, whoever owns it."""
    revision: Revision | None
    """The revision whose key the leader carries."""
    node: LeaderNode | None
    """None: not asked for (no exclusive topology, or the leader is not scheduled)."""
    pod_group: PodGroup | None = None
    """The PodGroup of the leader's revision, whoever owns it; None without a gang scheduler."""
    membership: Membership
    """Who has been seen in the group since this leader lives, and who was lost."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A member that a group has lost, in words for a person."""

    pod: str
    uid: UID
    what: str
    """For example `container serve exited with code 137 (OOMKilled)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """What the LeaderWorkerSet's plan reads of one group; equal facts wake nobody."""

    index: int
    leader: str
    leader_uid: UID | None
    leader_resource_version: ResourceVersion = field(compare=False)
    """Of the last that was seen of the leader: keep the latest facts, equal ones too."""
    leader_created: float
    terminating: bool
    key: RevisionKey | None
    """Of the leader pod; None: no leader pod, or it is terminating (the group is missing)."""
    complete: bool
    """Leader pod and worker StatefulSet exist (size 1: the pod)."""
    updated_key: RevisionKey | None
    """The key that leader and worker StatefulSet share; None where they do not (yet)."""
    ready: bool
    ready_since: float | None
    """Latest transition among its pods, while ready."""
    unready_since: float | None
    """Latest transition among its pods, while not ready."""
    keys: frozenset[RevisionKey]
    """Every key that a pod or StatefulSet of this group still names."""
    loss: Loss | None
    """Why the group is to be recreated, under the set's restart policy; None: it is not."""
    foreign: tuple[str, ...] = ()
    """Objects that stand in the place of the group's own, and are not ours: `Service lws-0`."""
