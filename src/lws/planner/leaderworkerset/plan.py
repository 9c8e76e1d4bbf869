"""One pass over one LeaderWorkerSet: the pipeline of leaderworkerset.md section 1, in its order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lws.api import names
from lws.api.kinds import Kind
from lws.api.leaderworkerset import GroupRestart, SubdomainPolicy
from lws.base.ids import UID, RevisionKey
from lws.planner.actions import (
    Action,
    Apply,
    Create,
    Delete,
    Emit,
    EventType,
    Propagation,
)
from lws.planner.leaderworkerset import rollout_values as rollout
from lws.planner.leaderworkerset import statefulset as leader
from lws.planner.leaderworkerset.condemned import Condemned, condemned
from lws.planner.leaderworkerset.retirement import retire
from lws.planner.leaderworkerset.revisions import (
    RevisionStep,
    owner_reference,
    reference,
    revision_step,
)
from lws.planner.leaderworkerset.rollout import next_rollout
from lws.planner.leaderworkerset.snapshot import Foreign, LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.values import budgets_of, partition_of, replicas_of
from lws.planner.pods.restart import RestartPlan, plan_restarts
from lws.planner.pods.snapshot import GroupFacts
from lws.planner.roles import telling_of_making

LONG_UNREADY_SECONDS = 30.0
"""From here on a group that is not ready may be healed out of order (section 3)."""

SAFETY_SECONDS = 30.0
"""Look again at what an event should have told us of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do, in strands that do not depend on each other.

    A failure drops the rest of its own strand only. `restart_deletes` come after the status is
    written, since that is where `restarts` are remembered.
    """

    strands: tuple[tuple[Action, ...], ...] = ()
    restarts: tuple[GroupRestart, ...] = ()
    restart_deletes: tuple[Delete, ...] = ()
    failed_groups: tuple[int, ...] = ()
    wanted: RevisionKey = RevisionKey("")
    wake_after: float | None = None
    writes_status: bool = True


def plan(snapshot: LeaderWorkerSetSnapshot) -> Plan:
    """What this pass does."""
    lws = snapshot.lws
    if lws.metadata.deletion_timestamp is not None:
        return Plan(writes_status=False)
    statefulset = snapshot.statefulset
    if statefulset is not None and statefulset.metadata.deletion_timestamp is not None:
        rows = lws.status.group_restarts
        return Plan(restarts=rows, wanted=_standing_key(snapshot), wake_after=SAFETY_SECONDS)
    if any(item.name == lws.metadata.name for item in _foreign(snapshot, Kind.STATEFUL_SET)):
        return Plan(restarts=lws.status.group_restarts, wake_after=SAFETY_SECONDS)
    step = revision_step(snapshot)
    too_many = condemned(snapshot)
    rolling = _rollout(snapshot, step, too_many)
    taken = {action.uid for action in rolling if isinstance(action, Delete)}
    restarts = _restarts(snapshot, taken=taken)
    return Plan(
        strands=(
            (*step.actions, *rolling),
            _service(snapshot),
            retire(snapshot, wanted=step.key),
        ),
        restarts=restarts.restarts,
        restart_deletes=restarts.deletes,
        failed_groups=restarts.failed_groups,
        wanted=step.key,
        wake_after=_wake_after(snapshot, step, restarts, too_many),
    )


def _foreign(snapshot: LeaderWorkerSetSnapshot, kind: Kind) -> list[Foreign]:
    return [item for item in snapshot.foreign if item.kind is kind]


def _standing_key(snapshot: LeaderWorkerSetSnapshot) -> RevisionKey:
    assert snapshot.statefulset is not None, "asked only where it stands"
    return snapshot.statefulset.revision_key


def _restarts(snapshot: LeaderWorkerSetSnapshot, *, taken: set[UID]) -> RestartPlan:
    """Groups to recreate, less those that the rollout replaces in this very pass."""
    facts = [one for one in snapshot.groups if one.leader_uid not in taken]
    return plan_restarts(lws=snapshot.lws, facts=facts, now=snapshot.now)


def _rollout(
    snapshot: LeaderWorkerSetSnapshot, step: RevisionStep, too_many: Condemned
) -> tuple[Action, ...]:
    """Step 5 and 6: one apply, or some deletions, or nothing."""
    lws = snapshot.lws
    if snapshot.statefulset is None:
        first = leader.first_rollout(snapshot, key=step.key)
        note = f"Created leader statefulset {lws.metadata.name}"
        return (
            _apply(snapshot, first, verb="Create", reason="FailedCreate"),
            replace(
                _emit(snapshot, "GroupsProgressing", "Create", note),
                telling=telling_of_making(lws),
            ),
        )
    outcome = _decide(snapshot, step)
    writes = [one for one in outcome if isinstance(one, rollout.SetRollout)]
    stands = leader.standing(snapshot)
    unchanged = rollout.SetRollout(
        replicas=stands.replicas,
        partition=stands.partition,
        on_delete=stands.on_delete,
        key=stands.key,
    )
    target = writes[0] if writes else unchanged
    if writes or leader.differs(snapshot, target):
        apply = _apply(snapshot, target, verb="Update", reason="FailedUpdate")
        return (apply, *_told(snapshot, stands, target))
    ordinals = [one.ordinal for one in outcome if isinstance(one, rollout.DeleteLeader)]
    if stands.observed and not ordinals:
        return tuple(_remove(snapshot, facts) for facts in too_many.due)
    return tuple(_delete_leader(snapshot, ordinal, stands.on_delete) for ordinal in ordinals)


def _decide(
    snapshot: LeaderWorkerSetSnapshot, step: RevisionStep
) -> Sequence[rollout.SetRollout | rollout.DeleteLeader]:
    lws = snapshot.lws
    budgets = budgets_of(lws)
    return next_rollout(
        replicas=replicas_of(lws),
        surge=budgets.surge,
        unavailable=budgets.unavailable,
        partition=partition_of(lws),
        wanted=step.key,
        statefulset=leader.standing(snapshot),
        groups=_groups(snapshot),
        paused=lws.spec.paused,
        handing_over=snapshot.handing_over,
    )


_MISSING = rollout.Group(key=None, ready=False, long_unready=False)


def _groups(snapshot: LeaderWorkerSetSnapshot) -> list[rollout.Group]:
    """By ordinal, those of which nothing exists too; none that there can be no room for, since an
    index is what a pod's name or label says, and anybody may write a large number there."""
    assert snapshot.statefulset is not None, "groups are counted against the StatefulSet"
    room = replicas_of(snapshot.lws) + budgets_of(snapshot.lws).surge
    statefulset = snapshot.statefulset
    groups = [_MISSING] * max(statefulset.spec.replicas, statefulset.status.replicas, room)
    since = snapshot.now - LONG_UNREADY_SECONDS
    for facts in snapshot.groups:
        if facts.index >= len(groups):
            break
        groups[facts.index] = rollout.Group(
            key=facts.key,
            ready=facts.ready,
            long_unready=facts.unready_since is not None and facts.unready_since <= since,
        )
    return groups


def _apply(
    snapshot: LeaderWorkerSetSnapshot, target: rollout.SetRollout, *, verb: str, reason: str
) -> Apply:
    lws = snapshot.lws
    statefulset = snapshot.statefulset
    note = f"Applying leader statefulset {lws.metadata.name}"
    return Apply(
        kind=Kind.STATEFUL_SET,
        namespace=lws.metadata.namespace,
        name=lws.metadata.name,
        body=leader.body(snapshot, target),
        uid=None if statefulset is None else statefulset.metadata.uid,
        resource_version=None if statefulset is None else statefulset.metadata.resource_version,
        failure=Emit(reference(lws), EventType.WARNING, reason, verb, note),
    )


def _told(
    snapshot: LeaderWorkerSetSnapshot,
    stands: rollout.LeaderStatefulSet,
    target: rollout.SetRollout,
) -> list[Emit]:
    """The events of an apply, in the words of section 4."""
    events = []
    top = min(stands.partition, target.replicas) if stands.key == target.key else target.replicas
    if target.partition < top:
        first, last = target.partition, top - 1
        note = (
            f"Updating replica {first}"
            if first == last
            else f"Updating replicas {first} to {last} (inclusive)"
        )
        events.append(_emit(snapshot, "GroupsUpdating", "Update", note))
    replicas = replicas_of(snapshot.lws)
    if replicas <= target.replicas < stands.replicas and stands.applied_replicas <= replicas:
        name, first, last = snapshot.lws.metadata.name, target.replicas, stands.replicas - 1
        note = (
            f"deleting surge replica {name}-{first}"
            if first == last
            else f"deleting surge replicas from {first} to {last}"
        )
        events.append(_emit(snapshot, "GroupsProgressing", "Delete", note))
    return events


def _emit(snapshot: LeaderWorkerSetSnapshot, reason: str, verb: str, note: str) -> Emit:
    return Emit(reference(snapshot.lws), EventType.NORMAL, reason, verb, note)


def _delete_leader(snapshot: LeaderWorkerSetSnapshot, ordinal: int, healing: bool) -> Delete:
    """Foreground, so that its workers go first; a healed one that has recovered survives."""
    facts = next(facts for facts in snapshot.groups if facts.index == ordinal)
    assert facts.leader_uid is not None, "only a leader that lives is deleted"
    return Delete(
        kind=Kind.POD,
        namespace=snapshot.lws.metadata.namespace,
        name=facts.leader,
        uid=facts.leader_uid,
        resource_version=facts.leader_resource_version if healing else None,
        propagation=Propagation.FOREGROUND,
        event=_emit(snapshot, "GroupsUpdating", "Update", f"Updating replica {ordinal}"),
    )


def _remove(snapshot: LeaderWorkerSetSnapshot, facts: GroupFacts) -> Delete:
    """In the StatefulSet controller's place, and in its way: the workers go with their leader."""
    assert facts.leader_uid is not None, "only a leader that lives is deleted"
    note = f"Deleting replica {facts.index}, whose room a missing replica needs"
    return Delete(
        kind=Kind.POD,
        namespace=snapshot.lws.metadata.namespace,
        name=facts.leader,
        uid=facts.leader_uid,
        propagation=Propagation.FOREGROUND,
        event=_emit(snapshot, "GroupsProgressing", "Delete", note),
    )


def _service(snapshot: LeaderWorkerSetSnapshot) -> tuple[Action, ...]:
    """Step 7: the headless Service of the shared subdomain (section 5)."""
    lws = snapshot.lws
    if snapshot.service is not None or _foreign(snapshot, Kind.SERVICE):
        return ()
    if not _needs_service(snapshot):
        return ()
    name = lws.metadata.name
    body = {
        "apiVersion": Kind.SERVICE.api_version,
        "kind": Kind.SERVICE.kind,
        "metadata": {
            "name": name,
            "namespace": lws.metadata.namespace,
            "labels": {names.NAME: name},
            "ownerReferences": [owner_reference(lws)],
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {names.NAME: name},
        },
    }
    failure = Emit(
        reference(lws), EventType.WARNING, "FailedCreate", "Create", f"Creating service {name}"
    )
    return (
        Create(
            kind=Kind.SERVICE,
            namespace=lws.metadata.namespace,
            name=name,
            body=body,
            failure=failure,
        ),
    )


def _needs_service(snapshot: LeaderWorkerSetSnapshot) -> bool:
    """Whether a group shares the subdomain: of the wanted revision, or of one that still stands."""
    named = frozenset[RevisionKey]().union(*(facts.keys for facts in snapshot.groups))
    standing = [one.document for one in snapshot.revisions if one.key in named]
    return any(
        (document["networkConfig"].get("subdomainPolicy") or SubdomainPolicy.SHARED)
        == SubdomainPolicy.SHARED
        for document in (snapshot.wanted.document, *standing)
    )


def _wake_after(
    snapshot: LeaderWorkerSetSnapshot,
    step: RevisionStep,
    restarts: RestartPlan,
    too_many: Condemned,
) -> float | None:
    """The next moment at which time alone changes the plan."""
    times = [] if restarts.wake_after is None else [restarts.wake_after]
    times += [
        facts.unready_since + LONG_UNREADY_SECONDS - snapshot.now
        for facts in snapshot.groups
        if facts.unready_since is not None and facts.key not in (None, step.key)
    ]
    times.append(too_many.after)
    if snapshot.foreign:
        times.append(FOREIGN_SECONDS)
    ahead = [seconds for seconds in times if seconds > 0]
    return min(ahead) if ahead else None


FOREIGN_SECONDS = 5.0
"""How often an object in our place is asked whether it is still there."""
