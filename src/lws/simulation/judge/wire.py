"""Objects as the wire has them: the few questions that the judge asks of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from lws.api import names

Json = Mapping[str, Any]
Place = tuple[str, str]
"""Namespace and name."""
Group = tuple[str, str, int]
"""Namespace, LeaderWorkerSet, index."""


def place_of(obj: Json) -> Place:
    """Where it is."""
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def uid_of(obj: Json) -> str:
    """Which life of it."""
    return str(obj["metadata"]["uid"])


def labels_of(obj: Json) -> Mapping[str, str]:
    """Perhaps none."""
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels


def annotations_of(obj: Json) -> Mapping[str, str]:
    """Perhaps none."""
    annotations: Mapping[str, str] = obj["metadata"].get("annotations") or {}
    return annotations


def owner_of(obj: Json) -> str:
    """UID of its controller; empty: it has none."""
    owners: Iterable[Json] = obj["metadata"].get("ownerReferences") or ()
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def is_terminating(obj: Json) -> bool:
    """Has it been deleted, though it is still there?"""
    return bool(obj["metadata"].get("deletionTimestamp"))


def group_of(pod: Json) -> Group | None:
    """The group that its labels say; None if they do not."""
    labels = labels_of(pod)
    index = labels.get(names.GROUP_INDEX, "")
    if names.NAME not in labels or not index.isdecimal():
        return None
    return pod["metadata"]["namespace"], labels[names.NAME], int(index)


def is_leader(pod: Json) -> bool:
    """Of a group?"""
    return labels_of(pod).get(names.WORKER_INDEX) == "0"


def is_ready(pod: Json) -> bool:
    """Does it serve?"""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and not is_terminating(pod)


def restarts_of(pod: Json) -> int:
    """Of all its containers together."""
    status = pod.get("status") or {}
    statuses = (
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    )
    return sum(int(one.get("restartCount", 0)) for one in statuses)


def size_of(pod: Json) -> int:
    """Pods of its group."""
    size = annotations_of(pod).get(names.SIZE, "1")
    return int(size) if size.isdecimal() else 1


def budgets(spec: Json, replicas: int) -> tuple[int, int]:
    """(surge, unavailable) of a LeaderWorkerSet's spec."""
    strategy = spec.get("rolloutStrategy") or {}
    configuration = strategy.get("rollingUpdateConfiguration") or {}
    surge = _share(configuration.get("maxSurge", 0), replicas, up=True)
    unavailable = _share(configuration.get("maxUnavailable", 1), replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, unavailable


def _share(value: Any, of: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    percent = int(str(value).rstrip("%")) * of
    return -(-percent // 100) if up else percent // 100
