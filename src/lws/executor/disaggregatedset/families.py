"""What belongs to one DisaggregatedSet, kept up to date event by event.

An event costs the work of its own object: one LeaderWorkerSet is taken out of the census and put
in anew, its slice is woken, and the set only if the sums moved. All of it could be thrown away and
read again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from lws.api import names
from lws.api.core import Service
from lws.api.disaggregatedset import DisaggregatedSet, RoleScaler
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.ids import UID, RevisionKey
from lws.executor.disaggregatedset.caches import (
    BY_OWNER,
    BY_SCALER,
    DisaggregatedCaches,
    owner_of,
    slice_of,
)
from lws.planner.disaggregatedset.census import Census, Member
from lws.planner.disaggregatedset.identity import (
    WantedRoles,
    lws_digest,
    read_wanted,
    wanted_key,
)
from lws.planner.disaggregatedset.snapshot import RoleSet, place_of
from lws.runtime.reflection import Change


class DisaggregatedKey(NamedTuple):
    """A DisaggregatedSet."""

    namespace: str
    name: str


class SliceKey(NamedTuple):
    """One slice of a DisaggregatedSet."""

    namespace: str
    ds: str
    slice_index: int


@dataclass(slots=True)
class DisaggregatedFamily:
    """One life of a DisaggregatedSet and its LeaderWorkerSets."""

    uid: UID
    generation: int
    wanted: WantedRoles
    census: Census = field(default_factory=Census)
    members: dict[UID, tuple[int, Member]] = field(default_factory=dict)
    """By UID of the LeaderWorkerSet: its generation, and what the census has of it."""

    @property
    def key(self) -> RevisionKey:
        """Of the wanted revision."""
        return wanted_key(self.wanted, self.census.templates)


class DisaggregatedFamilies:
    """By DisaggregatedSet; `wake_set` and `wake_slice` are called when there may be work."""

    def __init__(
        self,
        caches: DisaggregatedCaches,
        *,
        wake_set: Callable[[DisaggregatedKey], None],
        wake_slice: Callable[[SliceKey], None],
    ) -> None:
        self._caches = caches
        self._wake_set = wake_set
        self._wake_slice = wake_slice
        self._families: dict[DisaggregatedKey, DisaggregatedFamily] = {}
        self._keys: dict[UID, DisaggregatedKey] = {}
        self._started = False
        caches.sets.add_handler(self._on_set)
        caches.leaderworkersets.add_handler(self._on_lws)
        caches.services.add_handler(self._on_service)
        caches.scalers.add_handler(self._on_scaler)

    def start(self) -> None:
        """From here on events count; called once every cache has its first list."""
        self._started = True
        self._caches.sets.replay(lambda change: self._adopt(change.latest))

    def wake_all(self) -> None:
        """Look at everything once."""
        for key in self._families:
            self._wake_all_of(key)

    def get(self, key: DisaggregatedKey) -> DisaggregatedFamily | None:
        """The family of a set, None if there is no such set."""
        return self._families.get(key)

    def slices(self, key: DisaggregatedKey) -> set[int]:
        """Slices that are wanted, and those of which something is left."""
        ds = self._caches.sets.store.get(namespace=key.namespace, name=key.name)
        family = self._families.get(key)
        if ds is None or family is None:
            return set()
        services = self._caches.services.store.by_index(BY_OWNER, family.uid)
        left = [place[1] for one in services if (place := slice_of(one)) is not None]
        return {*range(ds.spec.slices), *family.census.slices, *left}

    def _wake_all_of(self, key: DisaggregatedKey) -> None:
        for index in sorted(self.slices(key)):
            self._wake_slice(SliceKey(*key, index))
        self._wake_set(key)

    # Events

    def _on_set(self, change: Change[DisaggregatedSet]) -> None:
        if not self._started:
            return
        meta = change.latest.metadata
        key = DisaggregatedKey(meta.namespace, meta.name)
        if change.new is None:
            family = self._families.pop(key, None)
            if family is not None:
                self._keys.pop(family.uid, None)
            self._wake_set(key)
            return
        family = self._families.get(key)
        if family is None or family.uid != meta.uid:
            self._adopt(change.new)
            self._wake_all_of(key)
        elif family.generation != meta.generation or _ends(change):
            family.generation, family.wanted = meta.generation, read_wanted(change.new)
            self._wake_all_of(key)
        else:
            self._wake_set(key)

    def _adopt(self, ds: DisaggregatedSet) -> None:
        meta = ds.metadata
        key = DisaggregatedKey(meta.namespace, meta.name)
        family = DisaggregatedFamily(meta.uid, meta.generation, read_wanted(ds))
        self._families[key] = family
        self._keys[meta.uid] = key
        for lws in self._caches.leaderworkersets.store.by_index(BY_OWNER, meta.uid):
            self._count(key, family, lws)

    def _on_lws(self, change: Change[LeaderWorkerSet]) -> None:
        for lws in _distinct(change):
            owner = owner_of(lws.metadata)
            key = None if owner is None else self._keys.get(owner[0])
            if key is not None:
                self._look(key, lws, gone=lws is not change.new)
            elif change.new is None:
                self._make_room(lws)

    def _make_room(self, lws: LeaderWorkerSet) -> None:
        """Something that was not ours is gone: whose place it may have taken looks again."""
        meta = lws.metadata
        key = DisaggregatedKey(meta.namespace, meta.labels.get(names.DS_NAME, ""))
        if key in self._families:
            self._wake_slice(SliceKey(*key, place_of(lws, ds=key.name).slice_index))

    def _look(self, key: DisaggregatedKey, lws: LeaderWorkerSet, *, gone: bool) -> None:
        """Count one LeaderWorkerSet anew, and wake whom that concerns."""
        family = self._families[key]
        wanted, known = family.key, family.members.get(lws.metadata.uid)
        if not gone and lws.metadata.deletion_timestamp is None:
            self._count(key, family, lws)
        elif known is not None:
            family.census.remove(known[1])
            del family.members[lws.metadata.uid]
        if family.key != wanted:
            self._wake_all_of(key)
            return
        place = slice_of(lws)
        if place is not None:
            self._wake_slice(SliceKey(*key, place[1]))
        if family.members.get(lws.metadata.uid) != known:
            self._wake_set(key)

    def _count(
        self, key: DisaggregatedKey, family: DisaggregatedFamily, lws: LeaderWorkerSet
    ) -> None:
        """Put what it is now in the place of what was known of it."""
        meta = lws.metadata
        if meta.deletion_timestamp is not None:
            return
        known = family.members.get(meta.uid)
        if known is not None and known[0] == meta.generation:
            digest = known[1].digest
        else:
            digest = lws_digest(lws)
        place = place_of(lws, ds=key.name)
        member = Member(
            role=place.role,
            revision=place.revision,
            slice_index=place.slice_index,
            digest=digest,
            wanted=RoleSet(lws, place).replicas,
            replicas=lws.status.replicas,
            ready=lws.status.ready_replicas,
            updated=lws.status.updated_replicas,
        )
        if known is not None:
            if known[1] == member:
                family.members[meta.uid] = (meta.generation, member)
                return
            family.census.remove(known[1])
        family.census.add(member)
        family.members[meta.uid] = (meta.generation, member)

    def _on_service(self, change: Change[Service]) -> None:
        for service in _distinct(change):
            place = slice_of(service)
            key = None if place is None else self._keys.get(place[0])
            if place is not None and key is not None:
                self._wake_slice(SliceKey(*key, place[1]))

    def _on_scaler(self, change: Change[RoleScaler]) -> None:
        """Whose it is, and whoever would like to have one of that name."""
        meta = change.latest.metadata
        owner = owner_of(meta)
        keys = {self._keys.get(owner[0])} if owner is not None else set()
        wanting = self._caches.sets.store.by_index(BY_SCALER, (meta.namespace, meta.name))
        keys |= {DisaggregatedKey(ds.metadata.namespace, ds.metadata.name) for ds in wanting}
        told = change.old is not None and change.new is not None and _says_same(change)
        for key in keys:
            if key is None or key not in self._families:
                continue
            if told:
                self._wake_set(key)
            else:
                self._wake_all_of(key)


def _ends(change: Change[DisaggregatedSet]) -> bool:
    return change.latest.metadata.deletion_timestamp is not None


def _says_same(change: Change[RoleScaler]) -> bool:
    old, new = change.old, change.new
    assert old is not None
    assert new is not None
    return (
        old.spec == new.spec
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        and old.metadata.owner_references == new.metadata.owner_references
    )


_Thing = TypeVar("_Thing", LeaderWorkerSet, Service)


def _distinct(change: Change[_Thing]) -> Iterable[_Thing]:
    """The new one; the old one too where it belonged elsewhere."""
    if change.new is None:
        return [change.latest]
    if change.old is not None and slice_of(change.old) != slice_of(change.new):
        return [change.old, change.new]
    return [change.new]
