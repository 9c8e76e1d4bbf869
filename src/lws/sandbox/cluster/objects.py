"""What controllers read off objects, and how they change copies of them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lws.base.clock import Clock
from lws.base.times import format_time, parse_time
from lws.sandbox.server.verbs import JsonObject

TERMINAL = frozenset(("Failed", "Succeeded"))


def uid_of(obj: JsonObject) -> str:
    """`metadata.uid`."""
    uid: str = obj["metadata"]["uid"]
    return uid


def name_of(obj: JsonObject) -> str:
    """`metadata.name`."""
    name: str = obj["metadata"]["name"]
    return name


def namespace_of(obj: JsonObject) -> str:
    """`metadata.namespace`; empty if the kind has none."""
    namespace: str = obj["metadata"].get("namespace") or ""
    return namespace


def place_of(obj: JsonObject) -> tuple[str, str]:
    """Namespace and name."""
    return namespace_of(obj), name_of(obj)


def version_of(obj: JsonObject) -> int:
    """`metadata.resourceVersion`, which orders the lives of one object."""
    return int(obj["metadata"]["resourceVersion"])


def labels_of(obj: JsonObject) -> Mapping[str, str]:
    """`metadata.labels`, perhaps empty."""
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels


def annotations_of(obj: JsonObject) -> Mapping[str, str]:
    """`metadata.annotations`, perhaps empty."""
    annotations: Mapping[str, str] = obj["metadata"].get("annotations") or {}
    return annotations


def owners_of(obj: JsonObject) -> Iterable[JsonObject]:
    """`metadata.ownerReferences`, perhaps empty."""
    owners: Iterable[JsonObject] = obj["metadata"].get("ownerReferences") or ()
    return owners


def finalizers_of(obj: JsonObject) -> Iterable[str]:
    """`metadata.finalizers`, perhaps empty."""
    finalizers: Iterable[str] = obj["metadata"].get("finalizers") or ()
    return finalizers


def controller_of(obj: JsonObject) -> JsonObject | None:
    """The owner reference of the controller."""
    return next((owner for owner in owners_of(obj) if owner.get("controller")), None)


def is_terminating(obj: JsonObject) -> bool:
    """Has somebody deleted it, though it is still there?"""
    return bool(obj["metadata"].get("deletionTimestamp"))


def status_of(obj: JsonObject) -> Mapping[str, Any]:
    """`status`, perhaps empty."""
    status: Mapping[str, Any] = obj.get("status") or {}
    return status


def phase_of(pod: JsonObject) -> str:
    """`status.phase`; empty if it is not there yet."""
    phase: str = status_of(pod).get("phase") or ""
    return phase


def condition_of(obj: JsonObject, kind: str) -> JsonObject | None:
    """One of `status.conditions`."""
    for condition in status_of(obj).get("conditions") or ():
        if condition["type"] == kind:
            found: JsonObject = condition
            return found
    return None


def has_condition(obj: JsonObject, kind: str, status: str = "True") -> bool:
    """Does it have the condition, with this status?"""
    condition = condition_of(obj, kind)
    return condition is not None and condition.get("status") == status


def is_ready(pod: JsonObject) -> bool:
    """Does the pod have the condition Ready?"""
    return has_condition(pod, "Ready")


def is_running_and_ready(pod: JsonObject) -> bool:
    """Phase Running, and Ready."""
    return phase_of(pod) == "Running" and is_ready(pod)


def available_in(pod: JsonObject, min_ready: int, now: float) -> float | None:
    """Seconds until a ready pod has been so for long enough (0: it has); None if not ready."""
    condition = condition_of(pod, "Ready")
    if condition is None or condition.get("status") != "True":
        return None
    since = condition.get("lastTransitionTime")
    if not min_ready:
        return 0.0
    return max(0.0, parse_time(since) + min_ready - now) if since else None


def is_available(pod: JsonObject, min_ready: int, now: float) -> bool:
    """Ready for at least so many seconds?"""
    return available_in(pod, min_ready, now) == 0.0


def owner_reference(owner: JsonObject) -> JsonObject:
    """For what `owner` controls."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def with_metadata(obj: JsonObject, **fields: Any) -> JsonObject:
    """A copy with other metadata; a field of None is left out."""
    metadata = {**obj["metadata"], **fields}
    return {**obj, "metadata": {name: one for name, one in metadata.items() if one is not None}}


def with_status(obj: JsonObject, **fields: Any) -> JsonObject:
    """A copy with another status; a field of None is left out."""
    status = {**status_of(obj), **fields}
    return {**obj, "status": {name: one for name, one in status.items() if one is not None}}


def condition(
    clock: Clock, kind: str, status: str, reason: str = "", message: str = ""
) -> JsonObject:
    """A new condition, of now."""
    entry: JsonObject = {"type": kind, "status": status}
    if reason:
        entry["reason"] = reason
    if message:
        entry["message"] = message
    entry["lastTransitionTime"] = format_time(clock.now())
    return entry


def with_conditions(obj: JsonObject, *news: JsonObject) -> JsonObject:
    """A copy with these conditions; one whose status stays keeps its transition time."""
    conditions = list(status_of(obj).get("conditions") or ())
    for entry in news:
        place = next((i for i, old in enumerate(conditions) if old["type"] == entry["type"]), None)
        if place is None:
            conditions.append(entry)
            continue
        old = conditions[place]
        if old.get("status") == entry["status"]:
            entry = {**entry, "lastTransitionTime": old.get("lastTransitionTime")}
        conditions[place] = entry
    return with_status(obj, conditions=conditions)


def counted(objects: Iterable[JsonObject], test: Callable[[JsonObject], bool]) -> int:
    """How many pass."""
    return sum(1 for obj in objects if test(obj))
