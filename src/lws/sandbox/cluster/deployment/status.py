"""The status of a Deployment, counted from its ReplicaSets."""

from collections.abc import Sequence
from typing import Any

from lws.base.clock import Clock
from lws.base.times import format_time, parse_time
from lws.sandbox.cluster.deployment.sizes import (
    available_of,
    deadline_of,
    max_unavailable,
    replicas_of,
    total,
    total_available,
)
from lws.sandbox.cluster.objects import condition_of, name_of, status_of
from lws.sandbox.server.verbs import JsonObject

PROGRESSING, AVAILABLE, FAILURE = "Progressing", "Available", "ReplicaFailure"
COMPLETE, TIMED_OUT = "NewReplicaSetAvailable", "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"


def entry(clock: Clock, kind: str, status: str, reason: str, message: str) -> JsonObject:
    """A new condition, of now."""
    now = format_time(clock.now())
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def with_entry(status: JsonObject, new: JsonObject) -> JsonObject:
    """With a condition; nothing changes if there is one with its status and reason."""
    present = find(status, new["type"])
    if present is not None and present["status"] == new["status"]:
        if present.get("reason") == new["reason"]:
            return status
        new = {**new, "lastTransitionTime": present.get("lastTransitionTime")}
    return {**status, "conditions": [*_others(status, new["type"]), new]}


def without_entry(status: JsonObject, kind: str) -> JsonObject:
    """Without a condition."""
    return {**status, "conditions": _others(status, kind)}


def find(status: JsonObject, kind: str) -> JsonObject | None:
    """A condition of a status."""
    return condition_of({"status": status}, kind)


def _others(status: JsonObject, kind: str) -> list[JsonObject]:
    return [one for one in status.get("conditions") or () if one["type"] != kind]


def counted_status(
    deployment: JsonObject, sets: Sequence[JsonObject], new: JsonObject | None, clock: Clock
) -> JsonObject:
    """The counts, and whether that is enough; counts of 0 are left out."""
    available = total_available(sets)
    counts = {
        "observedGeneration": deployment["metadata"].get("generation") or 0,
        "replicas": _sum(sets, "replicas"),
        "updatedReplicas": int(status_of(new).get("replicas") or 0) if new is not None else 0,
        "readyReplicas": _sum(sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total(sets) - available),
    }
    present = status_of(deployment)
    kept = {name: present[name] for name in ("collisionCount", "conditions") if present.get(name)}
    status = {name: count for name, count in counts.items() if count} | kept
    status["terminatingReplicas"] = _sum(sets, "terminatingReplicas")
    is_enough = available >= replicas_of(deployment) - max_unavailable(deployment)
    return with_entry(status, _availability(clock, is_enough=is_enough))


def _sum(sets: Sequence[JsonObject], field: str) -> int:
    return sum(int(status_of(one).get(field) or 0) for one in sets)


def _availability(clock: Clock, *, is_enough: bool) -> JsonObject:
    if is_enough:
        text = "Deployment has minimum availability."
        return entry(clock, AVAILABLE, "True", "MinimumReplicasAvailable", text)
    text = "Deployment does not have minimum availability."
    return entry(clock, AVAILABLE, "False", "MinimumReplicasUnavailable", text)


def is_complete(deployment: JsonObject, status: JsonObject) -> bool:
    """Are all replicas new and available, and no others there?"""
    wanted = replicas_of(deployment)
    counts = ("updatedReplicas", "replicas", "availableReplicas")
    observed = status.get("observedGeneration") or 0
    is_seen = observed >= (deployment["metadata"].get("generation") or 0)
    return is_seen and all((status.get(name) or 0) == wanted for name in counts)


def with_progress(
    deployment: JsonObject,
    status: JsonObject,
    sets: Sequence[JsonObject],
    new: JsonObject | None,
    clock: Clock,
) -> JsonObject:
    """With what is to be told of a rollout: how it goes on, and what fails."""
    if deadline_of(deployment) is None:
        status = without_entry(status, PROGRESSING)
    elif not _was_complete(status):
        status = _with_news(deployment, status, new, clock)
    failure = _failure_of(sets, new)
    if failure is None:
        return without_entry(status, FAILURE)
    made = entry(clock, FAILURE, failure["status"], failure["reason"], failure.get("message", ""))
    times = {"lastTransitionTime": failure.get("lastTransitionTime")}
    return with_entry(status, {**made, **times, "lastUpdateTime": times["lastTransitionTime"]})


def _was_complete(status: JsonObject) -> bool:
    present = find(status, PROGRESSING)
    is_whole = (status.get("replicas") or 0) == (status.get("updatedReplicas") or 0)
    return is_whole and present is not None and present.get("reason") == COMPLETE


def _with_news(
    deployment: JsonObject, status: JsonObject, new: JsonObject | None, clock: Clock
) -> JsonObject:
    who = f'ReplicaSet "{name_of(new)}"' if new else f'Deployment "{name_of(deployment)}"'

    def make(is_so: str, reason: str, text: str) -> JsonObject:
        return entry(clock, PROGRESSING, is_so, reason, f"{who} {text}")

    if is_complete(deployment, status):
        return with_entry(status, make("True", COMPLETE, "has successfully progressed."))
    if _has_progressed(deployment, status):
        fresh = make("True", "ReplicaSetUpdated", "is progressing.")
        present = find(status, PROGRESSING)
        if present is not None and present["status"] == "True":
            fresh["lastTransitionTime"] = present.get("lastTransitionTime")
        return with_entry(without_entry(status, PROGRESSING), fresh)
    if is_late(deployment, status, clock.now()):
        return with_entry(status, make("False", TIMED_OUT, "has timed out progressing."))
    return status


def _has_progressed(deployment: JsonObject, status: JsonObject) -> bool:
    """More new, ready or available pods than before, or fewer old ones?"""
    before = status_of(deployment)

    def count(of: Any, name: str) -> int:
        return int(of.get(name) or 0)

    def old(of: Any) -> int:
        return count(of, "replicas") - count(of, "updatedReplicas")

    more = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old(status) < old(before) or any(
        count(status, name) > count(before, name) for name in more
    )


def is_late(deployment: JsonObject, status: JsonObject, now: float) -> bool:
    """Has there been no progress for as long as is allowed?"""
    present = find(status, PROGRESSING)
    if present is None or present.get("reason") == COMPLETE:
        return False
    if present.get("reason") == TIMED_OUT:
        return True
    deadline = deadline_of(deployment)
    return deadline is not None and parse_time(present["lastUpdateTime"]) + deadline < now


def late_in(deployment: JsonObject, status: JsonObject, now: float) -> float | None:
    """In how many seconds that is to be looked at; None if there is nothing to wait for."""
    present, deadline = find(status, PROGRESSING), deadline_of(deployment)
    if deadline is None or present is None:
        return None
    if is_complete(deployment, status) or present.get("reason") == TIMED_OUT:
        return None
    return max(0.0, parse_time(present["lastUpdateTime"]) + deadline - now) + 1


def _failure_of(sets: Sequence[JsonObject], new: JsonObject | None) -> JsonObject | None:
    """Why pods are not made or ended; of the new ReplicaSet, if it has trouble."""
    ordered = sets if new is None else [new, *sets]
    found = (condition_of(one, FAILURE) for one in ordered)
    return next((one for one in found if one is not None), None)


def is_saturated(deployment: JsonObject, new: JsonObject | None, desired: int) -> bool:
    """Has the new ReplicaSet all replicas, all available? `desired`: as it remembers."""
    wanted = replicas_of(deployment)
    return new is not None and desired == replicas_of(new) == available_of(new) == wanted
