"""Who has been seen in a group since its leader lives, and who was lost: the transitions.

The one memory of a running controller: an event that the cluster no longer shows (a pod deleted
and made anew in one change) is a loss all the same. One function for each kind of change, called
in the order of the informers; the same change twice is as good as once. What is recorded here is
what happened; `facts.group_facts` tells which of it counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lws.api import names
from lws.api.apps import StatefulSet
from lws.api.core import Pod
from lws.api.meta import controller_uid
from lws.base.ids import RevisionKey
from lws.planner.pods.evidence import (
    LossKind,
    RawLoss,
    began,
    ended_before,
    is_over,
    over_before,
    restarts,
    shown,
)
from lws.planner.pods.members import Member, Membership, with_loss, with_start
from lws.planner.pods.restart_policy import RestartScope
from lws.planner.pods.size import annotated_size

__all__ = [
    "Member",
    "Membership",
    "after_leader",
    "after_pod",
    "after_policy",
    "after_statefulset",
    "initial",
]

# StatefulSets of earlier lives, kept so that their pods' ends are known for what they are.
_STATEFULSETS_MAX = 8
# Before any pod: what has no time at all is before everything.
_EPOCH = 1.0


def initial(
    *,
    name: str,
    scope: RestartScope,
    size: int,
    leader: Pod | None,
    workers: Iterable[Pod],
    statefulset: StatefulSet | None,
    policy_since: float | None = None,
) -> Membership:
    """What a freshly started controller finds; losses as far as the pods show them."""
    pods = (leader, *workers) if leader is not None else tuple(workers)
    found = after_leader(Membership(name=name, scope=RestartScope.NOTHING), leader)
    if statefulset is not None:
        found = _with_statefulset(found, statefulset)
    for pod in pods:
        found = _with_member(found, pod)
    found = _as_found(replace(found, scope=scope, size=size), pods, policy_since)
    for pod in pods:
        found = _with_shown(found, pod)
    return found if statefulset is None else _with_statefulset_loss(found, statefulset)


def _as_found(membership: Membership, pods: Sequence[Pod], since: float | None) -> Membership:
    """What is not known to have happened while the policy was in force, or after the start."""
    if since is not None:
        forgiven = tuple(pod.metadata.uid for pod in pods if over_before(pod, since))
        membership = replace(membership, forgiven=forgiven)
    if since is not None or membership.scope is RestartScope.AFTER_START:
        ended = {pod.metadata.uid: ended_before(pod, since or _EPOCH) for pod in pods}
        baseline = {uid: counts for uid, counts in ended.items() if counts}
        membership = replace(membership, baseline=baseline)
    started = with_start(membership, with_the_lost=True)
    if started.started is None or any(over_before(pod, started.started) for pod in pods):
        return membership
    return started


def after_policy(membership: Membership, *, scope: RestartScope) -> Membership:
    """The policy of the live set is `scope` now; a switch looks at losses from then on only."""
    if scope is membership.scope:
        return membership
    members = membership.members.values()
    return with_start(
        replace(
            membership,
            scope=scope,
            baseline={member.uid: member.restarts for member in members if member.restarts},
            forgiven=tuple(member.uid for member in members if member.over),
            losses=(),
            started=None,
        )
    )


def after_leader(membership: Membership, leader: Pod | None) -> Membership:
    """The leader pod is this one now; another UID, or none, begins a new life."""
    uid = None if leader is None else leader.metadata.uid
    size = None if leader is None else annotated_size(leader)
    if uid != membership.leader:
        return replace(
            membership,
            leader=uid,
            size=size or membership.size,
            baseline={},
            forgiven=(),
            losses=(),
            started=None,
        )
    if size is not None and size != membership.size:
        return replace(membership, size=size)
    return membership


def after_pod(membership: Membership, *, old: Pod | None, new: Pod | None) -> Membership:
    """A pod of the group was added, changed, replaced under its name (other UID) or removed.

    `old` is the last that was known of it: for a removal, what the watch event carried.
    """
    pod = new or old
    assert pod is not None, "a change has an object"
    if pod.metadata.name == membership.name:
        membership = after_leader(membership, new)
    if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
        membership = _without(membership, old, replaced=new is not None)
    if new is None:
        return membership
    seen = membership.members.get(new.metadata.name)
    if seen is not None and seen.uid != new.metadata.uid:
        membership = _with_gone(membership, new.metadata.name, seen, replaced=True)
    return _with_shown(_with_member(membership, new), new)


def after_statefulset(
    membership: Membership, *, old: StatefulSet | None, new: StatefulSet | None
) -> Membership:
    """The StatefulSet named like the group was added, changed, replaced or removed."""
    assert old is not None or new is not None, "a change has an object"
    for statefulset in (old, new):
        if statefulset is not None:
            membership = _with_statefulset(membership, statefulset)
    if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
        membership = _with_statefulset_loss(membership, old, gone=True)
    if new is not None:
        membership = _with_statefulset_loss(membership, new)
    return membership


def _with_statefulset(membership: Membership, statefulset: StatefulSet) -> Membership:
    """Remember whose it is; an owner that was removed by hand stays remembered."""
    uid = statefulset.metadata.uid
    owner = controller_uid(statefulset.metadata.owner_references)
    if owner is None or membership.statefulsets.get(uid) == owner:
        return membership
    known = [(key, value) for key, value in membership.statefulsets.items() if key != uid]
    latest = dict([*known, (uid, owner)][-_STATEFULSETS_MAX:])
    return with_start(replace(membership, statefulsets=latest))


def _with_statefulset_loss(
    membership: Membership, statefulset: StatefulSet, *, gone: bool = False
) -> Membership:
    metadata = statefulset.metadata
    if not gone and metadata.deletion_timestamp is None:
        return membership
    loss = RawLoss(
        kind=LossKind.STATEFULSET,
        pod=metadata.name,
        uid=metadata.uid,
        owner=membership.statefulsets.get(metadata.uid),
        key=RevisionKey(metadata.labels.get(names.REVISION_KEY, "")),
        what=f"worker StatefulSet {metadata.name} was deleted",
    )
    return with_loss(membership, loss)


def _with_member(membership: Membership, pod: Pod) -> Membership:
    """Take in what a pod shows of itself."""
    uid = pod.metadata.uid
    seen = membership.members.get(pod.metadata.name)
    if seen is not None and seen.uid != uid:
        seen = None
    member = Member(
        uid=uid,
        owner=controller_uid(pod.metadata.owner_references) or (seen.owner if seen else None),
        key=pod.metadata.labels.revision_key,
        began=(seen.began if seen else None) or began(pod),
        restarts=restarts(pod),
        over=seen is not None and seen.over,
    )
    # The pod that is lost right now counts as one of the group's when they are counted.
    membership = with_start(_placed(membership, pod.metadata.name, member))
    return _placed(membership, pod.metadata.name, replace(member, over=member.over or is_over(pod)))


def _placed(membership: Membership, name: str, member: Member) -> Membership:
    if membership.members.get(name) == member:
        return membership
    return replace(membership, members={**membership.members, name: member})


def _with_shown(membership: Membership, pod: Pod) -> Membership:
    """Take in the losses that a pod shows; restarts that are of no account are so for good."""
    uid = pod.metadata.uid
    kinds = set()
    for loss in shown(pod, known=membership.baseline.get(uid, ())):
        membership = with_loss(membership, loss)
        kinds.add(loss.kind)
    if LossKind.RESTARTED not in kinds or membership.scope is not RestartScope.AFTER_START:
        return membership
    if any(loss.uid == uid for loss in membership.losses):
        return membership
    return replace(membership, baseline={**membership.baseline, uid: restarts(pod)})


def _without(membership: Membership, pod: Pod, *, replaced: bool) -> Membership:
    """A pod is gone; what was last known of it counts, also where it was never seen before."""
    name = pod.metadata.name
    seen = membership.members.get(name)
    if seen is None or seen.uid != pod.metadata.uid:
        gone = Member(
            uid=pod.metadata.uid,
            owner=controller_uid(pod.metadata.owner_references),
            key=pod.metadata.labels.revision_key,
        )
        return _with_gone(_with_shown(membership, pod), name, gone, replaced=replaced)
    membership = _with_shown(_with_member(membership, pod), pod)
    seen = membership.members[name]
    rest = {key: member for key, member in membership.members.items() if key != name}
    membership = replace(membership, members=rest)
    return _with_gone(membership, name, seen, replaced=replaced)


def _with_gone(membership: Membership, name: str, gone: Member, *, replaced: bool) -> Membership:
    loss = RawLoss(
        kind=LossKind.GONE,
        pod=name,
        uid=gone.uid,
        owner=gone.owner,
        key=gone.key,
        what="pod was replaced by another" if replaced else "pod is gone",
    )
    return with_loss(membership, loss)
