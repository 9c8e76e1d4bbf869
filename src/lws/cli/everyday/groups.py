"""The groups of a set: what each is made of, and why it is not ready. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.api import names
from lws.cli.everyday.family import Document, Family, group_of, labels_of, wanted_groups
from lws.cli.everyday.reasons import restarts_of, state_of, why_not_ready


@dataclass(frozen=True, slots=True)
class PodLine:
    """One pod of a group; worker 0 is the leader."""

    worker: int
    name: str
    node: str
    state: str
    restarts: int
    why: str
    ip: str
    created: str

    @property
    def role(self) -> str:
        """As a person calls it."""
        return "leader" if self.worker == 0 else f"worker {self.worker}"


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group; `problems` is empty if and only if all its pods are there and ready."""

    index: int
    size: int
    revision: str
    recreated: int
    pods: tuple[PodLine, ...]
    problems: tuple[str, ...]

    @property
    def ready_pods(self) -> int:
        """Pods that are ready."""
        return sum(pod.state == "ready" for pod in self.pods)

    @property
    def restarts(self) -> int:
        """Restarts of all its containers."""
        return sum(pod.restarts for pod in self.pods)

    @property
    def words(self) -> str:
        """The group in one line."""
        state = "; ".join(self.problems) or "ready"
        return f"group {self.index}: {state}"


def groups_of(family: Family) -> list[GroupLine]:
    """Every group that is wanted or has pods, by index."""
    pods: dict[int, list[Document]] = defaultdict(list)
    for pod in family.pods:
        index = group_of(pod)
        if index is not None:
            pods[index].append(pod)
    indexes = sorted({*range(wanted_groups(family.lws)), *pods})
    return [_group(family, index, pods.get(index, ())) for index in indexes]


def lacks_pods(family: Family) -> bool:
    """Whether a pod that should be there is not: its StatefulSet's events may say why."""
    return any(len(group.pods) < group.size for group in groups_of(family))


def _group(family: Family, index: int, pods: Sequence[Document]) -> GroupLine:
    lws = family.lws
    lines = sorted(map(_pod, pods), key=lambda line: line.worker)
    leader = next((pod for pod in pods if _worker(pod) == 0), None)
    size = _size(lws, leader)
    rows = (lws.get("status") or {}).get("groupRestarts") or ()
    recreated = next((int(row.get("count", 0)) for row in rows if row["group"] == index), 0)
    return GroupLine(
        index=index,
        size=size,
        revision="" if leader is None else labels_of(leader).get(names.REVISION_KEY, ""),
        recreated=recreated,
        pods=tuple(lines),
        problems=tuple(_problems(family, index, lines, size)),
    )


def _pod(pod: Document) -> PodLine:
    return PodLine(
        worker=_worker(pod),
        name=pod["metadata"]["name"],
        node=pod.get("spec", {}).get("nodeName") or "",
        state=state_of(pod),
        restarts=restarts_of(pod),
        why=why_not_ready(pod),
        ip=pod.get("status", {}).get("podIP") or "",
        created=pod["metadata"].get("creationTimestamp") or "",
    )


def _worker(pod: Document) -> int:
    index = labels_of(pod).get(names.WORKER_INDEX, "")
    return int(index) if index.isascii() and index.isdigit() else 0


def _size(lws: Document, leader: Document | None) -> int:
    """As the group was made; as one would be made now if it is not there."""
    made = ((leader or {}).get("metadata", {}).get("annotations") or {}).get(names.SIZE, "")
    if made.isascii() and made.isdigit():
        return int(made)
    return int(lws["spec"]["leaderWorkerTemplate"].get("size") or 1)


def _problems(family: Family, index: int, pods: Sequence[PodLine], size: int) -> list[str]:
    """Pods with the same trouble are told of together, the leader first."""
    if not pods:
        return [_missing(family, index, pods, worker=0)]
    trouble: dict[str, list[int]] = defaultdict(list)
    for pod in pods:
        if pod.state != "ready":
            trouble[", ".join(part for part in (pod.state, pod.why) if part)].append(pod.worker)
    there = {pod.worker for pod in pods}
    for worker in range(size):
        if worker not in there:
            trouble[_missing(family, index, pods, worker=worker)].append(worker)
    return [
        f"{_called(workers)} {words}"
        for words, workers in sorted(trouble.items(), key=lambda item: item[1][0])
    ]


def _missing(family: Family, index: int, pods: Sequence[PodLine], *, worker: int) -> str:
    leader = next((pod for pod in pods if pod.worker == 0), None)
    waits = family.lws["spec"].get("startupPolicy") == "LeaderReady"
    if worker and leader is not None and leader.state != "ready" and waits:
        return "not made until the leader is ready"
    name = family.lws["metadata"]["name"]
    why = family.refused.get(f"{name}-{index}" if worker else name)
    return "not made yet" if why is None else f"not made: {why}"


def _called(workers: Sequence[int]) -> str:
    """`leader`, `worker 2`, `workers 1-3, 5`, `leader and worker 1`."""
    rest = [worker for worker in workers if worker != 0]
    words = ["leader"] if len(rest) < len(workers) else []
    if rest:
        words.append(f"worker{'s' if len(rest) > 1 else ''} {ranges(rest)}")
    return " and ".join(words)


def ranges(numbers: Sequence[int]) -> str:
    """`0`, `0, 1`, `0-2, 5`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(_run(first, last) for first, last in runs)


def _run(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}, {last}" if last == first + 1 else f"{first}-{last}"


def document_of(group: GroupLine) -> Mapping[str, Any]:
    """For programs: the same facts, named as Kubernetes names things."""
    return {
        "group": group.index,
        "ready": not group.problems,
        "size": group.size,
        "readyPods": group.ready_pods,
        "revision": group.revision,
        "restarts": group.restarts,
        "recreated": group.recreated,
        "problems": list(group.problems),
        "pods": [
            {
                "name": pod.name,
                "role": pod.role,
                "node": pod.node,
                "state": pod.state,
                "restarts": pod.restarts,
                "why": pod.why,
            }
            for pod in group.pods
        ],
    }
