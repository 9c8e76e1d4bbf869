"""When an update is over, its older revisions are put away (leaderworkerset.md step 9)."""

from lws.api import names
from lws.api.kinds import Kind
from lws.base.ids import RevisionKey
from lws.planner.actions import Action, Delete, MergePatch
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.statefulset import standing
from lws.planner.leaderworkerset.values import partition_of, replicas_of
from lws.planner.revision import Revision

HISTORY_LIMIT = 10
"""Default of spec.revisionHistoryLimit (section 7)."""


def retire(snapshot: LeaderWorkerSetSnapshot, *, wanted: RevisionKey) -> tuple[Action, ...]:
    """Retire every revision that nothing names any more; delete what is beyond the limit."""
    if not _is_over(snapshot, wanted):
        return ()
    named = frozenset[RevisionKey]().union(*(facts.keys for facts in snapshot.groups))
    idle = [r for r in snapshot.revisions if r.key != wanted and r.key not in named]
    idle.sort(key=lambda revision: (-revision.number, revision.name))
    limit = snapshot.lws.spec.revision_history_limit
    kept = HISTORY_LIMIT if limit is None else max(0, limit)
    retiring = tuple(_retire(snapshot, r) for r in idle[:kept] if not r.retired)
    deleting = tuple(_delete(snapshot, r) for r in idle[kept:])
    return retiring + deleting


def _is_over(snapshot: LeaderWorkerSetSnapshot, wanted: RevisionKey) -> bool:
    """Whether all groups there should be are there, ready and of the wanted revision, and none
    that came back now would be of another: the StatefulSet holds back no more than is asked for."""
    if snapshot.statefulset is None:
        return False
    replicas, stands = replicas_of(snapshot.lws), standing(snapshot)
    if (stands.replicas, stands.key, stands.on_delete) != (replicas, wanted, False):
        return False
    if stands.partition != partition_of(snapshot.lws):
        return False
    current = [facts for facts in snapshot.groups if facts.index < replicas]
    return len(current) == replicas and all(
        facts.ready and facts.updated_key == wanted for facts in current
    )


def _retire(snapshot: LeaderWorkerSetSnapshot, revision: Revision) -> MergePatch:
    lws = snapshot.lws.metadata
    labels = {names.NAME: None, names.HISTORY_OF: lws.name}
    return MergePatch(
        kind=Kind.CONTROLLER_REVISION,
        namespace=lws.namespace,
        name=revision.name,
        body={"metadata": {"labels": labels}},
        uid=revision.uid,
    )


def _delete(snapshot: LeaderWorkerSetSnapshot, revision: Revision) -> Delete:
    return Delete(
        kind=Kind.CONTROLLER_REVISION,
        namespace=snapshot.lws.metadata.namespace,
        name=revision.name,
        uid=revision.uid,
    )
