"""The recorded revisions of a set, what changed from one to the next, and the way back. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api.apps import decode_revision
from lws.api.leaderworkerset import decode
from lws.base.errors import InvalidInput
from lws.cli.everyday.changes import changes
from lws.cli.everyday.family import Document
from lws.planner.leaderworkerset.revisions import NOT_TEMPLATE, read_wanted
from lws.planner.revision import TOPOLOGY_ANNOTATIONS, Revision, UnreadableRevision, read_revision
from lws.planner.spelling import spelled


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """One revision; `changes` are against the one before it."""

    revision: Revision
    is_wanted: bool
    changes: tuple[str, ...]

    @property
    def state(self) -> str:
        """wanted, active (groups may still run it) or retired (kept to go back to)."""
        if self.is_wanted:
            return "wanted"
        return "retired" if self.revision.retired else "active"

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "key": self.revision.key,
            "number": self.revision.number,
            "state": self.state,
            "created": self.revision.created,
            "changes": list(self.changes),
        }


def read_revisions(recorded: Iterable[Document]) -> list[Revision]:
    """Oldest first; what no LeaderWorkerSet controller has written is left out."""
    revisions = []
    for document in recorded:
        try:
            revisions.append(read_revision(decode_revision(msgspec.json.encode(document))))
        except (UnreadableRevision, msgspec.ValidationError):
            continue
    return sorted(revisions, key=lambda revision: revision.number)


def history_of(lws: Document, recorded: Iterable[Document]) -> list[RevisionLine]:
    """Oldest first."""
    revisions = read_revisions(recorded)
    wanted = _wanted(lws, revisions)
    before: Sequence[Revision | None] = [None, *revisions]
    return [
        RevisionLine(
            revision=revision,
            is_wanted=revision is wanted,
            changes=() if old is None else tuple(_between(old, revision)),
        )
        for old, revision in zip(before, revisions, strict=False)
    ]


def _wanted(lws: Document, revisions: Sequence[Revision]) -> Revision | None:
    """The newest that means what the spec says."""
    wanted = read_wanted(decode(msgspec.json.encode(lws)))
    return next(
        (
            revision
            for revision in reversed(revisions)
            if revision.digest == wanted.digest
            and (not revision.tells_topologies or revision.topologies == wanted.topologies)
        ),
        None,
    )


def _between(old: Revision, new: Revision) -> Iterator[str]:
    yield from map(str, changes(old.document, new.document))
    yield from map(str, changes(old.topologies, new.topologies, ("metadata", "annotations")))


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back to a revision; an empty patch: the set is there already."""

    key: str
    patch: Sequence[Mapping[str, Any]]
    """A JSON patch that is refused if the set has changed since it was read."""
    changes: tuple[str, ...]
    notes: tuple[str, ...]


def undo(lws: Document, recorded: Iterable[Document], *, to: str | None) -> Undo:
    """Back to the revision with that key (or the start of one), None: to the one before."""
    revisions = read_revisions(recorded)
    wanted = _wanted(lws, revisions)
    target = _previous(revisions, wanted) if to is None else keyed(revisions, to, flag="--to")
    if wanted is not None and target.key == wanted.key:
        return Undo(key=target.key, patch=(), changes=(), notes=())
    spec = lws["spec"]
    template = {**target.document["leaderWorkerTemplate"]}
    live = spec["leaderWorkerTemplate"]
    template |= {name: live[name] for name in NOT_TEMPLATE if name in live}
    body = [
        {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": lws["metadata"]["resourceVersion"],
        },
        {"op": "replace", "path": "/spec/leaderWorkerTemplate", "value": template},
    ]
    after = {"leaderWorkerTemplate": template}
    network = target.document["networkConfig"]
    if network and network != spec.get("networkConfig"):
        body.append({"op": "add", "path": "/spec/networkConfig", "value": network})
        after["networkConfig"] = network
    annotations = lws["metadata"].get("annotations") or {}
    body += _topology_patch(annotations, target)
    return Undo(
        key=target.key,
        patch=body,
        changes=tuple(
            map(str, changes(_spelled({key: spec.get(key) for key in after}), _spelled(after)))
        ),
        notes=tuple(_notes(annotations, target)),
    )


def _spelled(parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """As a revision spells them: what else differs is none of the change."""
    whole = json.loads(spelled(parts, "lws.Template"))
    return {part: whole[part] for part in parts}


def _topology_patch(annotations: Document, target: Revision) -> list[dict[str, Any]]:
    differing = {
        key: value for key, value in target.topologies.items() if annotations.get(key) != value
    }
    if not differing:
        return []
    whole = {**annotations, **differing}
    return [{"op": "add", "path": "/metadata/annotations", "value": whole}]


def _notes(annotations: Document, target: Revision) -> Iterator[str]:
    for key in TOPOLOGY_ANNOTATIONS:
        if annotations.get(key) and key not in target.topologies:
            yield f"annotation {key} stays: the revision records none; take it away if it is new"


def _previous(revisions: Sequence[Revision], wanted: Revision | None) -> Revision:
    older = [one for one in revisions if wanted is None or one.number < wanted.number]
    if not older:
        message = "there is no revision to go back to: lws history shows those that are kept"
        raise InvalidInput(field="NAME", message=message)
    return older[-1]


def keyed(revisions: Sequence[Revision], key: str, *, flag: str) -> Revision:
    """The revision of that key, or of the only key that begins so; InvalidInput names the flag."""
    exact = [one for one in revisions if one.key == key]
    found = exact or [one for one in revisions if key and one.key.startswith(key)]
    if len({one.key for one in found}) == 1:
        return found[-1]
    names = ", ".join(one.key for one in revisions) or "none"
    what = "no revision has" if not found else "several revisions begin with"
    raise InvalidInput(field=flag, message=f"{what} key {key!r}; there are: {names}")
