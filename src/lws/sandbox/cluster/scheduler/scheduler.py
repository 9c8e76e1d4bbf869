"""The loop: pods that wait for a node, the most important first, then the oldest."""

import asyncio
import heapq
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.context import CLAIMS, NAMESPACES, SCHEDULER, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import (
    TERMINAL,
    condition,
    condition_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    phase_of,
    uid_of,
    with_conditions,
)
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.cluster.scheduler.gangs import GANG, Gang, Gangs, gang_keys
from lws.sandbox.cluster.scheduler.needs import Needs, needs_of
from lws.sandbox.cluster.scheduler.placing import Unplaced, place
from lws.sandbox.cluster.scheduler.world import World
from lws.sandbox.cluster.timers import Timers
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

SOURCE = Source("default-scheduler")
_RETRY_SECONDS = 1.0
_TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


@dataclass(slots=True, eq=False)
class _Waiting:
    """A pod without a node."""

    pod: JsonObject
    needs: Needs
    gang: Gang | None
    causes: frozenset[str] = frozenset()
    """What has to change before it is worth another try; empty while it is due."""


class Scheduler:
    """Gives pods their nodes."""

    def __init__(self, context: Context, options: ClusterOptions) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._schedulers = options.schedulers
        self._pods = context.caches.of(PODS)
        self._claims = context.caches.of(CLAIMS)
        self._namespaces = context.caches.of(NAMESPACES)
        self._world = World()
        self._gangs = Gangs(context, lambda: self._wake("gang"))
        self._waiting: dict[str, _Waiting] = {}
        self._refused: set[str] = set()
        self._members: dict[Gang, dict[str, None]] = {}
        self._due: list[tuple[int, int, str]] = []
        self._order = itertools.count()
        self._news = asyncio.Event()
        self._timers = Timers(context.clock)
        self._pods.index(GANG, gang_keys)
        context.caches.of(NODES).on_change(self._node_changed)
        self._claims.on_change(lambda *_: self._wake("claims"))
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        try:
            await self._loop()
        finally:
            await self._timers.close()

    async def _loop(self) -> None:
        while True:
            while not self._due:
                self._news.clear()
                await self._news.wait()
            _, _, uid = heapq.heappop(self._due)
            waiting = self._waiting.get(uid)
            is_due = waiting is not None and not waiting.causes
            if waiting is not None and is_due and not self._world.is_placed(uid):
                await self._schedule(waiting)
            await self._clock.sleep(0)

    # What is due

    def _node_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None:
            self._world.put_node(new)
        elif old is not None:
            self._world.remove_node(name_of(old))
        self._wake("node")

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is not None and (new is None or uid_of(new) != uid_of(old)):
            self._gone(uid_of(old))
        if new is None:
            return
        uid = uid_of(new)
        if new["spec"].get("nodeName"):
            self._placed(new)
        elif is_terminating(new) or phase_of(new) in TERMINAL:
            self._forget(uid)
        elif self._is_ours(new):
            self._await(new)

    def _is_ours(self, pod: JsonObject) -> bool:
        name = pod["spec"].get("schedulerName") or "default-scheduler"
        return name in self._schedulers and not pod["spec"].get("schedulingGates")

    def _placed(self, pod: JsonObject) -> None:
        uid = uid_of(pod)
        self._forget(uid)
        if phase_of(pod) in TERMINAL:
            self._gone(uid)
        elif not self._world.is_placed(uid):
            self._world.put_pod(self._needs(pod), pod["spec"]["nodeName"])
            self._wake("companions")

    def _gone(self, uid: str) -> None:
        self._forget(uid)
        if self._world.remove_pod(uid):
            self._wake("room", "pods", "companions")

    def _forget(self, uid: str) -> None:
        waiting = self._waiting.pop(uid, None)
        self._refused.discard(uid)
        if waiting is not None and waiting.gang is not None:
            members = self._members.get(waiting.gang, {})
            members.pop(uid, None)
            if not members:
                self._members.pop(waiting.gang, None)

    def _await(self, pod: JsonObject) -> None:
        uid = uid_of(pod)
        known = self._waiting.get(uid)
        if known is not None and known.pod["spec"] == pod["spec"]:
            known.pod = pod
            return
        gang = self._gangs.of(pod)
        self._waiting[uid] = _Waiting(pod, self._needs(pod), gang)
        if gang is not None:
            self._members.setdefault(gang, {})[uid] = None
            self._wake("gang")
        self._push(self._waiting[uid])

    def _push(self, waiting: _Waiting) -> None:
        waiting.causes = frozenset()
        self._refused.discard(waiting.needs.uid)
        entry = (-waiting.needs.priority, next(self._order), waiting.needs.uid)
        heapq.heappush(self._due, entry)
        self._news.set()

    def _wake(self, *causes: str) -> None:
        if not self._refused:  # each pod that is placed would look at all that still come
            return
        for waiting in self._waiting.values():
            if not waiting.causes.isdisjoint(causes):
                self._push(waiting)

    def _needs(self, pod: JsonObject) -> Needs:
        return needs_of(pod, self._namespaces_of)

    def _namespaces_of(self, selector: Mapping[str, Any]) -> frozenset[str]:
        requirements = selector_requirements(selector) or ()
        return frozenset(
            name_of(one) for one in self._namespaces if matches_labels(requirements, labels_of(one))
        )

    # One pod, or one gang

    async def _schedule(self, waiting: _Waiting) -> None:
        problem = self._claims_problem(waiting.pod)
        if problem is not None:
            await self._refuse(waiting, problem)
        elif waiting.gang is not None:
            await self._schedule_gang(waiting, waiting.gang)
        else:
            found = place(self._world, waiting.needs)
            if isinstance(found, str):
                self._world.put_pod(waiting.needs, found)
                await self._bind(waiting, found)
            else:
                await self._refuse(waiting, found)

    async def _schedule_gang(self, first: _Waiting, gang: Gang) -> None:
        """All of the group that wait, at once; if too few fit, none."""
        wanted = self._gangs.min_member(gang)
        members = [self._waiting[uid] for uid in self._members.get(gang, {})]
        if wanted is None:
            missing = Unplaced(f'pod group "{gang.name}" not found', frozenset(("gang",)))
            await self._refuse(first, missing)
            return
        wanted -= self._count_placed(gang)
        placed: list[tuple[_Waiting, str]] = []
        problems: list[tuple[_Waiting, Unplaced]] = []
        for member in members:
            found = self._claims_problem(member.pod) or place(self._world, member.needs)
            if isinstance(found, str):
                self._world.put_pod(member.needs, found)
                placed.append((member, found))
            else:
                problems.append((member, found))
        if len(placed) < wanted:
            self._take_back(placed)
            problems = self._gang_problems(members, problems, wanted)
            placed = []
        for member, node in placed:
            await self._bind(member, node)
        for member, problem in problems:
            await self._refuse(member, problem)

    def _count_placed(self, gang: Gang) -> int:
        members = self._pods.by(GANG, gang.key)
        return sum(self._world.is_placed(uid_of(pod)) for pod in members)

    def _take_back(self, placed: Iterable[tuple[_Waiting, str]]) -> None:
        for member, _ in placed:
            self._world.remove_pod(member.needs.uid)

    def _gang_problems(
        self,
        members: list[_Waiting],
        problems: list[tuple[_Waiting, Unplaced]],
        wanted: int,
    ) -> list[tuple[_Waiting, Unplaced]]:
        """What every member is told when the group does not fit."""
        why = problems[0][1].message if problems else ""
        message = f"pod group is not ready, {len(members)} pods wait, {wanted} have to be placed"
        causes = frozenset(("gang",)).union(*(one.causes for _, one in problems))
        told = Unplaced(f"{message} at once. {why}".strip(), causes)
        return [(member, told) for member in members]

    def _claims_problem(self, pod: JsonObject) -> Unplaced | None:
        """Are all its claims there, and bound?"""
        total = len(self._world.there())
        for volume in pod["spec"].get("volumes") or ():
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if not name:
                continue
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None:
                problem = f'persistentvolumeclaim "{name}" not found'
            elif is_terminating(claim):
                problem = f'persistentvolumeclaim "{name}" is being deleted'
            elif not claim["spec"].get("volumeName"):
                problem = "pod has unbound immediate PersistentVolumeClaims"
            else:
                continue
            # preemption has not even begun, and says so in its own way
            words = f"0/{total} nodes are available: {problem}. not found"
            return Unplaced(words, frozenset(("claims",)))
        return None

    # Writes

    async def _bind(self, waiting: _Waiting, node: str) -> None:
        pod = waiting.pod
        space, name = namespace_of(pod), name_of(pod)
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": name,
                "namespace": space,
                "uid": uid_of(pod),
                "labels": self._topology_labels(node),
            },
            "target": {"kind": "Node", "name": node},
        }
        self._forget(waiting.needs.uid)
        try:
            await self._api.create(
                PODS, binding, namespace=space, name=name, subresource="binding", caller=SCHEDULER
            )
        except ApiStatus:
            self._world.remove_pod(waiting.needs.uid)
            self._timers.after(_RETRY_SECONDS, lambda: self._again(pod))
            return
        self._wake("companions")
        text = f"Successfully assigned {space}/{name} to {node}"
        self._recorder.normal(SOURCE, pod, "Scheduled", text)

    def _topology_labels(self, node: str) -> JsonObject:
        """What an API server's admission adds to a binding; the pod gets them from there."""
        info = self._world.nodes.get(node)
        labels = info.labels if info is not None else {}
        return {key: labels[key] for key in _TOPOLOGY_LABELS if key in labels}

    def _again(self, pod: JsonObject) -> None:
        """A pod that could not be bound, if it is still there."""
        present = self._pods.get(namespace_of(pod), name_of(pod))
        if present is not None and uid_of(present) == uid_of(pod):
            self._pod_changed(None, present)

    async def _refuse(self, waiting: _Waiting, problem: Unplaced) -> None:
        """Write down why; it is tried again when one of the causes changes."""
        waiting.causes = problem.causes
        if waiting.causes and waiting.needs.uid in self._waiting:
            self._refused.add(waiting.needs.uid)
        try:
            await self._write_refusal(waiting, problem)
        except ApiStatus as refusal:
            if refusal.code not in (404, 409):
                raise
            if refusal.code == 409:
                self._timers.after(_RETRY_SECONDS, lambda: self._wake(*problem.causes))

    async def _write_refusal(self, waiting: _Waiting, problem: Unplaced) -> None:
        space, name = namespace_of(waiting.pod), name_of(waiting.pod)
        pod = self._api.get(PODS, name=name, namespace=space)
        if uid_of(pod) != waiting.needs.uid:
            return
        self._recorder.warning(SOURCE, pod, "FailedScheduling", problem.message)
        present = condition_of(pod, "PodScheduled") or {}
        if present.get("message") == problem.message and present.get("status") == "False":
            return
        entry = condition(self._clock, "PodScheduled", "False", "Unschedulable", problem.message)
        entry["observedGeneration"] = pod["metadata"].get("generation") or 0
        updated = await self._api.update(
            PODS,
            with_conditions(pod, {**entry, "lastProbeTime": None}),
            namespace=space,
            subresource="status",
            caller=SCHEDULER,
        )
        await self._pods.seen(updated)
