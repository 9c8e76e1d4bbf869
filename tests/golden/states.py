"""More worlds of the kind: any state of an update, made out of golden ones.

A group is taken from a golden world and put in another place: names, labels, keys, owners, the
environment of its pods, its StatefulSet's revision with its hash; all of it as the public
controller and the StatefulSet controller would have written it there, managedFields included. That
this is so is shown by making golden groups out of their neighbours (`test_states`).
"""

import copy
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from lws.api import names
from lws.sandbox.cluster.hashing import encoded, hash_of
from tests.golden.worlds import NAMESPACE, Document, World, load

UNREADY = "test.lws/unready"
"""Kubelets of the sandbox and their stand-in leave a pod with this annotation not ready."""
_SPACE = uuid.UUID("5d0c0a52-0000-4000-8000-000000000000")


class Group(Enum):
    """What may stand in a place."""

    OLD = "old"
    OLD_BROKEN = "old, a worker is not ready and stays so"
    NEW = "new"
    NEW_STARTING = "new, its worker has just been placed"
    GONE = "gone: its leader was deleted and is not made again yet"

    @property
    def is_new(self) -> bool:
        """Of the wanted revision."""
        return self in (Group.NEW, Group.NEW_STARTING)

    @property
    def is_ready(self) -> bool:
        """All its pods are."""
        return self in (Group.OLD, Group.NEW)


@dataclass(frozen=True, slots=True)
class State:
    """Where an update stands: groups in their order, those of the surge last."""

    groups: tuple[Group, ...]
    partition: int
    """Of the leader StatefulSet."""
    replicas: int = 4
    surge: int = 0
    unavailable: int = 1
    held_at: int = 0
    """spec.partition."""

    def __str__(self) -> str:
        letters = {"OLD": "o", "OLD_BROKEN": "x", "NEW": "n", "NEW_STARTING": "s", "GONE": "-"}
        row = "".join(letters[group.name] for group in self.groups)
        return f"{row} P{self.partition} surge{self.surge} unavailable{self.unavailable}"


@dataclass(slots=True)
class Objects:
    """By kind."""

    statefulsets: list[Document] = field(default_factory=list)
    pods: list[Document] = field(default_factory=list)
    controllerrevisions: list[Document] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sample:
    """One group of a golden world: its leader, its workers, and what makes them."""

    lws: str
    index: int
    objects: World

    @property
    def name(self) -> str:
        """Of the group."""
        return f"{self.lws}-{self.index}"


def sample(world: World, lws: str, index: int) -> Sample:
    """A group as it stands in a world."""
    name = f"{lws}-{index}"

    def is_its(one: Document) -> bool:
        metadata = one["metadata"]
        labels = metadata.get("labels") or {}
        if labels.get(names.NAME) != lws or labels.get(names.GROUP_INDEX) != str(index):
            return False
        return bool(metadata["name"].startswith(name))

    kinds = ("statefulsets", "pods", "controllerrevisions")
    return Sample(lws, index, {kind: [o for o in world[kind] if is_its(o)] for kind in kinds})


def placed(group: Sample, *, lws: str, index: int) -> World:
    """The same group in another place."""
    leader = f"{lws}-{index}"
    text = json.dumps(group.objects)
    text = re.sub(rf"\b{re.escape(group.name)}\b(?!\.)(?=[-\"./]|$)", leader, text)
    text = re.sub(rf"\b{re.escape(group.name)}\.{re.escape(group.lws)}\.", f"{leader}.{lws}.", text)
    for kind in group.objects.values():
        for one in kind:
            uid = one["metadata"]["uid"]
            text = text.replace(uid, str(uuid.uuid5(_SPACE, f"{uid}{leader}")))
    moved: World = json.loads(text)
    key = names.group_key(NAMESPACE, leader)
    moved = _relabelled(moved, {names.GROUP_INDEX: str(index), names.GROUP_KEY: key})
    for pod in moved["pods"]:
        if pod["metadata"]["name"] == leader:
            pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = str(index)
    return _rehashed(moved, leader)


def _relabelled(value: Any, labels: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: labels[key] if key in labels and isinstance(one, str) else _relabelled(one, labels)
            for key, one in value.items()
        }
    return [_relabelled(one, labels) for one in value] if isinstance(value, list) else value


def _rehashed(moved: World, leader: str) -> World:
    """Its StatefulSet's revision is named by the hash of what it holds."""
    (revision,) = moved["controllerrevisions"]
    old = revision["metadata"]["labels"][names.STATEFULSET_REVISION_HASH]
    new = hash_of(encoded(revision["data"]), 0)
    text = json.dumps(moved).replace(f'"{leader}-{old}"', f'"{leader}-{new}"')
    rehashed: World = json.loads(text.replace(f'"{old}"', f'"{new}"'))
    return rehashed


def starting(group: World) -> World:
    """Its workers are placed, and their containers are being made."""
    found = copy.deepcopy(group)
    for pod in found["pods"]:
        if names.LEADER_NAME in pod["metadata"]["annotations"]:
            placed_condition = [
                one for one in pod["status"]["conditions"] if one["type"] == "PodScheduled"
            ]
            pod["status"] = {
                "phase": "Pending",
                "conditions": placed_condition,
                "qosClass": pod["status"]["qosClass"],
            }
            fields = pod["metadata"]["managedFields"]
            fields[:] = [entry for entry in fields if entry.get("subresource") != "status"]
    return _workers_unready(found)


def broken(group: World) -> World:
    """A worker runs and is not ready, for good."""
    found = copy.deepcopy(group)
    for pod in found["pods"]:
        if names.LEADER_NAME in pod["metadata"]["annotations"]:
            pod["metadata"]["annotations"][UNREADY] = "yes"
            for condition in pod["status"]["conditions"]:
                if condition["type"] in ("Ready", "ContainersReady"):
                    condition["status"] = "False"
            for container in pod["status"]["containerStatuses"]:
                container["ready"] = False
    return _workers_unready(found)


def _workers_unready(group: World) -> World:
    (statefulset,) = group["statefulsets"]
    statefulset["status"].pop("readyReplicas", None)
    statefulset["status"]["availableReplicas"] = 0
    return group


def merged(worlds: Iterable[World]) -> Objects:
    """Several groups together."""
    found = Objects()
    for world in worlds:
        found.statefulsets += world["statefulsets"]
        found.pods += world["pods"]
        found.controllerrevisions += world["controllerrevisions"]
    return found


LWS = "canary"


def world_in(state: State) -> World:
    """A LeaderWorkerSet in the middle of an update, out of the golden canary."""
    golden = load("lws-canary-held")
    old, new = sample(golden, LWS, 0), sample(golden, LWS, 3)
    groups = [
        _group(group, old=old, new=new, index=index)
        for index, group in enumerate(state.groups)
        if group is not Group.GONE
    ]
    found = merged(groups)
    (lws,) = copy.deepcopy(golden["leaderworkersets"])
    leader = copy.deepcopy(next(o for o in golden["statefulsets"] if o["metadata"]["name"] == LWS))
    _set_up(lws, state)
    _lead(leader, state)
    own = [
        one
        for one in golden["controllerrevisions"]
        if names.GROUP_INDEX not in one["metadata"]["labels"]
    ]
    return {
        "leaderworkersets": [lws],
        "statefulsets": [leader, *found.statefulsets],
        "controllerrevisions": [*own, *found.controllerrevisions],
        "services": golden["services"],
        "pods": found.pods,
    }


def _group(group: Group, *, old: Sample, new: Sample, index: int) -> World:
    stands = placed(new if group.is_new else old, lws=LWS, index=index)
    if group is Group.NEW_STARTING:
        return starting(stands)
    return broken(stands) if group is Group.OLD_BROKEN else stands


def _set_up(lws: Document, state: State) -> None:
    rolling = lws["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    rolling |= {
        "maxSurge": state.surge,
        "maxUnavailable": state.unavailable,
        "partition": state.held_at,
    }
    lws["spec"]["replicas"] = state.replicas
    within = state.groups[state.held_at : state.replicas]
    updating = any(not one.is_new and one is not Group.GONE for one in within)
    kept = state.groups[: state.replicas]
    available = not updating and all(one.is_ready for one in kept)
    truth = {
        "Progressing": not available,
        "Available": available,
        "UpdateInProgress": updating,
    }
    for condition in lws["status"]["conditions"]:
        condition["status"] = "True" if truth[condition["type"]] else "False"
    ready = sum(one.is_ready for one in state.groups)
    updated = sum(one.is_new for one in state.groups)
    for name, count in (("readyReplicas", ready), ("updatedReplicas", updated)):
        lws["status"].pop(name, None)
        lws["status"] |= {name: count} if count else {}
    lws["status"]["replicas"] = sum(one is not Group.GONE for one in state.groups)


def _lead(leader: Document, state: State) -> None:
    leader["spec"]["replicas"] = len(state.groups)
    leader["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = state.partition
    leader["metadata"]["annotations"][names.REPLICAS] = str(state.replicas)
    status = leader["status"]
    there = [one for one in state.groups if one is not Group.GONE]
    # A leader is ready by itself, whatever its workers are.
    updated = sum(one.is_new for one in there)
    counts = {
        "replicas": len(there),
        "readyReplicas": len(there),
        "availableReplicas": len(there),
        "updatedReplicas": updated,
        "currentReplicas": len(there) - updated,
    }
    if updated == len(state.groups):  # the StatefulSet controller has come to its end
        status["currentRevision"] = status["updateRevision"]
        counts["currentReplicas"] = updated
    for name, count in counts.items():
        status.pop(name, None)
        if count or name in ("replicas", "availableReplicas"):
            status[name] = count


def states() -> list[State]:
    """Every partition of four groups under several budgets, each at rest and with trouble."""
    found: list[State] = []
    for surge, unavailable in ((0, 1), (0, 2), (1, 0), (2, 0), (1, 1)):
        for partition in range(5):
            found += _at(partition, surge=surge, unavailable=unavailable)
    return found


def _at(partition: int, *, surge: int, unavailable: int) -> Sequence[State]:
    old = [Group.OLD] * partition
    new = [Group.NEW] * (4 + surge - partition)
    step = min(surge + unavailable, len(new))

    def state(groups: list[Group]) -> State:
        return State(tuple(groups), partition, surge=surge, unavailable=unavailable)

    rows = [[*old, *new]]
    if new:
        rows.append([*old, *([Group.NEW_STARTING] * step), *new[step:]])
        rows.append([*old, Group.GONE, *new[1:]])
    if old:
        rows.append([Group.OLD_BROKEN, *old[1:], *new])
    if partition < 4:
        rows.append([*old, Group.OLD, *new[1:]])
    return [state(row) for row in rows]
