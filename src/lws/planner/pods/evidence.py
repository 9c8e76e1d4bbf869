"""What one pod shows: when it began to run, and what happened to it.

Times of the wire have whole seconds, in UTC, always in the same form: as text they sort as in time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from lws.api.core import ContainerStatus, Pod, Terminated
from lws.api.meta import controller_uid
from lws.base.ids import UID, RevisionKey
from lws.base.times import parse_time

Restarts = tuple[tuple[str, int], ...]
"""Restart counts above zero, by `kind name` of the container (`init container setup`)."""


class LossKind(Enum):
    """How a member was lost."""

    FAILED = "failed"
    UNKNOWN = "unknown"
    RESTARTED = "restarted"
    BEING_DELETED = "being-deleted"
    GONE = "gone"
    STATEFULSET = "statefulset"

    @property
    def is_final(self) -> bool:
        """Whether it was lost for good: what happens to it later is the same loss."""
        return self not in (LossKind.UNKNOWN, LossKind.RESTARTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLoss:
    """A loss as it was seen; whether it counts is for `facts` to say, when more is known."""

    kind: LossKind
    pod: str
    """Name of the pod, or of the worker StatefulSet."""
    uid: UID
    owner: UID | None
    """Its controller: tells which life of the group it was part of."""
    key: RevisionKey
    what: str
    at: float | None = None
    """When it happened, where the pod says so; None: when it was seen."""


def lenient_time(text: str | None) -> float | None:
    """Seconds since the epoch; None for nothing and for garbage."""
    try:
        return parse_time(text) if text else None
    except ValueError:
        return None


def containers(pod: Pod) -> Iterator[tuple[str, ContainerStatus]]:
    """Every container and init container, with what to call it."""
    for status in pod.status.container_statuses:
        yield f"container {status.name}", status
    for status in pod.status.init_container_statuses:
        yield f"init container {status.name}", status


def restarts(pod: Pod) -> Restarts:
    """Restart counts of a pod; empty for most."""
    return tuple(
        (name, status.restart_count) for name, status in containers(pod) if status.restart_count > 0
    )


def began(pod: Pod) -> float | None:
    """When a pod began to run: all its containers had started once (that is phase Running).

    Of a container that restarted only the end of its last run is known: the first began before
    that. Taking that end is safe: the restart which it belongs to then counts, and rightly so,
    for it is not before the start of any pod that began earlier.
    """
    phase = pod.status.phase
    if phase in ("", "Pending"):
        return None
    starts = [_start(status) for status in pod.status.container_statuses]
    known = [start for start in starts if start]
    if known and (len(known) == len(starts) or phase == "Running"):
        return lenient_time(max(known))
    if phase != "Running":
        return None
    return lenient_time(pod.status.start_time or pod.metadata.creation_timestamp)


def _start(status: ContainerStatus) -> str | None:
    times: list[str | None] = []
    for state in (status.state, status.last_state):
        if state is None:
            continue
        if state.running is not None:
            times.append(state.running.started_at)
        if state.terminated is not None:
            times.append(state.terminated.finished_at)
    return min((time for time in times if time), default=None)


def is_over(pod: Pod) -> bool:
    """Whether a pod is lost for good."""
    return pod.status.phase == "Failed" or pod.metadata.deletion_timestamp is not None


def shown(pod: Pod, *, known: Restarts) -> Iterator[RawLoss]:
    """Losses that a pod shows, beyond the `known` restarts."""
    owner = controller_uid(pod.metadata.owner_references)
    phase = pod.status.phase
    if phase == "Failed":
        yield _loss(pod, owner, LossKind.FAILED, _failure(pod), _failed_at(pod))
    elif phase == "Unknown":
        yield _loss(pod, owner, LossKind.UNKNOWN, _failure(pod))
    elif phase in ("Running", "Pending"):
        before = dict(known)
        for name, status in containers(pod):
            if status.restart_count > before.get(name, 0):
                yield _loss(pod, owner, LossKind.RESTARTED, *_restart(name, status))
    if pod.metadata.deletion_timestamp is not None:
        yield _loss(pod, owner, LossKind.BEING_DELETED, "pod is being deleted")


def _loss(
    pod: Pod, owner: UID | None, kind: LossKind, what: str, at: float | None = None
) -> RawLoss:
    metadata = pod.metadata
    return RawLoss(
        kind=kind,
        pod=metadata.name,
        uid=metadata.uid,
        owner=owner,
        key=metadata.labels.revision_key,
        what=what,
        at=at,
    )


def ended_before(pod: Pod, since: float) -> Restarts:
    """Restarts of a pod that are not known to have happened at or after `since`."""
    return tuple(
        (name, status.restart_count)
        for name, status in containers(pod)
        if status.restart_count > 0 and (_restart(name, status)[1] or 0.0) < since
    )


def over_before(pod: Pod, since: float) -> bool:
    """Whether a pod was lost for good, and is not known to have been lost at or after `since`."""
    if pod.status.phase == "Failed":
        return (_failed_at(pod) or 0.0) < since
    deleted = pod.metadata.deletion_timestamp
    return deleted is not None and (lenient_time(deleted) or 0.0) < since


def _restart(name: str, status: ContainerStatus) -> tuple[str, float | None]:
    ended = _last_run(status, current_first=False)
    if ended is None:
        return f"{name} restarted", None
    return _exit(name, ended), lenient_time(ended.finished_at)


def _last_run(status: ContainerStatus, *, current_first: bool) -> Terminated | None:
    states = (status.state, status.last_state)
    for state in states if current_first else reversed(states):
        if state is not None and state.terminated is not None:
            return state.terminated
    return None


def _exit(name: str, ended: Terminated) -> str:
    reason = f" ({ended.reason})" if ended.reason else ""
    return f"{name} exited with code {ended.exit_code}{reason}"


def _failure(pod: Pod) -> str:
    reason = f" ({pod.status.reason})" if pod.status.reason else ""
    text = f"pod is in phase {pod.status.phase}{reason}"
    for name, status in containers(pod):
        ended = _last_run(status, current_first=True)
        if ended is not None and ended.exit_code != 0:
            return f"{text}, {_exit(name, ended)}"
    return text


def _failed_at(pod: Pod) -> float | None:
    runs = [_last_run(status, current_first=True) for _, status in containers(pod)]
    ends = [run.finished_at for run in runs if run is not None and run.finished_at]
    return lenient_time(max(ends, default=None))
