"""A slice's LeaderWorkerSets, sorted: those of the wanted revision, and the old revisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lws.base.ids import RevisionKey
from lws.base.times import parse_time
from lws.planner.disaggregatedset.revisions import OldRevision
from lws.planner.disaggregatedset.snapshot import RoleSet, SliceSnapshot


class Generation(NamedTuple):
    """Revision key, and whether it is of a release that knew slices: such are two families."""

    revision: RevisionKey
    is_sliced: bool


@dataclass(frozen=True, slots=True)
class SliceFamily:
    """What a slice consists of, less what is being deleted."""

    new: Mapping[str, RoleSet]
    """By role of the spec: of the wanted revision."""
    old: Mapping[Generation, Mapping[str, RoleSet]]
    """By revision and role: all others."""
    outdated: tuple[RoleSet, ...]
    """Of the wanted revision, but from before slices: to be made anew (section 2, rule 3)."""
    ending: frozenset[str]
    """Names of those that are being deleted: they cannot be made anew yet."""
    inherited: Mapping[tuple[Generation, str], int] = field(default_factory=dict)
    """By old revision and role of it: replicas that drained revisions began with, and have yet to
    hand down to it."""


def sort_family(snapshot: SliceSnapshot) -> SliceFamily:
    """Sort the sets of a slice."""
    wanted_roles = {role.name for role in snapshot.ds.spec.roles}
    living = [held for held in snapshot.sets if not held.is_ending]
    new: dict[str, RoleSet] = {}
    before_slices: dict[str, RoleSet] = {}
    old: dict[Generation, dict[str, RoleSet]] = {}
    for held in living:
        role, revision, _, is_sliced = held.place
        if revision != snapshot.key or role not in wanted_roles:
            old.setdefault(Generation(revision, is_sliced), {})[role] = held
        else:
            (new if is_sliced else before_slices)[role] = held
    outdated = {
        role: held
        for role, held in before_slices.items()
        if snapshot.ds.spec.slices > 1 or role in new
    }
    kept = {role: held for role, held in before_slices.items() if role not in outdated}
    return SliceFamily(
        new={**new, **kept},
        old=old,
        outdated=tuple(outdated.values()),
        ending=frozenset(held.name for held in snapshot.sets if held.is_ending),
    )


def running(family: SliceFamily) -> SliceFamily:
    """Without the old revisions of which nothing runs: those are dropped, and count no more."""
    old = {
        generation: roles
        for generation, roles in family.old.items()
        if any(held.replicas for held in roles.values())
    }
    return replace(family, old=old)


def old_revisions(family: SliceFamily) -> list[OldRevision]:
    """As the planner sees them; names are those of `generation_name`."""
    return [
        OldRevision(
            name=generation_name(generation),
            created=_newest(list(roles.values())),
            replicas={role: held.replicas for role, held in roles.items()},
            initial_replicas={
                role: held.initial + family.inherited.get((generation, role), 0)
                for role, held in roles.items()
                if held.initial is not None
            },
        )
        for generation, roles in family.old.items()
    ]


def generation_name(generation: Generation) -> str:
    """One word for it."""
    return f"{generation.revision}{'' if generation.is_sliced else ' (before slices)'}"


def _newest(sets: Sequence[RoleSet]) -> float:
    return max(_created(held) for held in sets)


def _created(held: RoleSet) -> float:
    try:
        return parse_time(held.lws.metadata.creation_timestamp)
    except ValueError:
        return 0.0
