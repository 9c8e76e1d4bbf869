"""What groups are, read off pods alone: the judge of the bounds shares nothing with the operator.

A group is ready as soon as its leader and all its workers, of one revision, are ready: that is no
later than the operator can know it, and a group that loses a pod stops being ready in that moment.
"""

from collections.abc import Mapping

from harness import pods
from harness.kube import Json
from harness.watching import Invariant
from tests.integration.leaderworkerset.manifests import PREFIX

_NAME, _GROUP, _WORKER, _KEY = (
    PREFIX + label for label in ("name", "group-index", "worker-index", "template-revision-hash")
)
_SIZE = f"{PREFIX}size"


def leaders(live: Mapping[str, Json], name: str) -> dict[int, Json]:
    """The leader pods of a set by group."""
    return {
        int(pod["metadata"]["labels"][_GROUP]): pod
        for pod in live.values()
        if _is(pod, name) and pod["metadata"]["labels"].get(_WORKER) == "0"
    }


def ready_groups(live: Mapping[str, Json], name: str) -> set[int]:
    """Groups of which every pod is there and ready."""
    return {group for group, leader in leaders(live, name).items() if _is_whole(live, leader, name)}


def bounds(name: str, *, floor: int, ceiling: int | None) -> Invariant:
    """At least `floor` groups ready, at most `ceiling` groups there."""

    def problem(live: Mapping[str, Json]) -> str | None:
        ready = ready_groups(live, name)
        if len(ready) < floor:
            return f"only groups {sorted(ready)} ready, the floor is {floor}"
        there = leaders(live, name)
        if ceiling is not None and len(there) > ceiling:
            return f"groups {sorted(there)} are there, the ceiling is {ceiling}"
        return None

    return problem


def _is(pod: Json, name: str) -> bool:
    labels: dict[str, str] = pod["metadata"].get("labels", {})
    return labels.get(_NAME) == name


def _is_whole(live: Mapping[str, Json], leader: Json, name: str) -> bool:
    if not pods.is_ready(leader):
        return False
    labels, size = leader["metadata"]["labels"], int(leader["metadata"]["annotations"][_SIZE])
    workers = [
        pod
        for pod in live.values()
        if _is(pod, name)
        and pod["metadata"]["labels"].get(_GROUP) == labels[_GROUP]
        and pod["metadata"]["labels"].get(_WORKER) != "0"
        and pod["metadata"]["labels"].get(_KEY) == labels[_KEY]
        and pods.is_ready(pod)
    ]
    return len(workers) >= size - 1
