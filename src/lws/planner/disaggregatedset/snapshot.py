"""Consistent pictures of a DisaggregatedSet: of the set as a whole, and of one slice of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lws.api import names
from lws.api.core import Service
from lws.api.disaggregatedset import DisaggregatedSet, RoleScaler
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.ids import RevisionKey
from lws.planner.actions import Reference
from lws.planner.disaggregatedset.census import RoleTotals
from lws.planner.disaggregatedset.identity import WantedRoles


class Place(NamedTuple):
    """Where a LeaderWorkerSet or a Service belongs within its set."""

    role: str
    revision: RevisionKey
    slice_index: int
    is_sliced: bool
    """False: made by a release from before slices; it counts as slice 0."""


@dataclass(frozen=True, slots=True)
class RoleSet:
    """A LeaderWorkerSet of a role, ours by UID."""

    lws: LeaderWorkerSet
    place: Place

    @property
    def name(self) -> str:
        """Of the LeaderWorkerSet."""
        return self.lws.metadata.name

    @property
    def replicas(self) -> int:
        """As its spec has it; one that is being deleted serves nobody."""
        replicas = self.lws.spec.replicas
        return 0 if self.is_ending else 1 if replicas is None else max(0, replicas)

    @property
    def ready(self) -> int:
        """As its status has it."""
        return self.lws.status.ready_replicas

    @property
    def is_ending(self) -> bool:
        """Whether it is being deleted."""
        return self.lws.metadata.deletion_timestamp is not None

    @property
    def initial(self) -> int | None:
        """Replicas when the update began; None if it does not say."""
        text = self.lws.metadata.annotations.get(names.DS_INITIAL_REPLICAS, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


ForeignObject = tuple[Kind, str]
"""Kind and name of an object in our place that is not ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerViews:
    """What is known of the scalers of a set's External roles."""

    replicas: Mapping[str, int]
    """By role: spec.replicas of a scaler that is ours and is not being deleted."""
    conflicts: frozenset[str]
    """Roles whose scaler's name is taken by something that is not ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSnapshot:
    """One slice."""

    ds: DisaggregatedSet
    wanted: WantedRoles
    key: RevisionKey
    """Of the wanted revision."""
    slice_index: int
    sets: tuple[RoleSet, ...]
    services: tuple[Service, ...]
    """Ours by UID, as `sets` are."""
    scalers: ScalerViews
    foreign: frozenset[ForeignObject] = frozenset()
    now: float = 0.0


class Waiting(NamedTuple):
    """What a slice waits for."""

    text: str
    since: float | None = None
    """Seconds since the epoch, where an object says so."""
    seconds: float | None = None
    """How long at most, if there is an end to it."""


@dataclass(frozen=True, slots=True)
class SliceReport:
    """What a slice has to say in the status of its set."""

    waiting: Waiting | None = None
    troubles: tuple[str, ...] = ()
    """Answers of the API server that a person must know of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSnapshot:
    """The set as a whole: sums over its slices."""

    ds: DisaggregatedSet
    wanted: WantedRoles
    key: RevisionKey
    totals: Mapping[str, RoleTotals]
    """By role of the spec."""
    own_scalers: tuple[RoleScaler, ...]
    """Ours by UID, wanted or not."""
    scalers: ScalerViews
    reports: Mapping[int, SliceReport]
    """Of the slices that have something to report."""
    foreign: frozenset[ForeignObject] = frozenset()
    now: float = 0.0


def reference(ds: DisaggregatedSet) -> Reference:
    """The set, as events name it."""
    meta = ds.metadata
    return Reference(
        Kind.DISAGGREGATED_SET, meta.namespace, meta.name, meta.uid, meta.resource_version
    )


def owner_reference(ds: DisaggregatedSet) -> dict[str, object]:
    """Controller owner reference to the set; it does not block a foreground deletion."""
    return {
        "apiVersion": names.DS_API_VERSION,
        "kind": names.DS_KIND,
        "name": ds.metadata.name,
        "uid": ds.metadata.uid,
        "controller": True,
    }


_OURS = re.compile(r"(?:(?P<slice>[0-9]{1,3})-)?(?P<revision>[0-9a-f]{8})-(?P<role>.+)")
"""`<slice>-<revision>-<role>`, or from before slices `<revision>-<role>`."""


def place_of(thing: LeaderWorkerSet | Service, *, ds: str) -> Place:
    """By its name, which nobody can change; by its labels where the name is not of our form."""
    meta = thing.metadata
    suffix = "-prv" if isinstance(thing, Service) else ""
    head, prefix, tail = meta.name.removesuffix(suffix).partition(f"{ds}-")
    named = _OURS.fullmatch(tail) if prefix and not head else None
    if named is not None:
        index = named["slice"]
        revision = RevisionKey(named["revision"])
        return Place(named["role"], revision, int(index or 0), index is not None)
    labels = meta.labels
    index = labels.get(names.DS_SLICE, "")
    is_sliced = index.isascii() and index.isdecimal() and len(index) < 4
    return Place(
        role=labels.get(names.DS_ROLE, ""),
        revision=RevisionKey(labels.get(names.DS_REVISION, "")),
        slice_index=int(index) if is_sliced else 0,
        is_sliced=is_sliced,
    )
