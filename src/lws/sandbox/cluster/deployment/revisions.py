"""The ReplicaSets of a Deployment as revisions of its template."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lws.sandbox.cluster.deployment.sizes import (
    DESIRED,
    HISTORY,
    MAXIMUM,
    REVISION,
    max_surge,
    min_ready_of,
    number,
    oldest_first,
    replicas_of,
    revision_of,
)
from lws.sandbox.cluster.hashing import encoded, hash_of
from lws.sandbox.cluster.objects import (
    annotations_of,
    name_of,
    namespace_of,
    owner_reference,
    status_of,
    uid_of,
    with_metadata,
)
from lws.sandbox.server.verbs import JsonObject

HASH = "pod-template-hash"
_UNCOPIED = frozenset(
    (
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        DESIRED,
        HISTORY,
        MAXIMUM,
        REVISION,
    )
)
_HISTORY_MAX = 2000


def new_set(deployment: JsonObject, sets: Iterable[JsonObject]) -> JsonObject | None:
    """The oldest that is of the Deployment's template."""
    wanted = _without_hash(deployment["spec"]["template"])
    same = (one for one in sets if _without_hash(one["spec"]["template"]) == wanted)
    return next(iter(oldest_first(same)), None)


def old_sets(sets: Iterable[JsonObject], new: JsonObject | None) -> list[JsonObject]:
    """All others, oldest first."""
    uid = uid_of(new) if new is not None else ""
    return oldest_first(one for one in sets if uid_of(one) != uid)


def next_revision(old: Sequence[JsonObject]) -> int:
    """After the highest of the old ones."""
    return max(map(revision_of, old), default=0) + 1


def made_set(deployment: JsonObject, revision: int, replicas: int) -> JsonObject:
    """A ReplicaSet for the Deployment's template."""
    template = deployment["spec"]["template"]
    collisions = int(status_of(deployment).get("collisionCount") or 0)
    word = hash_of(encoded(template), collisions)
    labels = {**((template.get("metadata") or {}).get("labels") or {}), HASH: word}
    selector = deployment["spec"]["selector"]
    made: JsonObject = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name_of(deployment)}-{word}",
            "namespace": namespace_of(deployment),
            "labels": labels,
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": min_ready_of(deployment),
            "selector": {
                **selector,
                "matchLabels": {**(selector.get("matchLabels") or {}), HASH: word},
            },
            "template": {**template, "metadata": {**(template.get("metadata") or {})}},
        },
    }
    made["spec"]["template"]["metadata"]["labels"] = labels
    annotations = _own_annotations(deployment) | {REVISION: str(revision)}
    return with_metadata(made, annotations=annotations | size_annotations(deployment))


def is_of_template(replica_set: JsonObject, deployment: JsonObject) -> bool:
    """Was it made for this template?"""
    wanted = _without_hash(deployment["spec"]["template"])
    return _without_hash(replica_set["spec"]["template"]) == wanted


def updated_set(deployment: JsonObject, present: JsonObject, revision: int) -> JsonObject:
    """The present one, told what has changed about the Deployment; itself if nothing has."""
    annotations = {**annotations_of(present), **_own_annotations(deployment)}
    before = annotations_of(present).get(REVISION)
    if number(before) < revision:
        annotations[REVISION] = str(revision)
        history = _with_older(annotations.get(HISTORY, ""), before)
        if history:
            annotations[HISTORY] = history
    min_ready = min_ready_of(deployment)
    is_same = annotations == annotations_of(present)
    if is_same and min_ready == min_ready_of(present):
        return present
    changed = with_metadata(present, annotations=annotations)
    return {**changed, "spec": {**present["spec"], "minReadySeconds": min_ready}}


def size_annotations(deployment: JsonObject) -> dict[str, str]:
    """What a ReplicaSet remembers of the Deployment's size."""
    replicas = replicas_of(deployment)
    return {DESIRED: str(replicas), MAXIMUM: str(replicas + max_surge(deployment))}


def _own_annotations(deployment: JsonObject) -> dict[str, str]:
    return {key: one for key, one in annotations_of(deployment).items() if key not in _UNCOPIED}


def _with_older(history: str, revision: str | None) -> str:
    """The revisions that it was before; the oldest are forgotten when there are too many."""
    if not revision or revision in history.split(","):
        return history
    numbers = [*filter(None, history.split(",")), revision]
    while len(",".join(numbers)) > _HISTORY_MAX:
        numbers.pop(0)
    return ",".join(numbers)


def _without_hash(template: JsonObject) -> Mapping[str, Any]:
    metadata = dict(template.get("metadata") or {})
    labels = {key: one for key, one in (metadata.get("labels") or {}).items() if key != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}
