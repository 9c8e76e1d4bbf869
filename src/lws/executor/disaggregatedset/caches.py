"""What the DisaggregatedSet controller watches beyond what the LeaderWorkerSet one does."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lws.api import core, disaggregatedset, leaderworkerset, names
from lws.api.meta import ObjectMeta, controller_uid
from lws.base.clock import Clock
from lws.base.ids import UID
from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.executor.caches import Caches
from lws.planner.disaggregatedset.snapshot import place_of
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics

BY_OWNER = "owner"
"""Index: UID of the controlling DisaggregatedSet."""
BY_SLICE = "slice"
"""Index: (UID of the controlling DisaggregatedSet, slice)."""
BY_SCALER = "scaler"
"""Index of sets: (namespace, name of the scaler that an External role asks for)."""

RoleObject = leaderworkerset.LeaderWorkerSet | core.Service


@dataclass(frozen=True, slots=True)
class DisaggregatedCaches:
    """The informers of the DisaggregatedSet controller; LeaderWorkerSets are shared."""

    sets: Informer[disaggregatedset.DisaggregatedSet]
    scalers: Informer[disaggregatedset.RoleScaler]
    services: Informer[core.Service]
    leaderworkersets: Informer[leaderworkerset.LeaderWorkerSet]

    def own(self) -> tuple[Informer[Any], ...]:
        """Every informer that is not shared, in the order in which they are started."""
        return self.sets, self.scalers, self.services

    def check(self) -> str | None:
        """For the readiness probe: which first lists are missing."""
        missing = [one.resource.plural for one in self.own() if not one.is_synced]
        return f"not listed yet: {', '.join(missing)}" if missing else None

    async def synced(self) -> None:
        """Every first list is in."""
        for informer in self.own():
            await informer.synced()


def make_disaggregated_caches(
    client: KubernetesClient, clock: Clock, metrics: Metrics, *, shared: Caches
) -> DisaggregatedCaches:
    """Informers with the indexes that the families ask."""
    common: dict[str, Any] = {"client": client, "clock": clock, "metrics": metrics}
    caches = DisaggregatedCaches(
        sets=Informer(
            resource=resources.DISAGGREGATEDSETS, decode=disaggregatedset.decode, **common
        ),
        scalers=Informer(
            resource=resources.DISAGGREGATEDSETROLESCALERS,
            decode=disaggregatedset.decode_role_scaler,
            **common,
        ),
        services=Informer(
            resource=resources.SERVICES,
            decode=core.decode_service,
            label_selector=names.DS_NAME,
            **common,
        ),
        leaderworkersets=shared.sets,
    )
    caches.sets.store.add_index(BY_SCALER, _scaler_names)
    caches.scalers.store.add_index(BY_OWNER, lambda one: _owners(one.metadata))
    for store in (caches.services.store, caches.leaderworkersets.store):
        store.add_index(BY_OWNER, lambda one: _owners(one.metadata))
        store.add_index(BY_SLICE, _slices)
    return caches


def owner_of(metadata: ObjectMeta) -> tuple[UID, str] | None:
    """UID and name of the DisaggregatedSet that controls an object, None if none does."""
    uid = controller_uid(metadata.owner_references)
    for owner in metadata.owner_references:
        if owner.controller and owner.uid == uid and owner.kind == names.DS_KIND:
            return owner.uid, owner.name
    return None


def slice_of(thing: RoleObject) -> tuple[UID, int] | None:
    """The owner's UID and the slice of a set's object."""
    owner = owner_of(thing.metadata)
    return None if owner is None else (owner[0], place_of(thing, ds=owner[1]).slice_index)


def _owners(metadata: ObjectMeta) -> Iterable[UID]:
    owner = owner_of(metadata)
    return [] if owner is None else [owner[0]]


def _slices(thing: RoleObject) -> Iterable[tuple[UID, int]]:
    place = slice_of(thing)
    return [] if place is None else [place]


def _scaler_names(ds: disaggregatedset.DisaggregatedSet) -> Iterable[tuple[str, str]]:
    meta = ds.metadata
    return [
        (meta.namespace, names.role_scaler(ds=meta.name, role=role.name))
        for role in ds.spec.roles
        if role.is_external
    ]
