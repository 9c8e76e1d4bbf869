"""One pass over one group: what its leader pod needs, in the order of pods.md section 2."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from lws.api.apps import StatefulSet
from lws.api.core import Pod
from lws.api.kinds import Kind
from lws.api.leaderworkerset import StartupPolicy
from lws.planner.actions import Action, Create, Document, MergePatch
from lws.planner.meaning import differing_fields
from lws.planner.pods import events
from lws.planner.pods.facts import counted_loss, is_leader_ready
from lws.planner.pods.gang import Gang, plan_pod_group
from lws.planner.pods.ownership import Owned, ownership
from lws.planner.pods.placement import placement
from lws.planner.pods.services import plan_service
from lws.planner.pods.size import annotated_size, group_size, revision_size
from lws.planner.pods.snapshot import GroupSnapshot
from lws.planner.pods.workers import Group, pod_template, statefulset_body
from lws.planner.roles import telling_of_making

Differing = Callable[[Document, Document], Iterable[str]]
"""Paths at which a live StatefulSet does not say what it should: (should, live) -> paths."""


def _differing(ours: Document, live: Document) -> Iterable[str]:
    return differing_fields(ours, live, kind=Kind.STATEFUL_SET.kind)


def plan_group(
    snapshot: GroupSnapshot, *, differing: Differing = _differing, gang: Gang | None = None
) -> tuple[Action, ...]:
    """What to do for one group; nothing while its leader is absent or on its way out."""
    leader = snapshot.leader
    if leader is None or leader.metadata.deletion_timestamp is not None:
        return ()
    if snapshot.lws.metadata.deletion_timestamp is not None:
        return ()
    if leader.metadata.annotations.leader_name:
        return (_start_ordinal_warning(snapshot, leader),)
    return (
        *_missing_revision(snapshot, leader, gang),
        *plan_pod_group(snapshot, leader, gang),
        *plan_service(snapshot, leader),
        *_plan_workers(snapshot, leader, differing),
    )


def _plan_workers(snapshot: GroupSnapshot, leader: Pod, differing: Differing) -> tuple[Action, ...]:
    size = group_size(leader=leader, revision=snapshot.revision, lws=snapshot.lws)
    if size == 1:
        return ()
    statefulset = snapshot.statefulset
    if statefulset is None:
        return () if _is_lost(snapshot, leader) else _plan_creation(snapshot, leader)
    match ownership(statefulset.metadata, leader=leader):
        case Owned.LEAVING:
            return ()
        case Owned.FOREIGN:
            return (_foreign_warning(snapshot, leader),)
        case Owned.OURS:
            return (
                *_put_back_replicas(snapshot, leader, statefulset),
                *_template_warning(snapshot, leader, statefulset, differing),
            )


def _is_lost(snapshot: GroupSnapshot, leader: Pod) -> bool:
    """Whether this leader had its workers and the group waits to be recreated: now, after a
    backoff, or never. Workers that are made meanwhile would only be made once more."""
    had_workers = leader.metadata.uid in snapshot.membership.statefulsets.values()
    return had_workers and counted_loss(snapshot, leader) is not None


def _missing_revision(
    snapshot: GroupSnapshot, leader: Pod, gang: Gang | None
) -> tuple[Action, ...]:
    """What cannot be made without it: the workers, or what the group is scheduled by."""
    if snapshot.revision is not None:
        return ()
    lacks_pod_group = gang is not None and snapshot.pod_group is None
    size = group_size(leader=leader, revision=None, lws=snapshot.lws)
    lacks_workers = size > 1 and snapshot.statefulset is None and not _is_lost(snapshot, leader)
    if lacks_pod_group or (lacks_workers and not _waits_for_leader(snapshot, leader)):
        return (_missing_revision_warning(snapshot, leader, lacks_pod_group=lacks_pod_group),)
    return ()


def _waits_for_leader(snapshot: GroupSnapshot, leader: Pod) -> bool:
    policy = snapshot.lws.spec.startup_policy
    return policy == StartupPolicy.LEADER_READY and not is_leader_ready(leader)


def _plan_creation(snapshot: GroupSnapshot, leader: Pod) -> tuple[Action, ...]:
    name, lws = leader.metadata.name, snapshot.lws
    if snapshot.revision is None or _waits_for_leader(snapshot, leader):
        return ()
    placed = placement(snapshot, leader)
    if placed.node_selector is None:
        return placed.waits
    group = Group(
        lws=lws,
        index=snapshot.index,
        leader=leader,
        revision=snapshot.revision,
        node_selector=placed.node_selector,
    )
    return (
        Create(
            kind=Kind.STATEFUL_SET,
            namespace=leader.metadata.namespace,
            name=name,
            body=statefulset_body(group),
            event=events.normal(
                lws,
                reason=events.GROUPS_PROGRESSING,
                action=events.CREATE,
                note=f"Created worker statefulset for leader pod {name}",
                telling=telling_of_making(lws),
            ),
            failure=events.warning(
                lws,
                reason=events.FAILED_CREATE,
                action=events.CREATE,
                note=f"Failed to create worker statefulset for leader pod {name}",
            ),
        ),
    )


def _put_back_replicas(
    snapshot: GroupSnapshot, leader: Pod, statefulset: StatefulSet
) -> tuple[Action, ...]:
    revision = snapshot.revision
    size = annotated_size(leader) if revision is None else revision_size(revision)
    if size is None or statefulset.spec.replicas == size - 1:
        return ()
    name = statefulset.metadata.name
    return (
        MergePatch(
            kind=Kind.STATEFUL_SET,
            namespace=statefulset.metadata.namespace,
            name=name,
            body={"spec": {"replicas": size - 1}},
            uid=statefulset.metadata.uid,
            event=events.normal(
                snapshot.lws,
                reason=events.REPLICAS_CHANGED,
                action=events.UPDATE,
                note=f"Put replicas of worker statefulset {name} back from "
                f"{statefulset.spec.replicas} to {size - 1}",
            ),
            failure=events.warning(
                snapshot.lws,
                reason=events.FAILED_UPDATE,
                action=events.UPDATE,
                note=f"Failed to put replicas of worker statefulset {name} back to {size - 1}",
            ),
        ),
    )


def _template_warning(
    snapshot: GroupSnapshot, leader: Pod, statefulset: StatefulSet, differing: Differing
) -> tuple[Action, ...]:
    """Putting a template back would restart the group: a person must decide."""
    if statefulset.document is None or snapshot.revision is None:
        return ()
    paths = sorted(differing(*_templates(snapshot, leader, statefulset.document)))
    if not paths:
        return ()
    name = statefulset.metadata.name
    note = (
        f"The pod template of worker statefulset {name} was changed ({', '.join(paths[:5])}); "
        f"it is left as it is, delete leader pod {name} to have the group made anew"
    )
    return (
        events.warning(
            snapshot.lws, reason=events.TEMPLATE_CHANGED, action=events.UPDATE, note=note
        ),
    )


def _templates(snapshot: GroupSnapshot, leader: Pod, document: bytes) -> tuple[Document, Document]:
    """The template that we would write, and the one that stands."""
    assert snapshot.revision is not None, "asked only where there is one"
    group = Group(
        lws=snapshot.lws,
        index=snapshot.index,
        leader=leader,
        revision=snapshot.revision,
        node_selector=placement(snapshot, leader).node_selector or {},
    )
    live: dict[str, Any] = msgspec.json.decode(document)
    standing = {"spec": {"template": (live.get("spec") or {}).get("template") or {}}}
    return {"spec": {"template": pod_template(group)}}, standing


def _start_ordinal_warning(snapshot: GroupSnapshot, leader: Pod) -> Action:
    note = (
        f"Leader pod {leader.metadata.name} carries the annotation of a worker: this cluster does "
        "not support a start ordinal of StatefulSets (Kubernetes before 1.27); "
        "no worker statefulset is made for it"
    )
    return events.warning(
        snapshot.lws, reason=events.NO_START_ORDINAL, action=events.CREATE, note=note
    )


def _foreign_warning(snapshot: GroupSnapshot, leader: Pod) -> Action:
    name = leader.metadata.name
    note = (
        f"StatefulSet {name} exists and does not belong to leader pod {name}, so the group has "
        "no workers of its own; it is left as it is"
    )
    return events.warning(snapshot.lws, reason=events.NOT_OURS, action=events.CREATE, note=note)


def _missing_revision_warning(
    snapshot: GroupSnapshot, leader: Pod, *, lacks_pod_group: bool
) -> Action:
    waiting = "its PodGroup waits" if lacks_pod_group else "its worker statefulset waits"
    note = (
        f"No ControllerRevision with key {leader.metadata.labels.revision_key!r} for leader pod "
        f"{leader.metadata.name}; {waiting} for it"
    )
    return events.warning(
        snapshot.lws, reason=events.MISSING_REVISION, action=events.CREATE, note=note
    )
