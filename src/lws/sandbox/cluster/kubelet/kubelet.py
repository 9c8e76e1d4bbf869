"""When a pod starts, becomes Ready, is restarted and ends: the kubelets of all nodes in one.

A kubelet touches only pods of nodes that are there and alive. Annotations of a pod steer it, with
the meaning that the tests' kubelet stand-in gives them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from lws.base.times import parse_time
from lws.client.resources import NODES, PODS
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.context import Context, kubelet_of
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.kubelet import statuses
from lws.sandbox.cluster.kubelet.addresses import Addresses
from lws.sandbox.cluster.kubelet.durations import seconds_of
from lws.sandbox.cluster.objects import (
    TERMINAL,
    annotations_of,
    condition_of,
    controller_of,
    has_condition,
    is_ready,
    is_terminating,
    name_of,
    namespace_of,
    phase_of,
    place_of,
    uid_of,
)
from lws.sandbox.cluster.options import ClusterOptions
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

HOLD = "test.lws/hold"
START_AFTER = "test.lws/start-after"
READY_AFTER = "test.lws/ready-after"
UNREADY = "test.lws/unready"
TERMINATE_AFTER = "test.lws/terminate-after"
COMPLETE_AFTER = "test.lws/complete-after"
STUCK = "test.lws/stuck"

ON_NODE = "node"
_BACKOFF, _BACKOFF_MAX = 10.0, 300.0
_CALM_SECONDS = 600.0  # a container that ran so long begins anew with the shortest backoff

Place = tuple[str, str]


@dataclass(slots=True)
class _Life:
    """What a kubelet remembers of a pod."""

    uid: str
    ready_after: float
    """What held when it began."""
    since: dict[str, float] = field(default_factory=dict)
    """When a wait began, by what is waited for."""
    crashes: dict[str, int] = field(default_factory=dict)
    """How often in a row a container ended soon."""
    waiting: set[str] = field(default_factory=set)
    """The containers in backoff that this kubelet put there."""
    is_told_again: bool = False
    """Is it to say anew whether the pod is ready, as somebody else said that it is not?"""


class Kubelets:
    """All kubelets. `dead` holds the names of nodes whose kubelet does nothing; `ready_after` may
    be changed, and holds for pods that start afterwards."""

    def __init__(self, context: Context, options: ClusterOptions) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._options = options
        self._pods = context.caches.of(PODS)
        self._nodes = context.caches.of(NODES)
        self._addresses = Addresses()
        self._lives: dict[Place, _Life] = {}
        self.dead: set[str] = set()
        self.ready_after = options.ready_after
        self.worker: Worker[Place] = Worker(context.clock, self._sync, parallel=20)
        self._pods.index(ON_NODE, lambda pod: (_node_of(pod),))
        self._pods.on_change(self._pod_changed)
        self._nodes.on_change(self._node_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def revive(self, node: str) -> None:
        """The kubelet of a node works again, on what has come meanwhile."""
        self.dead.discard(node)
        for pod in self._pods.by(ON_NODE, node):
            self._life(pod).is_told_again = True
            self.worker.add(place_of(pod))

    async def change(self, pod: JsonObject, change: Callable[[JsonObject], JsonObject]) -> None:
        """Write another status for what befell the pod, from its newest state."""
        space, name, uid = namespace_of(pod), name_of(pod), uid_of(pod)
        while True:
            live = self._api.get(PODS, name=name, namespace=space)
            if uid_of(live) != uid:
                return
            try:
                await self._write(change(live))
            except ApiStatus as refusal:
                if refusal.reason != "Conflict":
                    raise
            else:
                return

    # What is due

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None:
            if old is not None:
                self._lives.pop(place_of(old), None)
                self._addresses.give_back(old)
            return
        if _node_of(new):
            self._addresses.note(new)
            self.worker.add(place_of(new))

    def _node_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is None and new is not None:
            for pod in self._pods.by(ON_NODE, name_of(new)):
                self.worker.add(place_of(pod))

    def _life(self, pod: JsonObject) -> _Life:
        place = place_of(pod)
        life = self._lives.get(place)
        if life is None or life.uid != uid_of(pod):
            life = self._lives[place] = _Life(uid_of(pod), self.ready_after)
            life.waiting = {one["name"] for one in statuses.ended_entries(pod)}
        return life

    def _is_due(self, pod: JsonObject, what: str, seconds: float) -> bool:
        """Has it waited so long for this? If not, it will be looked at again in time."""
        since = self._life(pod).since
        now = self._clock.monotonic()
        left = since.setdefault(what, now) + seconds - now
        if left > 1e-6:  # also where the wait is another than it was
            self.worker.add_after(place_of(pod), left)
            return False
        return True

    # One pod

    async def _sync(self, place: Place) -> None:
        pod = self._pods.get(*place)
        if pod is None:
            return
        node = _node_of(pod)
        if node in self.dead or self._nodes.get("", node) is None:
            return
        if is_terminating(pod):
            await self._end(pod)
        elif phase_of(pod) == "Pending":
            await self._start(pod)
        elif phase_of(pod) == "Running":
            await self._keep(pod)

    async def _start(self, pod: JsonObject) -> None:
        wishes = annotations_of(pod)
        if HOLD in wishes:
            self._life(pod).since.pop("start", None)
            return
        if not self._is_due(pod, "start", _wish(pod, START_AFTER, self._options.start_after)):
            return
        node = self._nodes.get("", _node_of(pod))
        address = self._addresses.of(pod, node)
        ready = UNREADY not in wishes and not self._ready_after(pod)
        await self._write(statuses.running(pod, self._clock, address, ready=ready))
        for name in statuses.container_names(pod):
            self._tell(pod, "Normal", "Started", f"Started container {name}")

    def _ready_after(self, pod: JsonObject) -> float:
        return _wish(pod, READY_AFTER, self._life(pod).ready_after)

    async def _keep(self, pod: JsonObject) -> None:
        """Restart what has ended, and make Ready what has run for long enough."""
        life = self._life(pod)
        changed = pod
        for entry in list(statuses.ended_entries(pod)):
            changed = self._restarted(changed, entry, life)
        entries = statuses.container_statuses(changed)
        if self._is_done(changed):
            changed = statuses.completed(statuses.done(changed, self._clock), self._clock)
        elif entries and all("terminated" in (one.get("state") or {}) for one in entries):
            changed = statuses.completed(changed, self._clock)
        elif self._is_ready_due(changed) or _is_belied(changed, life):
            changed = statuses.readied(changed, self._clock, ready=True, reason="")
        if changed is not pod:
            await self._write(changed)
        life.is_told_again = False

    def _is_done(self, pod: JsonObject) -> bool:
        """Has it done its work? Only the pods of Jobs have some, and those that say how long."""
        owner = controller_of(pod)
        is_of_job = owner is not None and owner["kind"] == "Job"
        if not is_of_job and COMPLETE_AFTER not in annotations_of(pod):
            return False
        states = (one.get("state") or {} for one in statuses.container_statuses(pod))
        if not all("running" in state for state in states) or UNREADY in annotations_of(pod):
            return False
        return self._is_due(pod, "done", _wish(pod, COMPLETE_AFTER, self._ready_after(pod)))

    def _is_ready_due(self, pod: JsonObject) -> bool:
        ready = condition_of(pod, "Ready") or {}
        is_starting = ready.get("status") == "False" and ready.get("reason") == statuses.STARTING
        containers = statuses.container_statuses(pod)
        all_run = all("running" in (one.get("state") or {}) for one in containers)
        if not is_starting or not all_run or UNREADY in annotations_of(pod):
            self._life(pod).since.pop("ready", None)
            return False
        return self._is_due(pod, "ready", self._ready_after(pod))

    def _restarted(self, pod: JsonObject, entry: JsonObject, life: _Life) -> JsonObject:
        """The pod with a container restarted, or in backoff, or as it is."""
        name, state = entry["name"], entry.get("state") or {}
        terminated = state.get("terminated")
        if terminated is None and name not in life.waiting:
            return pod  # somebody else has it wait
        if terminated is not None and not _is_restarted(pod, name, terminated.get("exitCode") or 0):
            return pod
        if terminated is not None and name not in life.waiting:
            _count_crash(life, name, terminated)
        level = life.crashes.get(name, 1)
        delay = 0.0 if level <= 1 else min(_BACKOFF * 2 ** (level - 2), _BACKOFF_MAX)
        life.waiting.add(name)
        if not self._is_due(pod, f"restart {name}", delay):
            if terminated is None:
                return pod
            self._tell(pod, "Warning", "BackOff", _backoff_words(pod, name))
            message = f"back-off {delay:.0f}s restarting failed {_container_words(pod, name)}"
            return statuses.container_waits(pod, name, message)
        life.waiting.discard(name)
        life.since.pop(f"restart {name}", None)
        ready = UNREADY not in annotations_of(pod) and not self._ready_after(pod)
        return statuses.container_restarted(pod, self._clock, name, ready=ready)

    async def _end(self, pod: JsonObject) -> None:
        """A deleted pod: its containers end, then it goes."""
        if STUCK in annotations_of(pod):
            return
        grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
        if not grace:
            return  # it only waits for finalizers
        if phase_of(pod) not in TERMINAL:
            wish = _wish(pod, TERMINATE_AFTER, 0.0)
            for name in statuses.container_names(pod) if "end" not in self._life(pod).since else ():
                self._tell(pod, "Normal", "Killing", f"Stopping container {name}")
            if not self._is_due(pod, "end", min(wish, float(grace))):
                return
            exit_code = 143 if wish <= grace else 137
            await self._write(statuses.ended(pod, self._clock, exit_code=exit_code))
        await self._remove(pod)

    async def _remove(self, pod: JsonObject) -> None:
        options = DeleteOptions(grace_period_seconds=0, uid=uid_of(pod))
        with may_be_gone(409):
            await self._api.delete(
                PODS,
                name=name_of(pod),
                namespace=namespace_of(pod),
                options=options,
                caller=kubelet_of(_node_of(pod)),
            )

    # Writes

    async def _write(self, pod: JsonObject) -> None:
        updated = await self._api.update(
            PODS,
            pod,
            namespace=namespace_of(pod),
            subresource="status",
            caller=kubelet_of(_node_of(pod)),
        )
        await self._pods.seen(updated)

    def _tell(self, pod: JsonObject, kind: str, reason: str, message: str) -> None:
        if not self._options.kubelet_events:
            return
        source = Source("kubelet", _node_of(pod))
        tell = self._recorder.normal if kind == "Normal" else self._recorder.warning
        tell(source, pod, reason, message)


def _node_of(pod: JsonObject) -> str:
    node: str = pod["spec"].get("nodeName") or ""
    return node


def _wish(pod: JsonObject, annotation: str, default: float) -> float:
    text = annotations_of(pod).get(annotation)
    return default if text is None else seconds_of(text)


def _is_restarted(pod: JsonObject, name: str, exit_code: int) -> bool:
    """Does the pod's policy want a container back that ended so?"""
    if name not in statuses.container_names(pod):
        return True  # a sidecar
    policy = pod["spec"].get("restartPolicy") or "Always"
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _is_belied(pod: JsonObject, life: _Life) -> bool:
    """Did somebody call the pod unready while its node was silent?"""
    return life.is_told_again and has_condition(pod, "ContainersReady") and not is_ready(pod)


def _count_crash(life: _Life, name: str, terminated: JsonObject) -> None:
    started, finished = terminated.get("startedAt"), terminated.get("finishedAt")
    ran = parse_time(finished) - parse_time(started) if started and finished else 0.0
    life.crashes[name] = 1 if ran >= _CALM_SECONDS else life.crashes.get(name, 0) + 1


def _container_words(pod: JsonObject, name: str) -> str:
    return f"container={name} pod={name_of(pod)}_{namespace_of(pod)}({uid_of(pod)})"


def _backoff_words(pod: JsonObject, name: str) -> str:
    where = f"{name_of(pod)}_{namespace_of(pod)}({uid_of(pod)})"
    return f"Back-off restarting failed container {name} in pod {where}"
