"""The status of a pod after what befell it. Pure: every function returns a changed copy."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lws.base.clock import Clock
from lws.base.times import format_time
from lws.sandbox.cluster.objects import condition, status_of, with_conditions, with_status
from lws.sandbox.server.verbs import JsonObject

STARTING = "Starting"
"""The reason of a pod that will become Ready by itself."""
CRASHED = "CrashLoopBackOff"
_LISTS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))


@dataclass(frozen=True, slots=True)
class Address:
    """Where a pod is."""

    pod_ip: str
    host_ip: str


def container_names(pod: JsonObject) -> list[str]:
    """Of the containers proper."""
    return [one["name"] for one in pod["spec"]["containers"]]


def container_statuses(pod: JsonObject) -> list[JsonObject]:
    """`status.containerStatuses`, perhaps empty."""
    return list(status_of(pod).get("containerStatuses") or ())


def running(pod: JsonObject, clock: Clock, address: Address, *, ready: bool) -> JsonObject:
    """Its init containers are done, its containers run."""
    now = format_time(clock.now())
    spec = pod["spec"]
    started = with_status(
        pod,
        phase="Running",
        startTime=status_of(pod).get("startTime") or now,
        hostIP=address.host_ip,
        hostIPs=[{"ip": address.host_ip}],
        podIP=address.pod_ip,
        podIPs=[{"ip": address.pod_ip}],
        containerStatuses=[_running(one, now, ready=ready) for one in spec["containers"]],
        initContainerStatuses=[_done(one, now) for one in spec.get("initContainers") or ()] or None,
    )
    gates = [one["conditionType"] for one in spec.get("readinessGates") or ()]
    kinds = ("PodReadyToStartContainers", "Initialized", *gates)
    true = (condition(clock, kind, "True") for kind in kinds)
    return _with_readiness(with_conditions(started, *true), clock, ready=ready, reason=STARTING)


def readied(pod: JsonObject, clock: Clock, *, ready: bool, reason: str) -> JsonObject:
    """Its readiness changes; its containers keep running."""
    entries = [{**one, "ready": ready} for one in container_statuses(pod)]
    return _with_readiness(
        with_status(pod, containerStatuses=entries), clock, ready=ready, reason=reason
    )


def ended(
    pod: JsonObject, clock: Clock, *, exit_code: int, reason: str = "", message: str = ""
) -> JsonObject:
    """All its containers have ended; the phase is Failed."""
    now = format_time(clock.now())
    terminated = {"exitCode": exit_code, "reason": "Error", "finishedAt": now}
    entries = [_ended(one, terminated) for one in container_statuses(pod)]
    over = with_status(
        pod,
        phase="Failed",
        reason=reason or None,
        message=message or None,
        containerStatuses=entries or None,
    )
    return _with_readiness(over, clock, ready=False, reason="PodFailed")


def done(pod: JsonObject, clock: Clock) -> JsonObject:
    """All its containers have ended by themselves, with exit code 0."""
    now = format_time(clock.now())
    entries = []
    for one in container_statuses(pod):
        started = ((one.get("state") or {}).get("running") or {}).get("startedAt") or now
        terminated = {"exitCode": 0, "reason": "Completed", "startedAt": started}
        entries.append(_ended(one, {**terminated, "finishedAt": now}))
    return with_status(pod, containerStatuses=entries)


def completed(pod: JsonObject, clock: Clock) -> JsonObject:
    """All its containers have ended for good, by themselves."""
    codes = [_exit_code(one) for one in container_statuses(pod)]
    is_failed = any(codes)
    over = with_status(pod, phase="Failed" if is_failed else "Succeeded")
    return _with_readiness(
        over, clock, ready=False, reason="PodFailed" if is_failed else "PodCompleted"
    )


def container_ended(
    pod: JsonObject, clock: Clock, name: str, *, exit_code: int, reason: str
) -> JsonObject:
    """One container has ended; the pod is not Ready. Of an init container only the count is."""
    now = format_time(clock.now())

    def change(entry: JsonObject) -> JsonObject:
        state = entry.get("state") or {}
        terminated = {
            "exitCode": exit_code,
            "reason": reason,
            "startedAt": (state.get("running") or {}).get("startedAt") or now,
            "finishedAt": now,
        }
        if "running" not in state:
            again = {**entry, "lastState": {"terminated": terminated}}
            return {**again, "restartCount": (entry.get("restartCount") or 0) + 1}
        return _ended(entry, terminated)

    changed = _with_entry(pod, name, change)
    if name in container_names(pod):
        changed = _with_readiness(changed, clock, ready=False, reason="ContainersNotReady")
    return changed


def container_waits(pod: JsonObject, name: str, message: str) -> JsonObject:
    """It is to be restarted, but not yet."""

    def change(entry: JsonObject) -> JsonObject:
        waiting = {"waiting": {"reason": CRASHED, "message": message}}
        return {**entry, "lastState": entry.get("state") or {}, "state": waiting}

    return _with_entry(pod, name, change)


def container_restarted(pod: JsonObject, clock: Clock, name: str, *, ready: bool) -> JsonObject:
    """It runs again."""
    now = format_time(clock.now())

    def change(entry: JsonObject) -> JsonObject:
        state = entry.get("state") or {}
        return {
            **entry,
            "lastState": state if "terminated" in state else entry.get("lastState") or {},
            "state": {"running": {"startedAt": now}},
            "restartCount": (entry.get("restartCount") or 0) + 1,
            "ready": ready,
            "started": True,
        }

    changed = _with_entry(pod, name, change)
    if name not in container_names(pod):
        return changed
    all_ready = all(one.get("ready") for one in container_statuses(changed))
    return _with_readiness(changed, clock, ready=all_ready, reason=STARTING)


def with_entries(pod: JsonObject) -> JsonObject:
    """A pod that has not started gets the statuses of containers that wait."""
    waits = {"waiting": {"reason": "PodInitializing"}}
    fields = {
        statuses: [_entry(one, waits, ready=False, started=False) for one in specs]
        for field, statuses in _LISTS
        if not status_of(pod).get(statuses) and (specs := pod["spec"].get(field))
    }
    return with_status(pod, **fields)


def _with_entry(
    pod: JsonObject, name: str, change: Callable[[JsonObject], JsonObject]
) -> JsonObject:
    for _, field in _LISTS:
        entries = status_of(pod).get(field) or ()
        if any(one["name"] == name for one in entries):
            changed = [change(one) if one["name"] == name else one for one in entries]
            return with_status(pod, **{field: changed})
    return pod


def _with_readiness(pod: JsonObject, clock: Clock, *, ready: bool, reason: str) -> JsonObject:
    status = "True" if ready else "False"
    kinds = ("ContainersReady", "Ready")
    reason = "" if ready else reason
    return with_conditions(pod, *(condition(clock, kind, status, reason) for kind in kinds))


def _entry(spec: JsonObject, state: JsonObject, *, ready: bool, started: bool) -> JsonObject:
    return {
        "name": spec["name"],
        "image": spec.get("image", ""),
        "imageID": "",
        "restartCount": 0,
        "ready": ready,
        "started": started,
        "state": state,
        "lastState": {},
    }


def _running(spec: JsonObject, now: str, *, ready: bool) -> JsonObject:
    return _entry(spec, {"running": {"startedAt": now}}, ready=ready, started=True)


def _done(spec: JsonObject, now: str) -> JsonObject:
    if spec.get("restartPolicy") == "Always":
        return _running(spec, now, ready=True)
    terminated = {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}
    return _entry(spec, {"terminated": terminated}, ready=True, started=False)


def _ended(entry: JsonObject, terminated: JsonObject) -> JsonObject:
    if "terminated" in (entry.get("state") or {}):
        return {**entry, "ready": False, "started": False}
    return {**entry, "ready": False, "started": False, "state": {"terminated": terminated}}


def _exit_code(entry: JsonObject) -> int:
    return int(((entry.get("state") or {}).get("terminated") or {}).get("exitCode") or 0)


def ended_entries(pod: JsonObject) -> Iterable[JsonObject]:
    """The containers that have ended or wait to be restarted; init containers that are to run."""
    for entry in container_statuses(pod):
        if "running" not in (entry.get("state") or {}):
            yield entry
    always = {
        one["name"]
        for one in pod["spec"].get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    }
    for entry in status_of(pod).get("initContainerStatuses") or ():
        if entry["name"] in always and "running" not in (entry.get("state") or {}):
            yield entry
