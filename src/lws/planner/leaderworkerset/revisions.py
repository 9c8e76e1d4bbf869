"""Which revision is wanted, and what must be recorded for it (leaderworkerset.md section 1)."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api import names
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet, SubdomainPolicy, Template
from lws.base.ids import RevisionKey
from lws.planner.actions import Action, Create, Delete, Emit, EventType, MergePatch, Reference
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot, WantedTemplate
from lws.planner.meaning import template_digest
from lws.planner.revision import Revision, topologies_of
from lws.planner.spelling import spelled

KEY_LENGTH = 10
"""Hex digits of a key of ours: as long as the public controller's, so that names fit alike."""

NOT_TEMPLATE = ("maxGroupRestarts",)
"""Fields inside leaderWorkerTemplate that are ours and roll nothing (section 7)."""


_NO_TOPOLOGIES = {names.EXCLUSIVE_TOPOLOGY: ""}
"""Recorded where the set has none and the StatefulSet's pods have: what stands there may be a
hand's, which stays, and would be found at each pass."""


@dataclass(frozen=True, slots=True)
class RevisionStep:
    """The revision that is wanted, and the writes that record it, in order."""

    key: RevisionKey
    actions: tuple[Action, ...]


def read_wanted(lws: LeaderWorkerSet) -> WantedTemplate:
    """What the spec of `lws` asks for."""
    spec = msgspec.json.decode(lws.document)["spec"]
    template = {
        key: value for key, value in spec["leaderWorkerTemplate"].items() if key not in NOT_TEMPLATE
    }
    network = {"subdomainPolicy": SubdomainPolicy.SHARED.value} | {
        key: value for key, value in (spec.get("networkConfig") or {}).items() if value is not None
    }
    document = {"leaderWorkerTemplate": template, "networkConfig": network}
    return WantedTemplate(
        document=document,
        template=msgspec.json.decode(msgspec.json.encode(document), type=Template),
        digest=template_digest(document),
        topologies=topologies_of(lws.metadata.annotations),
    )


def revision_step(snapshot: LeaderWorkerSetSnapshot) -> RevisionStep:
    """Steps 3 and 4 of the pipeline."""
    duplicates = _duplicates(snapshot.revisions)
    gone = {revision.uid for revision in duplicates}
    standing = [revision for revision in snapshot.revisions if revision.uid not in gone]
    cleaning = tuple(_delete(snapshot, revision) for revision in duplicates)
    statefulset = snapshot.statefulset
    if statefulset is None:
        return _record(snapshot, standing, cleaning)
    key = statefulset.revision_key
    present = next((revision for revision in standing if revision.key == key), None)
    if present is None and key and not _matching(snapshot, standing):
        number = _highest(standing) + 1
        create = _create(snapshot, key=key, number=number, why="that its StatefulSet carries")
        return RevisionStep(key, (*cleaning, create))
    if present is not None and _is_wanted(snapshot, present):
        return RevisionStep(key, (*cleaning, *_bring_back(snapshot, present, standing)))
    return _record(snapshot, standing, cleaning)


def _matching(snapshot: LeaderWorkerSetSnapshot, standing: Sequence[Revision]) -> list[Revision]:
    """Revisions of the wanted template. One of another key than the StatefulSet's, whose own is
    missing, says that this carries something else: an update is under way, and must not be lost."""
    return [revision for revision in standing if _is_wanted(snapshot, revision)]


def _record(
    snapshot: LeaderWorkerSetSnapshot,
    standing: Sequence[Revision],
    cleaning: tuple[Action, ...],
) -> RevisionStep:
    """Find the wanted template among the recorded ones, or record it."""
    matching = _matching(snapshot, standing)
    if matching:
        found = max(matching, key=lambda revision: revision.number)
        return RevisionStep(found.key, (*cleaning, *_bring_back(snapshot, found, standing)))
    key = new_key(snapshot.wanted, taken=[revision.key for revision in standing])
    why = "for updated LWS" if standing else "for a newly created LeaderWorkerSet"
    create = _create(snapshot, key=key, number=_highest(standing) + 1, why=why)
    return RevisionStep(key, (*cleaning, create))


def new_key(wanted: WantedTemplate, *, taken: Iterable[RevisionKey]) -> RevisionKey:
    """A key for a template that has none: of its meaning, longer while it would name another."""
    digest = wanted.digest
    if wanted.topologies:
        text = json.dumps([digest, sorted(wanted.topologies.items())])
        digest = hashlib.sha256(text.encode()).hexdigest()
    used = set(taken)
    for length in range(KEY_LENGTH, len(digest) + 1):
        if digest[:length] not in used:
            return RevisionKey(digest[:length])
    raise AssertionError("a whole digest names two templates")


def _is_wanted(snapshot: LeaderWorkerSetSnapshot, revision: Revision) -> bool:
    wanted = snapshot.wanted
    if revision.digest != wanted.digest:
        return False
    if revision.tells_topologies or not _stands(snapshot, revision):
        return revision.topologies == wanted.topologies
    return _topologies_in_pods(snapshot) == _own_topologies(wanted) | dict(wanted.topologies)


def _stands(snapshot: LeaderWorkerSetSnapshot, revision: Revision) -> bool:
    statefulset = snapshot.statefulset
    return statefulset is not None and statefulset.revision_key == revision.key


def _topologies_in_pods(snapshot: LeaderWorkerSetSnapshot) -> dict[str, str]:
    """All that is known of a revision whose controller records none."""
    template = snapshot.document.get("spec", {}).get("template", {})
    return topologies_of(template.get("metadata", {}).get("annotations") or {})


def _own_topologies(wanted: WantedTemplate) -> dict[str, str]:
    """Those that a user wrote into the pod template itself, where they are like any other."""
    metadata = leader_template(wanted).get("metadata") or {}
    return topologies_of(metadata.get("annotations") or {})


def leader_template(wanted: WantedTemplate) -> Mapping[str, Any]:
    """The pod template of the leaders: their own, or the workers'."""
    parts = wanted.document["leaderWorkerTemplate"]
    template: Mapping[str, Any] = parts.get("leaderTemplate") or parts["workerTemplate"]
    return template


def _bring_back(
    snapshot: LeaderWorkerSetSnapshot, revision: Revision, standing: Sequence[Revision]
) -> tuple[Action, ...]:
    """Active again, and of the highest number."""
    highest = _highest(standing)
    is_last = revision.number == highest and all(
        other is revision or other.number < highest for other in standing
    )
    if is_last and not revision.retired:
        return ()
    lws = snapshot.lws
    body: dict[str, Any] = {} if is_last else {"revision": highest + 1}
    if revision.retired:
        labels = {names.NAME: lws.metadata.name, names.HISTORY_OF: None}
        body["metadata"] = {"labels": labels}
    return (
        MergePatch(
            kind=Kind.CONTROLLER_REVISION,
            namespace=lws.metadata.namespace,
            name=revision.name,
            body=body,
            uid=revision.uid,
        ),
    )


def _duplicates(revisions: Iterable[Revision]) -> list[Revision]:
    """All but the highest number of each key."""
    best: dict[RevisionKey, Revision] = {}
    losers = []
    for revision in sorted(revisions, key=lambda r: (r.number, r.name)):
        loser = best.get(revision.key)
        if loser is not None:
            losers.append(loser)
        best[revision.key] = revision
    return losers


def _highest(revisions: Iterable[Revision]) -> int:
    return max((revision.number for revision in revisions), default=0)


def _create(
    snapshot: LeaderWorkerSetSnapshot, *, key: RevisionKey, number: int, why: str
) -> Create:
    lws = snapshot.lws
    name = names.revision_name(lws=lws.metadata.name, key=key, number=number)
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": lws.metadata.namespace,
        "labels": {names.NAME: lws.metadata.name, names.REVISION_KEY: key},
        "ownerReferences": [owner_reference(lws)],
    }
    topologies = dict(snapshot.wanted.topologies)
    if not topologies and _topologies_in_pods(snapshot) != _own_topologies(snapshot.wanted):
        topologies = _NO_TOPOLOGIES
    if topologies:
        metadata["annotations"] = topologies
    body = {
        "apiVersion": Kind.CONTROLLER_REVISION.api_version,
        "kind": Kind.CONTROLLER_REVISION.kind,
        "metadata": metadata,
        "revision": number,
        "data": {"spec": recorded_template(snapshot.wanted)},
    }
    event = Emit(
        reference(lws),
        EventType.NORMAL,
        "CreatingRevision",
        "Create",
        f"Creating revision with key {key} {why}",
    )
    failure = Emit(
        reference(lws), EventType.WARNING, "FailedCreate", "Create", f"Creating revision {name}"
    )
    return Create(
        kind=Kind.CONTROLLER_REVISION,
        namespace=lws.metadata.namespace,
        name=name,
        body=body,
        event=event,
        failure=failure,
    )


def recorded_template(wanted: WantedTemplate) -> dict[str, Any]:
    """The template as `data` has it: to the byte what the public controller would record.

    That controller compares bytes; others would be an update to it, and every group would be made
    anew when it took over.
    """
    spelling = json.loads(spelled(wanted.document, "lws.Template"))
    if template_digest(spelling) != wanted.digest:  # a field that the Go types do not know
        spelling = wanted.document
    return {part: _in_order({**spelling[part], "$patch": "replace"}) for part in sorted(spelling)}


def _in_order(value: Any) -> Any:
    """Go writes the keys of a map in order."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(one) for one in value] if isinstance(value, list) else value


def _delete(snapshot: LeaderWorkerSetSnapshot, revision: Revision) -> Delete:
    return Delete(
        kind=Kind.CONTROLLER_REVISION,
        namespace=snapshot.lws.metadata.namespace,
        name=revision.name,
        uid=revision.uid,
    )


def reference(lws: LeaderWorkerSet) -> Reference:
    """The LeaderWorkerSet, as events name it."""
    meta = lws.metadata
    return Reference(
        Kind.LEADER_WORKER_SET, meta.namespace, meta.name, meta.uid, meta.resource_version
    )


def owner_reference(lws: LeaderWorkerSet) -> dict[str, Any]:
    """Controller owner reference to the LeaderWorkerSet."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "name": lws.metadata.name,
        "uid": lws.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
