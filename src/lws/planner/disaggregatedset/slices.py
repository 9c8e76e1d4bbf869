"""One pass over one slice: the pipeline of spec section 2, rules 1, 3 and 4."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lws.api import names
from lws.api.disaggregatedset import Role
from lws.planner.actions import Action, Emit, EventType
from lws.planner.disaggregatedset import leaderworkersets, scaling
from lws.planner.disaggregatedset.baseline import (
    begins,
    hand_down,
    note_baseline,
    with_inheritance,
)
from lws.planner.disaggregatedset.family import Generation, SliceFamily, running, sort_family
from lws.planner.disaggregatedset.services import (
    abandoned_services,
    delete_service,
    missing_services,
)
from lws.planner.disaggregatedset.snapshot import RoleSet, SliceSnapshot, Waiting, reference
from lws.planner.disaggregatedset.update import may_create, plan_update

Strand = tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class SlicePlan:
    """What to do, in strands that do not depend on each other; and what is waited for."""

    strands: tuple[Strand, ...] = ()
    waiting: Waiting | None = None
    steps: bool = False
    """Whether it moves replicas of an update: one step of the planner."""


def plan_slice(snapshot: SliceSnapshot) -> SlicePlan:
    """What this pass does."""
    ds = snapshot.ds
    if ds.metadata.deletion_timestamp is not None:
        return SlicePlan()
    if snapshot.slice_index >= ds.spec.slices:
        return SlicePlan(_removed(snapshot))
    whole = sort_family(snapshot)
    family = running(whole)
    family = with_inheritance(family, _drained(whole, serving=family))
    waiting, moves, steps = None, tuple[Strand, ...](), False
    if not family.old:
        moves = _straight(snapshot, family)
    else:
        update = plan_update(snapshot, family)
        waiting, moves = update.waiting, (update.actions,)
        steps = update.ends or any(leaderworkersets.scales(one) for one in update.actions)
        if update.ends:  # scaled down to nothing, and dropped, in one
            family = replace(family, old={})
    dropped = _dropped(snapshot, whole, serving=family)
    services = tuple((create,) for create in missing_services(snapshot, family))
    strands = (
        *_remade(snapshot, family),
        *dropped,
        *_amended(snapshot, family),
        *moves,
        *services,
    )
    return SlicePlan(tuple(strand for strand in strands if strand), waiting, steps)


def _removed(snapshot: SliceSnapshot) -> tuple[Strand, ...]:
    """Rule 1: the slice is not wanted any more."""
    services = [delete_service(one) for one in snapshot.services]
    sets = [leaderworkersets.delete(held) for held in snapshot.sets if not held.is_ending]
    return tuple((each,) for each in (*services, *sets))


def _remade(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Strand, ...]:
    """Rule 3: what knows no slices goes, its service first, and is made anew."""
    services = {one.metadata.name: one for one in snapshot.services}
    strands = []
    for held in family.outdated:
        service = services.get(names.role_service(held.name))
        first = () if service is None else (delete_service(service),)
        strands.append((*first, leaderworkersets.delete(held)))
    return tuple(strands)


def _dropped(
    snapshot: SliceSnapshot, family: SliceFamily, *, serving: SliceFamily
) -> tuple[Strand, ...]:
    """Old revisions that serve no more go, and their services with them."""
    drained = _drained(family, serving=serving)
    services = dict(abandoned_services(snapshot, drained))
    first: Strand = ()
    if serving.old:
        if note_baseline(snapshot, serving) and not begins(serving):
            return ()  # what they hand down would be overwritten
        first = hand_down(snapshot, serving)
    deletes: list[Action] = []
    for generation, roles in drained.items():
        deletes += [leaderworkersets.drop(snapshot, held) for held in roles.values()]
        deletes += services.pop(generation, ())
    if drained and not serving.old and _is_completed(snapshot, family, list(drained)):
        deletes.append(_completed(snapshot))
    return ((*first, *deletes), *(tuple(orphans) for orphans in services.values()))


def _drained(
    family: SliceFamily, *, serving: SliceFamily
) -> Mapping[Generation, Mapping[str, RoleSet]]:
    return {one: roles for one, roles in family.old.items() if one not in serving.old}


def _is_completed(
    snapshot: SliceSnapshot, family: SliceFamily, drained: Sequence[Generation]
) -> bool:
    """Whether dropping these is the end of an update that was started."""
    noted = any(
        held.initial is not None
        for generation in drained
        for held in family.old[generation].values()
    )
    return noted and len(family.new) == len(snapshot.ds.spec.roles)


def _completed(snapshot: SliceSnapshot) -> Emit:
    note = f"Completed rolling update to revision {snapshot.key}"
    return Emit(reference(snapshot.ds), EventType.NORMAL, "RollingUpdateCompleted", "Update", note)


def _amended(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Strand, ...]:
    """Metadata and rollout strategy of the roles reach what exists, of every revision."""
    roles = {role.name: role for role in snapshot.ds.spec.roles}
    standing: list[RoleSet] = [*family.new.values()]
    for old in family.old.values():
        standing += old.values()
    strands: list[Strand] = []
    for held in standing:
        role = roles.get(held.place.role)
        patch = None if role is None else leaderworkersets.amend(snapshot, role, held)
        if patch is not None:
            strands.append((patch,))
    return tuple(strands)


def _straight(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Strand, ...]:
    """Nothing old has replicas: every role goes straight to its target."""
    moves = [_straight_move(snapshot, family, role) for role in snapshot.ds.spec.roles]
    return tuple((move,) for move in moves if move is not None)


def _straight_move(snapshot: SliceSnapshot, family: SliceFamily, role: Role) -> Action | None:
    held = family.new.get(role.name)
    if held is None:
        # Without a scaler of ours it is not known how many; one that comes is then seeded with 1.
        unknown = role.is_external and role.name not in snapshot.scalers.replicas
        if unknown or not may_create(snapshot, family, role):
            return None
        replicas = scaling.target(role, scalers=snapshot.scalers, present=0)
        return leaderworkersets.create(snapshot, role, replicas=replicas, event=None)
    replicas = scaling.target(role, scalers=snapshot.scalers, present=held.replicas)
    if replicas == held.replicas:
        return None
    return leaderworkersets.scale(snapshot, held, replicas=replicas)
