"""What a pod uses of a quota, and what a quota asks of it."""

from collections.abc import Collection, Iterator
from typing import Any

from lws.base.times import parse_time
from lws.sandbox.schema.amounts import ONE, Amount, Amounts, amounts, total
from lws.sandbox.schema.totals import containers_together, is_of_pods
from lws.sandbox.server.documents import part

JsonObject = dict[str, Any]

OBJECTS = "count/pods"
_PLAIN = frozenset(("cpu", "memory", "ephemeral-storage"))
_NAMES = frozenset(
    (
        "pods",
        OBJECTS,
        *_PLAIN,
        *(f"{which}.{name}" for which in ("requests", "limits") for name in _PLAIN),
    )
)
_HUGE = ("hugepages-", "requests.hugepages-")
_REQUESTS = "requests."
_MUST_BE_SAID = frozenset(
    ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
)
"""A quota of these counts only pods all of whose containers say what they need."""


def covers(name: str) -> bool:
    """Does a quota of this resource count pods?"""
    if name in _NAMES or name.startswith(_HUGE):
        return True
    return name.startswith(_REQUESTS) and is_extended(name.removeprefix(_REQUESTS))


def is_extended(name: str) -> bool:
    """Is it a resource that a device plugin brings, as `nvidia.com/gpu`?"""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(_REQUESTS)


def usage(pod: JsonObject, now: float) -> Amounts:
    """What it uses; one whose containers have ended, or should have, is only an object."""
    if not is_counted(pod, now):
        return {OBJECTS: ONE}
    used = {OBJECTS: ONE, "pods": ONE}
    for name, value in needed(pod["spec"], "requests").items():
        if name in _PLAIN or name.startswith("hugepages-"):
            used[name] = used[f"{_REQUESTS}{name}"] = value
        elif is_extended(name):
            used[f"{_REQUESTS}{name}"] = value
    for name, value in needed(pod["spec"], "limits").items():
        if name in _PLAIN:
            used[f"limits.{name}"] = value
    return used


def is_counted(pod: JsonObject, now: float) -> bool:
    """Does it still hold what it asked for?"""
    if part(pod, "status", "phase") in ("Failed", "Succeeded"):
        return False
    metadata = pod["metadata"]
    end, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return end is None or grace is None or now <= parse_time(end) + grace


def frees(old: JsonObject, new: JsonObject, now: float) -> bool:
    """Has it given back what it held?"""
    return is_counted(old, now) and not is_counted(new, now)


def needed(spec: JsonObject, which: str) -> dict[str, Amount]:
    """What the containers need together; the pod's own word comes first."""
    found = containers_together(spec, which)
    found |= _of_the_whole(spec, which)
    overhead = amounts(spec.get("overhead"))
    if which == "limits":
        overhead = {name: value for name, value in overhead.items() if name in found}
    return total((found, overhead))


def _of_the_whole(spec: JsonObject, which: str) -> dict[str, Amount]:
    said = amounts(part(spec, "resources", which))
    return {name: value for name, value in said.items() if is_of_pods(name)}


def missing(pod: JsonObject, names: Collection[str]) -> str:
    """What it must say and does not, for which containers; empty if all is said."""
    wanted = sorted(_MUST_BE_SAID.intersection(names))
    if not wanted or part(pod, "spec", "resources"):
        return ""
    silent = ((name, sorted(_silent(pod["spec"], name))) for name in wanted)
    return "; ".join(f"{name} for: {','.join(found)}" for name, found in silent if found)


def _silent(spec: JsonObject, name: str) -> Iterator[str]:
    which, _, resource = name.rpartition(".")
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        if resource not in (resources.get(which or "requests") or {}):
            yield container["name"]
