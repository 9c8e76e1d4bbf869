"""What another spec does to the roles of a DisaggregatedSet. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from lws.api.disaggregatedset import DisaggregatedSet, decode
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.api.leaderworkerset import decode as decode_lws
from lws.base.ids import RevisionKey
from lws.cli.everyday.changes import Change, changes, with_value
from lws.cli.everyday.diff.fields import Difference, Effect, compared_part, judged
from lws.cli.everyday.diff.leaderworkerset import title_of
from lws.cli.everyday.family import Document
from lws.planner.disaggregatedset.identity import (
    bare_template,
    lws_digest,
    read_wanted,
    wanted_key,
)
from lws.planner.disaggregatedset.snapshot import RoleSet, place_of
from lws.planner.disaggregatedset.targets import static_target
from lws.planner.leaderworkerset.revisions import NOT_TEMPLATE

_LATER = ("startupPolicy", "networkConfig")
"""Of a role's spec: no part of the revision, and not brought to sets that exist."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A live set, and the LeaderWorkerSets that it owns."""

    ds: Document
    sets: tuple[RoleSet, ...]

    @property
    def keys(self) -> list[RevisionKey]:
        """Revisions of which something runs."""
        return sorted({held.place.revision for held in self.sets if held.replicas})

    def groups(self, *, role: str, revision: str) -> int:
        """How many a role has at a revision, over all slices."""
        return sum(
            held.replicas
            for held in self.sets
            if held.place.role == role and held.place.revision == revision
        )


def standing_of(ds: Document, sets: Sequence[Document]) -> Standing:
    """Those that the set owns, by UID."""
    name, uid = ds["metadata"]["name"], ds["metadata"]["uid"]
    owned = []
    for document in sets:
        lws: LeaderWorkerSet = decode_lws(msgspec.json.encode(document))
        if any(one.controller and one.uid == uid for one in lws.metadata.owner_references):
            owned.append(RoleSet(lws, place_of(lws, ds=name)))
    return Standing(ds, tuple(owned))


def created(after: Document) -> Difference:
    """A set that is not there yet."""
    ds = _typed(after)
    effects = tuple(_made(ds, role=role.name) for role in ds.spec.roles)
    key = read_wanted(ds).computed_key
    verdict = f"would be created, revision {key}"
    return Difference(title=title_of(after), verdict=verdict, effects=effects)


def _made(ds: DisaggregatedSet, *, role: str) -> str:
    count = _targets(ds)[role]
    slices = f" in each of {ds.spec.slices} slices" if ds.spec.slices > 1 else ""
    return f"role {role}: {_groups(count)} would be made{slices}"


def _groups(count: int) -> str:
    return f"{count} group{'' if count == 1 else 's'}"


def pending(standing: Standing) -> Difference:
    """What the world still lacks of the spec that stands."""
    ds = _typed(standing.ds)
    wanted = _key(standing, ds)
    effects = tuple(_moves(standing, ds, wanted))
    verdict = f"on its way to revision {wanted}" if effects else f"runs revision {wanted} whole"
    return Difference(title=title_of(standing.ds), verdict=verdict, effects=effects)


def difference(standing: Standing, after: Document) -> Difference:
    """What changes if the set becomes `after`."""
    before, now = _typed(standing.ds), _typed(after)
    fields = judged(
        changes(compared_part(standing.ds), compared_part(after)),
        lambda change: _effect(change, after),
    )
    old, wanted = _key(standing, before), _key(standing, now)
    effects = tuple(_moves(standing, now, wanted))
    if not fields:
        notes = tuple(f"an update is under way: {effect}" for effect in effects)
        return Difference(title=title_of(after), verdict="no difference", notes=notes)
    verdict = f"stays at revision {wanted}"
    if wanted != old:
        back = wanted in {held.place.revision for held in standing.sets}
        verdict = f"{'back to' if back else 'new'} revision {wanted} (now {old})"
    notes = tuple(_notes(before, now)) if wanted != old else ()
    return Difference(
        title=title_of(after), verdict=verdict, fields=fields, effects=effects, notes=notes
    )


def key_of_spec(standing: Standing) -> RevisionKey:
    """Of the revision that the spec asks for."""
    return _key(standing, _typed(standing.ds))


def _typed(document: Document) -> DisaggregatedSet:
    return decode(msgspec.json.encode(document))


def _key(standing: Standing, ds: DisaggregatedSet) -> RevisionKey:
    templates: dict[RevisionKey, dict[str, set[str]]] = {}
    for held in standing.sets:
        roles = templates.setdefault(held.place.revision, {})
        roles.setdefault(held.place.role, set()).add(lws_digest(held.lws))
    return wanted_key(read_wanted(ds), templates)


def _effect(change: Change, after: Document) -> Effect:
    steps = change.steps
    if len(steps) < 2 or steps[:2] == ("spec", "slices"):
        return Effect.SCALES
    if steps[:2] == ("spec", "placementPolicy"):
        return Effect.LATER
    if steps[:2] != ("spec", "roles"):
        return Effect.IN_PLACE
    if len(steps) == 3:
        return Effect.ROLLS
    inside = steps[3:]
    if inside == ("spec", "replicas") or inside[0] == "scaling":
        return Effect.SCALES
    if inside[0] == "spec" and inside[1:2] and inside[1] in _LATER:
        return Effect.LATER
    return _of_template(change, after, inside)


def _of_template(change: Change, after: Document, inside: Sequence[str]) -> Effect:
    is_template = tuple(inside[:2]) == ("spec", "leaderWorkerTemplate")
    if not is_template or inside[-1] in NOT_TEMPLATE:
        return Effect.IN_PLACE
    if change.is_order:
        return Effect.ROLLS
    then = read_wanted(_typed(with_value(after, change.steps, change.old)))
    return Effect.SAME if then.digests == read_wanted(_typed(after)).digests else Effect.ROLLS


def _targets(ds: DisaggregatedSet) -> Mapping[str, int]:
    """Groups that each role's spec asks for in one slice; an External role's scaler may differ."""
    return {role.name: static_target(role.spec.replicas) for role in ds.spec.roles}


def _moves(standing: Standing, ds: DisaggregatedSet, wanted: RevisionKey) -> Iterator[str]:
    targets = _targets(ds)
    external = {role.name for role in ds.spec.roles if role.is_external}
    for role, target in targets.items():
        has, whole = standing.groups(role=role, revision=wanted), target * ds.spec.slices
        old = {key: standing.groups(role=role, revision=key) for key in standing.keys}
        old = {key: count for key, count in old.items() if count and key != wanted}
        if old:
            was = ", ".join(f"{_groups(count)} of revision {key}" for key, count in old.items())
            goal = "as many as its scaler says" if role in external else _groups(whole)
            yield f"role {role}: {was} would give way to {goal} of revision {wanted}"
        elif role not in external and has != whole:
            yield f"role {role}: {_groups(has)} would become {_groups(whole)}"
    for role in sorted({held.place.role for held in standing.sets} - targets.keys()):
        count = sum(standing.groups(role=role, revision=key) for key in standing.keys)
        if count:
            yield f"role {role}: {_groups(count)} would be removed"


def _notes(before: DisaggregatedSet, after: DisaggregatedSet) -> Iterator[str]:
    """Roles roll in step: those that did not change are made anew too."""
    old, new = read_wanted(before).digests, read_wanted(after).digests
    same = [role for role, digest in new.items() if old.get(role) == digest]
    if same and len(same) < len(new):
        are = "is" if len(same) == 1 else "are"
        yield (
            f"the template of {', '.join(same)} {are} unchanged, and made anew all the same: a "
            "revision holds all roles"
        )


def templates_of(standing: Standing, revision: str) -> Mapping[str, object]:
    """By role: the template of a revision that is still there, as its LeaderWorkerSets have it."""
    found: dict[str, object] = {}
    for held in standing.sets:
        if held.place.revision == revision:
            spec = msgspec.json.decode(held.lws.document)["spec"]
            found.setdefault(held.place.role, bare_template(spec["leaderWorkerTemplate"]))
    return found
