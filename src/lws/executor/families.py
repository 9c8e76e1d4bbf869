"""What belongs to one LeaderWorkerSet, kept up to date event by event.

A pod event costs the work of its own group: the group's facts are read anew, and the set is woken
only if they changed. The membership of a group is the one thing here that the cluster does not
show (who was there before); all else could be thrown away and read again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lws.api import names
from lws.api.apps import ControllerRevision, StatefulSet
from lws.api.core import Pod, PodGroup, Service
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.api.meta import ObjectMeta
from lws.base.ids import UID, RevisionKey
from lws.base.times import parse_time
from lws.executor.caches import (
    BY_GROUP,
    BY_OWNER,
    BY_SET,
    Caches,
    group_index,
    index_in,
    pod_set,
)
from lws.executor.recorded import RecordedTemplates
from lws.planner.pods import membership as members
from lws.planner.pods.facts import group_facts
from lws.planner.pods.gang import pod_group_name
from lws.planner.pods.membership import Membership
from lws.planner.pods.restart_policy import RestartScope, restart_scope
from lws.planner.pods.size import group_size
from lws.planner.pods.snapshot import GroupFacts, GroupSnapshot, LeaderNode
from lws.planner.revision import Revision
from lws.runtime.reflection import Change


class SetKey(NamedTuple):
    """A LeaderWorkerSet."""

    namespace: str
    name: str


class GroupKey(NamedTuple):
    """One group of a LeaderWorkerSet."""

    namespace: str
    lws: str
    group: int


@dataclass(slots=True)
class _Group:
    membership: Membership
    facts: GroupFacts


@dataclass(slots=True)
class Family:
    """One life of a LeaderWorkerSet and its groups."""

    uid: UID
    scope: RestartScope
    groups: dict[int, _Group] = field(default_factory=dict)


class Families:
    """By LeaderWorkerSet; `wake_set` and `wake_group` are called when there may be work."""

    def __init__(
        self,
        caches: Caches,
        *,
        wake_set: Callable[[SetKey], None],
        wake_group: Callable[[GroupKey], None],
    ) -> None:
        self._caches = caches
        self._wake_set = wake_set
        self._wake_group = wake_group
        self._families: dict[SetKey, Family] = {}
        self._templates = RecordedTemplates()
        self._started = False
        caches.sets.add_handler(self._on_set)
        caches.pods.add_handler(self._on_pod)
        caches.statefulsets.add_handler(self._on_statefulset)
        caches.services.add_handler(self._on_service)
        caches.revisions.add_handler(self._on_revision)
        caches.retired.add_handler(self._on_revision)
        if caches.pod_groups is not None:
            caches.pod_groups.add_handler(self._on_pod_group)

    def start(self) -> None:
        """From here on events count; called once every cache has its first list."""
        self._started = True
        self._caches.sets.replay(lambda change: self._adopt(change.latest))

    def wake_all(self) -> None:
        """Look at everything once."""
        for key, family in self._families.items():
            self._wake_set(key)
            for index in family.groups:
                self._wake_group(GroupKey(*key, index))

    def facts(self, key: SetKey) -> tuple[GroupFacts, ...]:
        """Of every group of which anything exists, by index."""
        family = self._families.get(key)
        if family is None:
            return ()
        return tuple(group.facts for _, group in sorted(family.groups.items()))

    def revisions(self, lws: LeaderWorkerSet) -> tuple[Revision, ...]:
        """All of a LeaderWorkerSet by owner UID, active and retired, that can be read."""
        return tuple(self._revisions(lws))

    def _revisions(self, lws: LeaderWorkerSet) -> Iterator[Revision]:
        for informer in (self._caches.revisions, self._caches.retired):
            for recorded in informer.store.by_index(BY_OWNER, lws.metadata.uid):
                revision = self._templates.read(recorded)
                if revision is not None:
                    yield revision

    def group(self, key: GroupKey, *, node: LeaderNode | None = None) -> GroupSnapshot | None:
        """A picture of one group; None if the set is gone or nothing of the group exists."""
        family = self._families.get(SetKey(key.namespace, key.lws))
        if family is None or key.group not in family.groups:
            return None
        return self._snapshot(key, family.groups[key.group].membership, node=node)

    def _adopt(self, lws: LeaderWorkerSet) -> None:
        """A new life: who is there now is who was always there."""
        key = SetKey(lws.metadata.namespace, lws.metadata.name)
        family = Family(lws.metadata.uid, restart_scope(lws))
        self._families[key] = family
        for index in sorted(self._indexes(key)):
            self._look(GroupKey(*key, index))

    def _indexes(self, key: SetKey) -> set[int]:
        pods = self._caches.pods.store.by_index(BY_SET, tuple(key))
        found = {group_index(pod) for pod in pods}
        found |= {
            _worker_index(statefulset)
            for statefulset in self._caches.statefulsets.store.by_index(BY_SET, tuple(key))
        }
        return {index for index in found if index is not None}

    def _on_set(self, change: Change[LeaderWorkerSet]) -> None:
        if not self._started:
            return
        lws = change.new or change.old
        assert lws is not None, "a change has an object"
        key = SetKey(lws.metadata.namespace, lws.metadata.name)
        if change.new is None:
            self._families.pop(key, None)
            self._wake_set(key)
            return
        family = self._families.get(key)
        if family is None or family.uid != lws.metadata.uid:
            self._adopt(lws)
            family = self._families[key]
            for index in family.groups:
                self._wake_group(GroupKey(*key, index))
        elif family.scope is not restart_scope(lws):
            self._switch(key, family, restart_scope(lws))
        self._wake_set(key)

    def _switch(self, key: SetKey, family: Family, scope: RestartScope) -> None:
        """Another restart policy: losses count from now on."""
        family.scope = scope
        for index, group in family.groups.items():
            group.membership = members.after_policy(group.membership, scope=scope)
            self._look(GroupKey(*key, index))
            self._wake_group(GroupKey(*key, index))

    def _on_pod(self, change: Change[Pod]) -> None:
        pod = change.new or change.old
        assert pod is not None, "a change has an object"
        index = group_index(pod)
        if not self._started or index is None:
            return
        key = GroupKey(*pod_set(pod), index)
        self._moved(key, lambda found: members.after_pod(found, old=change.old, new=change.new))
        if pod.metadata.name == names.leader_pod_name(key.lws, key.group):
            self._wake_group(key)

    def _on_statefulset(self, change: Change[StatefulSet]) -> None:
        statefulset = change.new or change.old
        assert statefulset is not None, "a change has an object"
        if not self._started:
            return
        meta = statefulset.metadata
        lws = meta.labels.get(names.NAME, "")
        index = _worker_index(statefulset)
        if index is None or meta.name == lws:
            self._wake_set(SetKey(meta.namespace, lws))
            self._moved_place(meta)
            return
        key = GroupKey(meta.namespace, lws, index)
        self._moved(
            key, lambda found: members.after_statefulset(found, old=change.old, new=change.new)
        )
        self._wake_group(key)
        self._moved_place(meta, known=key)

    def _on_service(self, change: Change[Service]) -> None:
        service = change.new or change.old
        assert service is not None, "a change has an object"
        meta = service.metadata
        self._wake_set(SetKey(meta.namespace, meta.labels.get(names.NAME, "")))
        self._moved_place(meta)

    def _on_pod_group(self, change: Change[PodGroup]) -> None:
        meta = change.latest.metadata
        index = index_in(meta.labels.get(names.GROUP_INDEX, ""))
        if index is not None:
            self._wake_group(GroupKey(meta.namespace, meta.labels.get(names.NAME, ""), index))
        group, _, _ = meta.name.rpartition("-")
        place = self._place(meta.namespace, group)
        if place is not None:
            self._wake_group(place)

    def _moved_place(self, meta: ObjectMeta, *, known: GroupKey | None = None) -> None:
        """Something came to or went from where a group has its own, whatever its labels say."""
        key = self._place(meta.namespace, meta.name)
        if key is not None and key != known:
            self._moved(key, lambda found: found)
            self._wake_group(key)

    def _place(self, namespace: str, name: str) -> GroupKey | None:
        """The group of that name, if there is one."""
        lws, _, _ = name.rpartition("-")
        index, family = names.ordinal(name), self._families.get(SetKey(namespace, lws))
        if index is None or family is None or index not in family.groups:
            return None
        key = GroupKey(namespace, lws, index)
        return key if name == names.leader_pod_name(lws, index) else None

    def _on_revision(self, change: Change[ControllerRevision]) -> None:
        recorded = change.new or change.old
        assert recorded is not None, "a change has an object"
        labels = recorded.metadata.labels
        name = labels.get(names.NAME) or labels.get(names.HISTORY_OF, "")
        key = SetKey(recorded.metadata.namespace, name)
        if change.new is None:
            self._templates.forget(recorded)
        elif change.old is None:
            self._wake_groups_of(key, RevisionKey(labels.get(names.REVISION_KEY, "")))
        self._wake_set(key)

    def _wake_groups_of(self, key: SetKey, revision: RevisionKey) -> None:
        """Groups that may have waited for this revision to be there."""
        family, has_gangs = self._families.get(key), self._caches.pod_groups is not None
        for index, group in family.groups.items() if family else ():
            if group.facts.key == revision and (has_gangs or not group.facts.complete):
                self._wake_group(GroupKey(*key, index))

    def _moved(self, key: GroupKey, moved: Callable[[Membership], Membership]) -> None:
        """Something of a group changed: carry its membership on, and read its facts anew."""
        set_key = SetKey(key.namespace, key.lws)
        family = self._families.get(set_key)
        if family is None:
            return
        group = family.groups.get(key.group)
        if group is not None:
            group.membership = moved(group.membership)
        if self._look(key):
            self._wake_set(set_key)

    def _look(self, key: GroupKey) -> bool:
        """Read the facts of a group; whether they are others than before."""
        family = self._families[SetKey(key.namespace, key.lws)]
        group = family.groups.get(key.group)
        if not self._exists(key):
            family.groups.pop(key.group, None)
            return group is not None
        membership = self._initial(key, family) if group is None else group.membership
        snapshot = self._snapshot(key, membership)
        if snapshot is None:
            return False
        facts = group_facts(snapshot)
        family.groups[key.group] = _Group(membership, facts)
        return group is None or group.facts != facts

    def _exists(self, key: GroupKey) -> bool:
        name = names.leader_pod_name(key.lws, key.group)
        if self._caches.pods.store.by_index(BY_GROUP, tuple(key)):
            return True
        return self._statefulset(key.namespace, name) is not None

    def _statefulset(self, namespace: str, name: str) -> StatefulSet | None:
        return self._caches.statefulsets.store.get(namespace=namespace, name=name)

    def _initial(self, key: GroupKey, family: Family) -> Membership:
        blank = Membership(
            name=names.leader_pod_name(key.lws, key.group), scope=RestartScope.NOTHING
        )
        snapshot = self._snapshot(key, blank)
        assert snapshot is not None, "a family has a LeaderWorkerSet"
        return members.initial(
            name=blank.name,
            scope=family.scope,
            size=group_size(leader=snapshot.leader, revision=snapshot.revision, lws=snapshot.lws),
            leader=snapshot.leader,
            workers=snapshot.workers,
            statefulset=snapshot.statefulset,
            policy_since=self._policy_since(snapshot),
        )

    def _policy_since(self, snapshot: GroupSnapshot) -> float | None:
        """Since when the live policy holds, where the group is of a revision with another."""
        revision = snapshot.revision
        if revision is None:
            return None
        own = revision.template.leader_worker_template.restart_policy
        if own == snapshot.lws.spec.leader_worker_template.restart_policy:
            return None
        newest = max(self._revisions(snapshot.lws), key=lambda one: one.number)
        return parse_time(newest.created)

    def _snapshot(
        self, key: GroupKey, membership: Membership, *, node: LeaderNode | None = None
    ) -> GroupSnapshot | None:
        lws = self._caches.sets.store.get(namespace=key.namespace, name=key.lws)
        if lws is None:
            return None
        name = names.leader_pod_name(key.lws, key.group)
        pods = self._caches.pods.store.by_index(BY_GROUP, tuple(key))
        leader = self._caches.pods.store.get(namespace=key.namespace, name=name)
        return GroupSnapshot(
            lws=lws,
            index=key.group,
            leader=leader,
            workers=tuple(pod for pod in pods if pod.metadata.name != name),
            statefulset=self._statefulset(key.namespace, name),
            service=self._caches.services.store.get(namespace=key.namespace, name=name),
            revision=self._revision_of(lws, leader),
            pod_group=self._pod_group(key, leader),
            node=node,
            membership=membership,
        )

    def _pod_group(self, key: GroupKey, leader: Pod | None) -> PodGroup | None:
        if self._caches.pod_groups is None or leader is None:
            return None
        name = pod_group_name(lws=key.lws, group=key.group, key=leader.metadata.labels.revision_key)
        return self._caches.pod_groups.store.get(namespace=key.namespace, name=name)

    def _revision_of(self, lws: LeaderWorkerSet, leader: Pod | None) -> Revision | None:
        """Of several with one key the highest number counts."""
        if leader is None:
            return None
        key = leader.metadata.labels.revision_key
        same = [revision for revision in self._revisions(lws) if revision.key == key]
        return max(same, key=lambda one: one.number, default=None)


def _worker_index(statefulset: StatefulSet) -> int | None:
    return index_in(statefulset.metadata.labels.get(names.GROUP_INDEX, ""))
