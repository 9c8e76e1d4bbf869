"""Cache to snapshot: of a DisaggregatedSet as a whole, and of one slice of it."""

from lws.api import names
from lws.api.disaggregatedset import DisaggregatedSet
from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.executor.disaggregatedset.caches import (
    BY_OWNER,
    BY_SLICE,
    DisaggregatedCaches,
    owner_of,
)
from lws.executor.disaggregatedset.families import (
    DisaggregatedFamilies,
    DisaggregatedKey,
    SliceKey,
)
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.foreign import ForeignObjects
from lws.planner.disaggregatedset.snapshot import (
    ForeignObject,
    RoleSet,
    ScalerViews,
    SetSnapshot,
    SliceSnapshot,
    place_of,
)


class DisaggregatedObserver:
    """Builds snapshots out of the caches; asks the API server nothing."""

    def __init__(
        self,
        *,
        caches: DisaggregatedCaches,
        families: DisaggregatedFamilies,
        foreign: ForeignObjects,
        reports: Reports,
        clock: Clock,
    ) -> None:
        self._caches = caches
        self._families = families
        self._foreign = foreign
        self._reports = reports
        self._clock = clock

    def set(self, key: DisaggregatedKey) -> SetSnapshot | None:
        """None: there is no such set."""
        ds = self._caches.sets.store.get(namespace=key.namespace, name=key.name)
        family = self._families.get(key)
        if ds is None or family is None:
            return None
        wanted = family.key
        return SetSnapshot(
            ds=ds,
            wanted=family.wanted,
            key=wanted,
            totals={role.name: family.census.role(role.name, key=wanted) for role in ds.spec.roles},
            own_scalers=tuple(self._caches.scalers.store.by_index(BY_OWNER, ds.metadata.uid)),
            scalers=self._scalers(ds),
            reports=self._reports.of(key),
            foreign=self._foreign_of(key),
            now=self._clock.now(),
        )

    def slice(self, key: SliceKey) -> SliceSnapshot | None:
        """None: there is no such set."""
        name = DisaggregatedKey(key.namespace, key.ds)
        ds = self._caches.sets.store.get(namespace=key.namespace, name=key.ds)
        family = self._families.get(name)
        if ds is None or family is None:
            return None
        place = ds.metadata.uid, key.slice_index
        sets = self._caches.leaderworkersets.store.by_index(BY_SLICE, place)
        return SliceSnapshot(
            ds=ds,
            wanted=family.wanted,
            key=family.key,
            slice_index=key.slice_index,
            sets=tuple(RoleSet(lws, place_of(lws, ds=key.ds)) for lws in sets),
            services=tuple(self._caches.services.store.by_index(BY_SLICE, place)),
            scalers=self._scalers(ds),
            foreign=self._foreign_of(name),
            now=self._clock.now(),
        )

    def _foreign_of(self, key: DisaggregatedKey) -> frozenset[ForeignObject]:
        """What was met in our place; that a LeaderWorkerSet has gone, the cache shows."""
        sets = self._caches.leaderworkersets.store
        return frozenset(
            (kind, name)
            for kind, name in self._foreign.of(key)
            if kind is not Kind.LEADER_WORKER_SET
            or sets.get(namespace=key.namespace, name=name) is not None
        )

    def _scalers(self, ds: DisaggregatedSet) -> ScalerViews:
        """By name: a scaler that is not ours is a conflict also where it looks like ours."""
        replicas: dict[str, int] = {}
        conflicts: set[str] = set()
        for role in ds.spec.roles:
            if not role.is_external:
                continue
            name = names.role_scaler(ds=ds.metadata.name, role=role.name)
            scaler = self._caches.scalers.store.get(namespace=ds.metadata.namespace, name=name)
            if scaler is None:
                continue
            owner = owner_of(scaler.metadata)
            if owner is None or owner[0] != ds.metadata.uid:
                conflicts.add(role.name)
            elif scaler.metadata.deletion_timestamp is None:
                replicas[role.name] = max(0, scaler.spec.replicas)
        return ScalerViews(replicas=replicas, conflicts=frozenset(conflicts))
