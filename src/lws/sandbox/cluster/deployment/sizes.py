"""Numbers that Deployments and their ReplicaSets speak of."""

import math
from collections.abc import Iterable

from lws.sandbox.cluster.objects import annotations_of, name_of, status_of
from lws.sandbox.server.verbs import JsonObject

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
_UNLIMITED = 2**31 - 1


def replicas_of(obj: JsonObject) -> int:
    """`spec.replicas`, of a Deployment or a ReplicaSet."""
    replicas = obj["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def available_of(obj: JsonObject) -> int:
    """`status.availableReplicas`."""
    return int(status_of(obj).get("availableReplicas") or 0)


def total(sets: Iterable[JsonObject]) -> int:
    """The replicas of all of them."""
    return sum(map(replicas_of, sets))


def total_available(sets: Iterable[JsonObject]) -> int:
    """The available pods of all of them."""
    return sum(map(available_of, sets))


def active(sets: Iterable[JsonObject]) -> list[JsonObject]:
    """Those that are to have pods."""
    return [one for one in sets if replicas_of(one) > 0]


def oldest_first(sets: Iterable[JsonObject]) -> list[JsonObject]:
    """By the time when they were made."""
    return sorted(sets, key=lambda one: (one["metadata"]["creationTimestamp"], name_of(one)))


def revision_of(replica_set: JsonObject) -> int:
    """The number of the revision; 0 if it has none."""
    return number(annotations_of(replica_set).get(REVISION))


def number(text: str | None) -> int:
    """What an annotation says; 0 if that is none."""
    return int(text) if text and text.isascii() and text.isdecimal() else 0


def is_recreate(deployment: JsonObject) -> bool:
    """Do all old pods go before new ones come?"""
    return bool((deployment["spec"].get("strategy") or {}).get("type") == "Recreate")


def deadline_of(deployment: JsonObject) -> int | None:
    """In how many seconds there is to be progress; None if it does not matter."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds is None or seconds == _UNLIMITED else int(seconds)


def history_limit_of(deployment: JsonObject) -> int | None:
    """How many old ReplicaSets are kept; None if all are."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    return None if limit is None or limit == _UNLIMITED else int(limit)


def min_ready_of(deployment: JsonObject) -> int:
    """`spec.minReadySeconds`."""
    return int(deployment["spec"].get("minReadySeconds") or 0)


def max_surge(deployment: JsonObject) -> int:
    """How many pods there may be beyond the replicas."""
    return 0 if is_recreate(deployment) else _bounds(deployment)[0]


def max_unavailable(deployment: JsonObject) -> int:
    """How many of the replicas may be unavailable; at least one if there is no surge."""
    replicas = replicas_of(deployment)
    return 0 if is_recreate(deployment) else min(_bounds(deployment)[1], replicas)


def _bounds(deployment: JsonObject) -> tuple[int, int]:
    replicas = replicas_of(deployment)
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = math.ceil(_share(rolling.get("maxSurge"), replicas))
    unavailable = math.floor(_share(rolling.get("maxUnavailable"), replicas))
    return surge, unavailable if surge or unavailable else 1


def _share(value: int | str | None, replicas: int) -> float:
    if isinstance(value, str):
        return int(value.removesuffix("%")) * replicas / 100
    return value or 0
