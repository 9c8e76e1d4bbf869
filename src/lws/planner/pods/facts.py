"""What one group is, read off its snapshot (leaderworkerset.md section 3, "Inputs")."""

from lws.api import names
from lws.api.apps import StatefulSet
from lws.api.core import Pod
from lws.api.meta import ObjectMeta, controller_uid
from lws.base.ids import ResourceVersion, RevisionKey
from lws.planner.pods.evidence import RawLoss, lenient_time
from lws.planner.pods.ownership import Owned, ownership
from lws.planner.pods.restart_policy import RestartScope, restart_scope
from lws.planner.pods.services import has_own_service
from lws.planner.pods.size import group_size
from lws.planner.pods.snapshot import GroupFacts, GroupSnapshot, Loss


def group_facts(snapshot: GroupSnapshot) -> GroupFacts:
    """The facts of one group; runs at every event of it, so it does no more than it must."""
    leader, statefulset = snapshot.leader, _own_statefulset(snapshot)
    size = group_size(leader=leader, revision=snapshot.revision, lws=snapshot.lws)
    pods = snapshot.workers if leader is None else (leader, *snapshot.workers)
    worker_key = _key_of(statefulset)
    since = _latest_transition(pods)
    if leader is None:
        return _facts_without_leader(snapshot, pods=pods, worker_key=worker_key, since=since)
    metadata = leader.metadata
    key = metadata.labels.revision_key
    terminating = metadata.deletion_timestamp is not None
    ready = is_leader_ready(leader) and (size == 1 or _are_workers_ready(leader, statefulset, size))
    return GroupFacts(
        index=snapshot.index,
        leader=metadata.name,
        leader_uid=metadata.uid,
        leader_resource_version=metadata.resource_version,
        leader_created=lenient_time(metadata.creation_timestamp) or 0.0,
        terminating=terminating,
        key=None if terminating else key,
        complete=size == 1 or statefulset is not None,
        updated_key=key if size == 1 or worker_key == key else None,
        ready=ready,
        ready_since=since if ready else None,
        unready_since=None if ready else since,
        keys=_keys(pods, worker_key),
        loss=counted_loss(snapshot, leader),
        foreign=_foreign(snapshot, leader, size),
    )


def _own_statefulset(snapshot: GroupSnapshot) -> StatefulSet | None:
    """Of this leader, or of one before it; what somebody else has put there says nothing."""
    leader, statefulset = snapshot.leader, snapshot.statefulset
    if leader is None or statefulset is None or not _is_foreign(statefulset.metadata, leader):
        return statefulset
    return None


def is_leader_ready(leader: Pod) -> bool:
    """Running, condition Ready true, not being deleted."""
    if leader.status.phase != "Running" or leader.metadata.deletion_timestamp is not None:
        return False
    for condition in leader.status.conditions:
        if condition.type == "Ready":
            return condition.status == "True"
    return False


def _facts_without_leader(
    snapshot: GroupSnapshot,
    *,
    pods: tuple[Pod, ...],
    worker_key: RevisionKey | None,
    since: float | None,
) -> GroupFacts:
    return GroupFacts(
        index=snapshot.index,
        leader=names.leader_pod_name(snapshot.lws.metadata.name, snapshot.index),
        leader_uid=None,
        leader_resource_version=ResourceVersion(""),
        leader_created=0.0,
        terminating=False,
        key=None,
        complete=False,
        updated_key=None,
        ready=False,
        ready_since=None,
        unready_since=since,
        keys=_keys(pods, worker_key),
        loss=None,
    )


def _are_workers_ready(leader: Pod, statefulset: StatefulSet | None, size: int) -> bool:
    if statefulset is None:
        return False
    if controller_uid(statefulset.metadata.owner_references) != leader.metadata.uid:
        return False
    status = statefulset.status
    return (
        status.available_replicas == size - 1
        and statefulset.spec.replicas == size - 1
        and status.current_revision == status.update_revision
    )


def _key_of(statefulset: StatefulSet | None) -> RevisionKey | None:
    if statefulset is None:
        return None
    return statefulset.revision_key


def _keys(pods: tuple[Pod, ...], worker_key: RevisionKey | None) -> frozenset[RevisionKey]:
    keys = {pod.metadata.labels.revision_key for pod in pods}
    if worker_key is not None:
        keys.add(worker_key)
    keys.discard(RevisionKey(""))
    return frozenset(keys)


def _latest_transition(pods: tuple[Pod, ...]) -> float | None:
    """Latest creation, deletion or turn of a condition; as text, since parsing costs more."""
    latest = ""
    for pod in pods:
        metadata = pod.metadata
        latest = max(latest, metadata.creation_timestamp, metadata.deletion_timestamp or "")
        for condition in pod.status.conditions:
            moment = condition.last_transition_time
            if moment is not None and moment > latest:
                latest = moment
    return lenient_time(latest)


def counted_loss(snapshot: GroupSnapshot, leader: Pod) -> Loss | None:
    """The first loss that recreates the group; None while it is on its way out anyway."""
    losses = snapshot.membership.losses
    if not losses or leader.metadata.deletion_timestamp is not None:
        return None
    scope = restart_scope(snapshot.lws)
    if scope is RestartScope.NOTHING or snapshot.lws.metadata.deletion_timestamp is not None:
        return None
    if scope is RestartScope.AFTER_START and snapshot.membership.started is None:
        return None
    for loss in losses:
        if _counts(snapshot, leader, loss):
            return Loss(pod=loss.pod, uid=loss.uid, what=loss.what)
    return None


def _counts(snapshot: GroupSnapshot, leader: Pod, loss: RawLoss) -> bool:
    """Of this life, and not a pod that an update takes out anyway."""
    membership = snapshot.membership
    return (
        membership.leader == leader.metadata.uid
        and loss.key == leader.metadata.labels.revision_key
        and membership.is_of_this_life(pod=loss.pod, uid=loss.uid, owner=loss.owner)
    )


def _foreign(snapshot: GroupSnapshot, leader: Pod, size: int) -> tuple[str, ...]:
    asked = (
        ("StatefulSet", snapshot.statefulset, size > 1),
        ("Service", snapshot.service, has_own_service(leader)),
    )
    return tuple(
        f"{kind} {found.metadata.name}"
        for kind, found, needed in asked
        if needed and found is not None and _is_foreign(found.metadata, leader)
    )


def _is_foreign(metadata: ObjectMeta, leader: Pod) -> bool:
    return ownership(metadata, leader=leader) is Owned.FOREIGN
