"""Which pods of a ReplicaSet go first when it has too many."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from lws.base.times import parse_time
from lws.sandbox.cluster.objects import (
    annotations_of,
    condition_of,
    is_ready,
    phase_of,
    status_of,
    uid_of,
)
from lws.sandbox.server.verbs import JsonObject

_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_NANOSECONDS = 1e9


def surplus(
    pods: Sequence[JsonObject], siblings: Iterable[JsonObject], count: int, now: float
) -> list[JsonObject]:
    """So many of the pods; `siblings` are all pods of the same owner's ReplicaSets."""
    if count >= len(pods):
        return list(pods)
    crowd = Counter(_node_of(one) for one in siblings)

    def earlier(left: JsonObject, right: JsonObject) -> int:
        ours, theirs = (_rank(one, crowd) for one in (left, right))
        if ours != theirs:
            return -1 if ours < theirs else 1
        return _by_time(left, right, now)

    return sorted(pods, key=functools.cmp_to_key(earlier))[:count]


def _node_of(pod: JsonObject) -> str:
    return pod["spec"].get("nodeName") or ""


def _rank(pod: JsonObject, crowd: Counter[str]) -> tuple[int, ...]:
    """Without a node, not yet running, not ready, cheap, on a crowded node."""
    return (
        bool(_node_of(pod)),
        _PHASES.get(phase_of(pod), 0),
        is_ready(pod),
        _cost_of(pod),
        -crowd[_node_of(pod)],
    )


def _cost_of(pod: JsonObject) -> int:
    """0 if what the annotation says is no number."""
    text = annotations_of(pod).get(_COST, "0")
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and (digits == "0" or digits[0] != "0")
    return int(text) if is_number else 0


def _by_time(left: JsonObject, right: JsonObject, now: float) -> int:
    """Ready for a shorter time, restarted more often, younger: by powers of two of the time."""
    since = [_ready_since(one) for one in (left, right)]
    if is_ready(left) and since[0] != since[1]:
        return _younger(left, right, since, now)
    restarts = [_restarts(one) for one in (left, right)]
    if restarts[0] != restarts[1]:
        return -1 if restarts[0] > restarts[1] else 1
    made = [parse_time(one["metadata"]["creationTimestamp"]) for one in (left, right)]
    return _younger(left, right, made, now) if made[0] != made[1] else 0


def _ready_since(pod: JsonObject) -> float:
    time = (condition_of(pod, "Ready") or {}).get("lastTransitionTime")
    return parse_time(time) if time else 0.0


def _younger(left: JsonObject, right: JsonObject, times: Sequence[float], now: float) -> int:
    ours, theirs = (_magnitude(now - time) for time in times)
    if ours != theirs:
        return -1 if ours < theirs else 1
    return -1 if uid_of(left) < uid_of(right) else 1


def _magnitude(seconds: float) -> int:
    return int(math.log2(seconds * _NANOSECONDS)) if seconds > 0 else -1


def _restarts(pod: JsonObject) -> int:
    """Of the container that was restarted most often."""
    entries = status_of(pod).get("containerStatuses") or ()
    return max((one.get("restartCount") or 0 for one in entries), default=0)
