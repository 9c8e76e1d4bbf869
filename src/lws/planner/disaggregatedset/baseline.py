"""What users have when an update begins, noted on the old LeaderWorkerSets (spec section 4).

It is written before anything moves, and what a pass finds half written the next one finishes:

- at a start (nothing of the wanted revision is there) each old LeaderWorkerSet gets what it has
  now; a note of an update that was cut short is overwritten;
- when a set goes *back* to a revision that still runs, what users have is the old replicas and
  those of the wanted revision. The latter are added to the note of the oldest revision, as if the
  update had begun there and come to where it stands: so the floor is that of all that serves. That
  a wanted LeaderWorkerSet carries a note is the sign of it, taken away last;
- else only what is not noted yet is.

A revision that is drained is dropped while others still drain. What it began with is part of what
users had, so its notes are handed down to the oldest one first; a crash in between counts them
twice, and the update is a little more careful than it needs to be.
"""

from collections.abc import Mapping
from dataclasses import replace

from lws.planner.actions import Action
from lws.planner.disaggregatedset import leaderworkersets
from lws.planner.disaggregatedset.family import (
    Generation,
    SliceFamily,
    generation_name,
    old_revisions,
)
from lws.planner.disaggregatedset.revisions import newest_first
from lws.planner.disaggregatedset.snapshot import RoleSet, SliceSnapshot

_Noted = Mapping[tuple[Generation, str], int]
"""By revision and role of it: what its note should say."""


def note_baseline(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Action, ...]:
    """The notes that are missing or wrong; nothing where the update may go on."""
    returned = [held for held in family.new.values() if held.initial is not None]
    noted = _noted(family, anew=begins(family))
    writes = [
        leaderworkersets.note_initial(snapshot, held, replicas=noted[generation, role])
        for generation, roles in family.old.items()
        for role, held in roles.items()
        if held.initial != noted[generation, role]
    ]
    taken = [leaderworkersets.note_initial(snapshot, held, replicas=None) for held in returned]
    return (*writes, *taken)


def with_inheritance(
    family: SliceFamily, drained: Mapping[Generation, Mapping[str, RoleSet]]
) -> SliceFamily:
    """The revisions that still run, with what the `drained` ones are to hand down to them.

    An update is planned by it, so that no pass takes anything before that is written, or where it
    cannot be.
    """
    if begins(family):
        return family  # all is noted anew, from what there is
    heirs: dict[tuple[Generation, str], int] = {}
    for roles in drained.values():
        for role, held in roles.items():
            heir = _oldest(family, role)
            if heir is not None and held.initial:
                heirs[heir, role] = heirs.get((heir, role), 0) + held.initial
    return replace(family, inherited=heirs)


def hand_down(snapshot: SliceSnapshot, family: SliceFamily) -> tuple[Action, ...]:
    """What is inherited, added to the notes of the heirs."""
    return tuple(
        leaderworkersets.note_initial(snapshot, held, replicas=(held.initial or 0) + more)
        for (generation, role), more in family.inherited.items()
        for held in (family.old[generation][role],)
    )


def begins(family: SliceFamily) -> bool:
    """Whether an update starts, or goes back to a revision that still runs."""
    return not family.new or any(held.initial is not None for held in family.new.values())


def _noted(family: SliceFamily, *, anew: bool) -> _Noted:
    notes = {
        (generation, role): held.replicas if anew or held.initial is None else held.initial
        for generation, roles in family.old.items()
        for role, held in roles.items()
    }
    if anew:
        for role, held in family.new.items():
            bearer = _oldest(family, role)
            if bearer is not None:
                notes[bearer, role] += held.replicas
    return notes


def _oldest(family: SliceFamily, role: str) -> Generation | None:
    """The revision that gives its replicas of this role last."""
    by_name = {generation_name(generation): generation for generation in family.old}
    for revision in reversed(newest_first(old_revisions(family))):
        generation = by_name[revision.name]
        bearer: RoleSet | None = family.old[generation].get(role)
        if bearer is not None and bearer.replicas:
            return generation
    return None
