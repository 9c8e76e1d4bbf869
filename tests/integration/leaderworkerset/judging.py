"""What groups are, read off pods alone: the judge of the bounds shares nothing with the operator.

A group is ready as soon as its leader and all its workers, of one revision, are ready: that is no
later than the operator can know it, and a group that loses a pod stops being ready in that moment.
"""

from collections.abc import Mapping

from harness import pods
from harness.kube import Json
from tests.integration.leaderworkerset.manifests import PREFIX

_NAME, _GROUP, _WORKER, _KEY = (
    PREFIX + label for label in ("name", "group-index", "worker-index", "template-revision-hash")
)
_SIZE = f"{PREFIX}size"


def leaders(live: Mapping[str, Json], name: str) -> dict[int, Json]:
    """The leader pods of a set by group."""
    return {
        int(_group(pod)): pod
        for pod in live.values()
        if _is(pod, name) and pod["metadata"]["labels"].get(_WORKER) == "0"
    }


def ready_groups(live: Mapping[str, Json], name: str) -> set[int]:
    """Groups of which every pod is there and ready."""
    return whole_groups({key: pod for key, pod in live.items() if pods.is_ready(pod)}, name)


def whole_groups(live: Mapping[str, Json], name: str) -> set[int]:
    """Groups of which every pod is there, of one revision, and none is being deleted."""
    return {group for group, leader in leaders(live, name).items() if _is_whole(live, leader, name)}


class Bounds:
    """Invariant: at least `floor` groups ready, at most `ceiling` there; and what was reached."""

    def __init__(self, name: str, *, floor: int, ceiling: int | None) -> None:
        self._name, self._floor, self._ceiling = name, floor, ceiling
        self.fewest_ready: int | None = None
        self.most_there = 0

    def __call__(self, live: Mapping[str, Json]) -> str | None:
        """What is wrong with the pods that there are now."""
        ready, there = ready_groups(live, self._name), leaders(live, self._name)
        fewest = self.fewest_ready
        self.fewest_ready = len(ready) if fewest is None else min(fewest, len(ready))
        self.most_there = max(self.most_there, len(there))
        if len(ready) < self._floor:
            return f"only groups {sorted(ready)} ready, the floor is {self._floor}"
        if self._ceiling is not None and len(there) > self._ceiling:
            return f"groups {sorted(there)} are there, the ceiling is {self._ceiling}"
        return None


def _is(pod: Json, name: str) -> bool:
    labels: dict[str, str] = pod["metadata"].get("labels", {})
    return labels.get(_NAME) == name


def _group(leader: Json) -> str:
    """Where no webhook labels leaders, their names tell."""
    meta = leader["metadata"]
    found: str = meta["labels"].get(_GROUP) or meta["name"].rpartition("-")[2]
    return found


def _is_whole(live: Mapping[str, Json], leader: Json, name: str) -> bool:
    labels, size = leader["metadata"]["labels"], int(leader["metadata"]["annotations"][_SIZE])
    group = _group(leader)
    members = [
        pod
        for pod in live.values()
        if _is(pod, name)
        and (pod is leader or pod["metadata"]["labels"].get(_GROUP) == group)
        and pod["metadata"]["labels"].get(_KEY) == labels[_KEY]
        and "deletionTimestamp" not in pod["metadata"]
    ]
    return leader in members and len(members) >= size
