"""What another spec does to the groups of a LeaderWorkerSet. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from lws.api import names
from lws.api.apps import decode_statefulset
from lws.api.leaderworkerset import LeaderWorkerSet, decode
from lws.base.ids import RevisionKey
from lws.cli.everyday.changes import Change, changes, with_value
from lws.cli.everyday.diff.fields import (
    Difference,
    Effect,
    Field,
    compared_part,
    counted,
    judged,
)
from lws.cli.everyday.family import Document, Family, group_of, labels_of
from lws.planner.leaderworkerset.revisions import NOT_TEMPLATE, read_wanted, revision_step
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.values import budgets_of, partition_of, replicas_of
from lws.planner.revision import TOPOLOGY_ANNOTATIONS, Revision

_TEMPLATE = (("spec", "leaderWorkerTemplate"), ("spec", "networkConfig"))


@dataclass(frozen=True, slots=True)
class Standing:
    """A live set, and what a change of it is measured against."""

    family: Family
    revisions: tuple[Revision, ...]

    @property
    def key(self) -> str:
        """Of the revision that new groups get now; empty before there is one."""
        statefulset = self.family.statefulset
        return "" if statefulset is None else labels_of(statefulset).get(names.REVISION_KEY, "")

    @property
    def keys(self) -> Mapping[int, str]:
        """By group: the revision of its leader."""
        return {
            group: labels.get(names.REVISION_KEY, "")
            for pod in self.family.pods
            if (labels := labels_of(pod)).get(names.WORKER_INDEX) == "0"
            and (group := group_of(pod)) is not None
        }


def created(after: Document) -> Difference:
    """A set that is not there yet."""
    lws = _typed(after)
    replicas, size = replicas_of(lws), lws.spec.leader_worker_template.size
    verdict = f"would be created, {replicas} groups of {size}"
    effects = (f"{counted(range(replicas))} would be made",) if replicas else ("no group yet",)
    return Difference(title=title_of(after), verdict=verdict, effects=effects)


def pending(standing: Standing) -> Difference:
    """What the world still lacks of the spec that stands."""
    lws = standing.family.lws
    wanted = wanted_key(standing, lws)
    effects = tuple(_effects(standing, _typed(lws), wanted))
    verdict = f"on its way to revision {wanted}" if effects else f"runs revision {wanted} whole"
    return Difference(title=title_of(lws), verdict=verdict, effects=effects)


def difference(standing: Standing, after: Document) -> Difference:
    """What changes if the set becomes `after`."""
    before = standing.family.lws
    fields = judged(
        changes(compared_part(before), compared_part(after)),
        lambda change: _effect(change, after),
    )
    wanted = wanted_key(standing, after)
    effects = tuple(_effects(standing, _typed(after), wanted))
    if not fields:
        notes = tuple(f"an update is under way: {effect}" for effect in effects)
        return Difference(title=title_of(after), verdict="no difference", notes=notes)
    return Difference(
        title=title_of(after),
        verdict=_verdict(standing, wanted, fields),
        fields=fields,
        effects=effects,
        notes=tuple(_notes(standing, wanted)),
    )


def title_of(document: Document) -> str:
    """Kind, namespace and name."""
    metadata = document["metadata"]
    return f"{document['kind']} {metadata['namespace']}/{metadata['name']}"


def wanted_key(standing: Standing, after: Document) -> RevisionKey:
    """As the controller would find or make it."""
    lws, statefulset = _typed(after), standing.family.statefulset
    snapshot = LeaderWorkerSetSnapshot(
        lws=lws,
        wanted=read_wanted(lws),
        statefulset=None
        if statefulset is None
        else decode_statefulset(msgspec.json.encode(statefulset)),
        document=statefulset or {},
        revisions=standing.revisions,
        service=None,
        groups=(),
        foreign=(),
        now=0.0,
    )
    return revision_step(snapshot).key


def _typed(document: Document) -> LeaderWorkerSet:
    return decode(msgspec.json.encode(document))


def _effect(change: Change, after: Document) -> Effect:
    steps = change.steps
    if steps == ("spec", "replicas"):
        return Effect.SCALES
    is_template = steps[:2] in _TEMPLATE and steps[2:3] not in [(name,) for name in NOT_TEMPLATE]
    is_topology = steps[:2] == ("metadata", "annotations") and steps[-1] in TOPOLOGY_ANNOTATIONS
    if not is_template and not is_topology and len(steps) > 1:
        return Effect.IN_PLACE
    if change.is_order:
        return Effect.ROLLS
    then, now = (
        read_wanted(_typed(one)) for one in (with_value(after, change.steps, change.old), after)
    )
    is_same = (then.digest, then.topologies) == (now.digest, now.topologies)
    return Effect.SAME if is_same else Effect.ROLLS


def _verdict(standing: Standing, wanted: RevisionKey, fields: Sequence[Field]) -> str:
    if wanted != standing.key:
        recorded = next((one for one in standing.revisions if one.key == wanted), None)
        was = f" (now {standing.key})" if standing.key else ""
        if recorded is not None:
            return f"back to recorded revision {wanted}{was}"
        return f"new revision {wanted}{was}"
    if any(field.effect is Effect.ROLLS for field in fields):
        return f"stays at revision {wanted}, which means the same"
    return f"stays at revision {wanted}, no group is made anew for it"


def _effects(standing: Standing, lws: LeaderWorkerSet, wanted: RevisionKey) -> Iterator[str]:
    keys, replicas, budgets = standing.keys, replicas_of(lws), budgets_of(lws)
    partition = partition_of(lws)
    old = [group for group, key in keys.items() if key != wanted and group < replicas]
    rolled = [group for group in old if group >= partition]
    kept = [group for group in old if group < partition]
    if rolled:
        words = "made anew" if not lws.spec.paused else "made anew once it is resumed (paused)"
        yield (
            f"{counted(rolled)} would be {words}, at most {budgets.unavailable} unavailable, "
            f"{budgets.surge} more than wanted"
        )
    if kept:
        had = ", ".join(sorted({keys[group] for group in kept}))
        yield f"{counted(kept)} would keep revision {had} (partition {partition})"
    added = [group for group in range(replicas) if group not in keys]
    if added:
        yield f"{counted(added)} would be made"
    surplus = [group for group in keys if group >= replicas]
    if surplus:
        yield f"{counted(surplus)} would be deleted"


def _notes(standing: Standing, wanted: RevisionKey) -> Iterator[str]:
    there = [group for group, key in standing.keys.items() if key == wanted]
    if wanted != standing.key and there:
        yield f"{counted(there)} run revision {wanted} already"
    owners = standing.family.lws["metadata"].get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            yield f"{owner['kind']} {owner['name']} writes this set's spec, and would put it back"
