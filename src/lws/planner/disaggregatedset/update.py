"""The executor's thinking: start and step of a slice's update (spec section 4).

Where an update stands is read off the replica counts and the annotations; a pass that finds it
half started, or half stepped, goes on from there.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lws.api.disaggregatedset import Role
from lws.planner.actions import Action, Emit, EventType
from lws.planner.disaggregatedset import leaderworkersets, scaling
from lws.planner.disaggregatedset.baseline import note_baseline
from lws.planner.disaggregatedset.drain import Drain
from lws.planner.disaggregatedset.family import SliceFamily, generation_name, old_revisions
from lws.planner.disaggregatedset.revisions import OldRevision, initial_old_replicas
from lws.planner.disaggregatedset.rolling import RollingStep, Wanted, rolling_step
from lws.planner.disaggregatedset.snapshot import (
    RoleSet,
    SliceSnapshot,
    Waiting,
    reference,
)
from lws.planner.disaggregatedset.starting import starting_old, unready_since
from lws.planner.disaggregatedset.targets import target_while_draining


class Outcome(NamedTuple):
    """What to do, in order; and what the update waits for otherwise."""

    actions: tuple[Action, ...] = ()
    waiting: Waiting | None = None
    ends: bool = False
    """All that is wanted is there: what is old may go, as a whole."""


def plan_update(snapshot: SliceSnapshot, family: SliceFamily) -> Outcome:
    """The next writes of an update; some old revision has replicas."""
    unsettled = _unsettled(snapshot, family)
    if unsettled is not None:
        return Outcome(waiting=Waiting(f"the scaler of role {unsettled}"))
    baseline = note_baseline(snapshot, family)
    creates = _creates(snapshot, family)
    if baseline or creates:
        return Outcome((*baseline, *creates))
    waiting = _waiting(snapshot, family.new)
    if waiting is not None:
        return Outcome(waiting=waiting)
    wanted = _wanted(snapshot, family)
    step = rolling_step(wanted=wanted, revisions=old_revisions(family))
    if step is None:
        waiting = Waiting("room: no role may be scaled up or down within its budgets")
        return Outcome(waiting=waiting)
    starting = _starting(snapshot, family, step=step, wanted=wanted)
    if starting is not None:
        return Outcome(waiting=starting)
    if _ends(family, step, wanted):
        return Outcome(ends=True)
    return Outcome(_perform(snapshot, family, step))


def _unsettled(snapshot: SliceSnapshot, family: SliceFamily) -> str | None:
    """A role with nothing to go by: no scaler yet, and no LeaderWorkerSet whose replicas count."""
    present = family.new.keys() | {role for roles in family.old.values() for role in roles}
    for role in snapshot.ds.spec.roles:
        settled = scaling.is_settled(role, scalers=snapshot.scalers)
        if not settled and role.name not in present:
            return role.name
    return None


def _creates(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Action, ...]:
    """The roles that the wanted revision lacks, with nothing running yet."""
    missing = [role for role in snapshot.ds.spec.roles if may_create(snapshot, family, role)]
    note = f"Started rolling update to revision {snapshot.key}"
    started = Emit(reference(snapshot.ds), EventType.NORMAL, "RollingUpdateStarted", "Update", note)
    first = None if family.new else started
    return tuple(
        leaderworkersets.create(snapshot, role, replicas=0, event=None if number else first)
        for number, role in enumerate(missing)
    )


def may_create(snapshot: SliceSnapshot, family: SliceFamily, role: Role) -> bool:
    """Whether a role of the wanted revision is missing, and nothing stands where it would be."""
    name = leaderworkersets.wanted_name(snapshot, role.name)
    blocked = name in family.ending or any(name == taken for _, taken in snapshot.foreign)
    return role.name not in family.new and not blocked


def _waiting(snapshot: SliceSnapshot, new: Mapping[str, RoleSet]) -> Waiting | None:
    """The first role of the wanted revision that is not there, or not ready, as a whole."""
    for role in snapshot.ds.spec.roles:
        held = new.get(role.name)
        if held is None:
            name = leaderworkersets.wanted_name(snapshot, role.name)
            return Waiting(f"role {role.name}: LeaderWorkerSet {name} cannot be made yet")
        if held.ready != held.replicas:
            text = (
                f"role {role.name} of revision {snapshot.key}:"
                f" {held.ready} of {held.replicas} replicas ready"
            )
            return Waiting(text, unready_since(held.lws))
    return None


def _wanted(snapshot: SliceSnapshot, family: SliceFamily) -> dict[str, Wanted]:
    revisions = old_revisions(family)
    return {
        role.name: _wanted_of(snapshot, role, held=family.new[role.name], revisions=revisions)
        for role in snapshot.ds.spec.roles
    }


def _wanted_of(
    snapshot: SliceSnapshot, role: Role, *, held: RoleSet, revisions: list[OldRevision]
) -> Wanted:
    new = held.replicas
    present = max(initial_old_replicas(role.name, revisions), new)
    target = scaling.target(role, scalers=snapshot.scalers, present=present)
    if role.is_external:
        target = target_while_draining(target=target, new=new)
    return Wanted(target=target, new=new, budgets=scaling.budgets(role, target=target))


def _starting(
    snapshot: SliceSnapshot, family: SliceFamily, *, step: RollingStep, wanted: Mapping[str, Wanted]
) -> Waiting | None:
    """Old replicas that a drain relies on and that are not ready yet."""
    revisions = old_revisions(family)
    floors = {}
    for role, row in wanted.items():
        baseline = max(initial_old_replicas(role, revisions), row.new)
        floors[role] = min(baseline, row.target) - row.budgets.unavailable
    return starting_old(
        [(_drained(family, drain), drain.after) for drain in step.down],
        sets=[held for held in snapshot.sets if not held.is_ending],
        floors=floors,
        now=snapshot.now,
    )


def _ends(family: SliceFamily, step: RollingStep, wanted: Mapping[str, Wanted]) -> bool:
    """Whether this step takes every old replica, with all new ones there."""
    left = {
        (generation_name(generation), role): held.replicas
        for generation, roles in family.old.items()
        for role, held in roles.items()
    }
    left |= {(drain.revision, drain.role): drain.after for drain in step.down}
    return not any(left.values()) and all(row.new >= row.target for row in wanted.values())


def _drained(family: SliceFamily, drain: Drain) -> RoleSet:
    by_name = {generation_name(one): roles for one, roles in family.old.items()}
    return by_name[drain.revision][drain.role]


def _perform(snapshot: SliceSnapshot, family: SliceFamily, step: RollingStep) -> tuple[Action, ...]:
    ups = [
        leaderworkersets.scale(snapshot, family.new[growth.role], replicas=growth.after)
        for growth in step.up
    ]
    downs = [
        leaderworkersets.scale(snapshot, _drained(family, drain), replicas=drain.after)
        for drain in step.down
    ]
    return (*ups, *downs)
