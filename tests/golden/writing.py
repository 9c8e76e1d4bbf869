"""What an operator has written, in a form that two of them can be compared by.

Left out is what is nobody's doing (UIDs, resourceVersions, times) and what other controllers write.
Keys of revisions are any short hash: ours are replaced by those of the world.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lws.api import names
from tests.golden.worlds import Document, World

Written = Mapping[tuple[str, str], Any]
"""By kind and name."""

_NOT_COMPARED = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
_TIMES = ("lastTransitionTime", "time")
KINDS = ("leaderworkersets", "disaggregatedsets", "statefulsets", "services", "controllerrevisions")


def written(world: World) -> Written:
    """Metadata, spec and data of everything that an operator makes, and status of the sets."""
    uids = {
        one["metadata"]["uid"]: f"{kind}/{one['metadata']['name']}"
        for kind, documents in world.items()
        for one in documents
    }
    found = {}
    for kind in KINDS:
        for one in world.get(kind, ()):
            if names.STATEFULSET_REVISION_HASH in one["metadata"].get("labels", {}):
                continue  # the StatefulSet controller's
            metadata = {
                key: value for key, value in one["metadata"].items() if key not in _NOT_COMPARED
            }
            parts = {"metadata": metadata, **{k: one[k] for k in _PARTS if k in one}}
            if kind in ("leaderworkersets", "disaggregatedsets"):
                parts["status"] = one.get("status")
            found[kind, one["metadata"]["name"]] = without_chance(parts, uids)
    return found


_PARTS = ("spec", "data", "revision")


def managers(world: World) -> Mapping[tuple[str, str], Any]:
    """Who owns which fields of what an operator makes; of sets, the status alone."""
    uids = {
        one["metadata"]["uid"]: f"{kind}/{one['metadata']['name']}"
        for kind, documents in world.items()
        for one in documents
    }
    found = {}
    for kind in KINDS:
        for one in world.get(kind, ()):
            if names.STATEFULSET_REVISION_HASH in one["metadata"].get("labels", {}):
                continue
            entries = {
                (entry["manager"], entry["operation"], entry.get("subresource", "")): entry[
                    "fieldsV1"
                ]
                for entry in one["metadata"]["managedFields"]
                if entry["manager"] == names.FIELD_MANAGER
            }
            found[kind, one["metadata"]["name"]] = without_chance(entries, uids)
    return found


def with_keys_of(world: World, *, of: World) -> World:
    """The world with its revision keys replaced by those that `of` has for the same objects."""
    text = json.dumps(world)
    for ours, theirs in _keys(world, of):
        text = re.sub(rf"\b{ours}\b", theirs, text)
    replaced: World = json.loads(text)
    return replaced


def _keys(world: World, of: World) -> Iterable[tuple[str, str]]:
    theirs = {_place(one): _key(one) for one in _revisions(of)}
    return {(_key(one), theirs[_place(one)]) for one in _revisions(world) if _place(one) in theirs}


def _revisions(world: World) -> list[Document]:
    return [
        one
        for one in world["controllerrevisions"]
        if names.STATEFULSET_REVISION_HASH not in one["metadata"]["labels"]
        and names.NAME in one["metadata"]["labels"]
    ]


def recorded(world: World) -> list[tuple[str, Any]]:
    """Name and data of each revision of a set, in the order in which its keys were sent."""
    return [(one["metadata"]["name"], one["data"]) for one in _revisions(world)]


def _place(revision: Document) -> tuple[str, str]:
    """The set, and what is recorded."""
    labels = revision["metadata"]["labels"]
    return labels[names.NAME], json.dumps(revision["data"], sort_keys=True)


def _key(revision: Document) -> str:
    return str(revision["metadata"]["labels"][names.REVISION_KEY])


def without_chance(value: Any, uids: Mapping[str, str]) -> Any:
    """UIDs as the objects that they are of, no times."""
    if isinstance(value, Mapping):
        return {
            _named(key, uids): without_chance(one, uids)
            for key, one in value.items()
            if key not in _TIMES
        }
    if isinstance(value, list):
        return [without_chance(one, uids) for one in value]
    return uids.get(value, value) if isinstance(value, str) else value


def _named(key: Any, uids: Mapping[str, str]) -> Any:
    if isinstance(key, str) and key.startswith('k:{"uid"'):
        uid = json.loads(key[2:])["uid"]
        return f"k:{uids.get(uid, uid)}"
    return key
