"""A pod in a table: its state in one word."""

from collections.abc import Iterator
from typing import Any

from lws.base.times import parse_time
from lws.sandbox.server.documents import part
from lws.sandbox.server.tables.layout import NONE, Cells, age_of, duration_words, name_of

JsonObject = dict[str, Any]


class _Summary:
    """What is gathered on the way through a pod's containers."""

    def __init__(self, pod: JsonObject) -> None:
        self.pod = pod
        self.status: JsonObject = pod.get("status") or {}
        self.reason: str = self.status.get("reason") or self.status.get("phase") or ""
        self.restarts = 0
        self.last_restart = 0.0
        self.ready = 0

    def count_restarts(self, container: JsonObject) -> None:
        """Adds a container's restarts."""
        self.restarts += container.get("restartCount") or 0
        finished = part(container, "lastState", "terminated", "finishedAt")
        if finished:
            self.last_restart = max(self.last_restart, parse_time(finished))

    def has_true(self, condition: str) -> bool:
        """Is a condition of the pod true?"""
        return any(
            one.get("type") == condition and one.get("status") == "True"
            for one in self.status.get("conditions") or ()
        )


def pod_cells(pod: JsonObject, now: float) -> Cells:
    """The cells of one pod."""
    summary = _Summary(pod)
    spec = pod.get("spec") or {}
    sidecars = {
        one.get("name")
        for one in spec.get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    }
    _judge(summary, sidecars)
    total = len(spec.get("containers") or ()) + len(sidecars)
    return [
        name_of(pod),
        f"{summary.ready}/{total}",
        _final_reason(summary),
        _restarts(summary, now),
        age_of(pod, now),
        part(pod, "status", "podIP") or NONE,
        spec.get("nodeName") or NONE,
        part(pod, "status", "nominatedNodeName") or NONE,
        _gates(summary, spec),
    ]


def _judge(summary: _Summary, sidecars: set[Any]) -> None:
    for condition in summary.status.get("conditions") or ():
        if (condition.get("type"), condition.get("reason")) == ("PodScheduled", "SchedulingGated"):
            summary.reason = "SchedulingGated"
    is_initializing = _judge_init(summary, sidecars)
    if not is_initializing or summary.has_true("Initialized"):
        _forget_init_restarts(summary, sidecars)
        _judge_containers(summary)


def _judge_init(summary: _Summary, sidecars: set[Any]) -> bool:
    """Is an init container still to come to its end? Its state is then the pod's."""
    total = len(part(summary.pod, "spec", "initContainers") or ())
    for index, one in enumerate(summary.status.get("initContainerStatuses") or ()):
        summary.count_restarts(one)
        terminated = part(one, "state", "terminated")
        if terminated is not None and terminated.get("exitCode", 0) == 0:
            continue
        if one.get("name") in sidecars and one.get("started"):
            summary.ready += bool(one.get("ready"))
            continue
        waiting = part(one, "state", "waiting", "reason")
        if terminated is not None:
            summary.reason = f"Init:{_terminated_words(terminated)}"
        elif waiting and waiting != "PodInitializing":
            summary.reason = f"Init:{waiting}"
        else:
            summary.reason = f"Init:{index}/{total}"
        return True
    return False


def _forget_init_restarts(summary: _Summary, sidecars: set[Any]) -> None:
    """Once they are done, only the restarts of sidecars count."""
    summary.restarts, summary.last_restart = 0, 0.0
    for one in summary.status.get("initContainerStatuses") or ():
        if one.get("name") in sidecars:
            summary.count_restarts(one)


def _judge_containers(summary: _Summary) -> None:
    has_running, error = False, ""
    for one in _backwards(summary):
        summary.count_restarts(one)
        waiting = part(one, "state", "waiting", "reason")
        terminated = part(one, "state", "terminated")
        if waiting:
            summary.reason = waiting
        elif terminated is not None:
            summary.reason = _terminated_words(terminated)
            error = summary.reason if terminated.get("exitCode") else error
        elif one.get("ready") and part(one, "state", "running") is not None:
            has_running = True
            summary.ready += 1
    if summary.reason == "Completed":
        summary.reason = _completed_words(summary, error, has_running=has_running)


def _backwards(summary: _Summary) -> Iterator[JsonObject]:
    yield from reversed(summary.status.get("containerStatuses") or ())


def _completed_words(summary: _Summary, error: str, *, has_running: bool) -> str:
    if has_running and summary.has_true("Ready"):
        return "Running"
    return error or ("NotReady" if has_running else "Completed")


def _terminated_words(terminated: JsonObject) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _final_reason(summary: _Summary) -> str:
    if summary.pod["metadata"].get("deletionTimestamp"):
        if summary.status.get("reason") == "NodeLost":
            return "Unknown"
        if summary.status.get("phase") not in ("Failed", "Succeeded"):
            return "Terminating"
    return summary.reason


def _restarts(summary: _Summary, now: float) -> str:
    if summary.restarts and summary.last_restart:
        return f"{summary.restarts} ({duration_words(now - summary.last_restart)} ago)"
    return str(summary.restarts)


def _gates(summary: _Summary, spec: JsonObject) -> str:
    gates = spec.get("readinessGates") or ()
    if not gates:
        return NONE
    return f"{sum(summary.has_true(one.get('conditionType')) for one in gates)}/{len(gates)}"
