"""The status of a ReplicaSet, counted from its pods."""

from collections.abc import Sequence

from lws.base.clock import Clock
from lws.sandbox.cluster.objects import (
    condition,
    condition_of,
    counted,
    is_available,
    is_ready,
    labels_of,
    status_of,
)
from lws.sandbox.server.verbs import JsonObject

FAILURE = "ReplicaFailure"


def counted_status(
    replica_set: JsonObject,
    pods: Sequence[JsonObject],
    terminating: int,
    problem: str,
    clock: Clock,
) -> JsonObject:
    """`status`, whose counts of 0 are left out where the kind does so."""
    labels = (replica_set["spec"]["template"].get("metadata") or {}).get("labels") or {}
    min_ready, now = int(replica_set["spec"].get("minReadySeconds") or 0), clock.now()
    counts = {
        "fullyLabeledReplicas": counted(pods, lambda pod: labels.items() <= labels_of(pod).items()),
        "readyReplicas": counted(pods, is_ready),
        "availableReplicas": counted(pods, lambda pod: is_available(pod, min_ready, now)),
        "observedGeneration": replica_set["metadata"].get("generation") or 0,
    }
    conditions = _conditions(replica_set, len(pods), problem, clock)
    return {
        "replicas": len(pods),
        "terminatingReplicas": terminating,
        **{name: count for name, count in counts.items() if count},
        **({"conditions": conditions} if conditions else {}),
    }


def _conditions(
    replica_set: JsonObject, count: int, problem: str, clock: Clock
) -> list[JsonObject]:
    """A failure is told once, as it was at first, until a pass succeeds."""
    present = list(status_of(replica_set).get("conditions") or ())
    if not problem:
        return [one for one in present if one["type"] != FAILURE]
    if condition_of(replica_set, FAILURE) is not None:
        return present
    is_short = count < int(replica_set["spec"].get("replicas") or 0)
    reason = "FailedCreate" if is_short else "FailedDelete"
    return [*present, condition(clock, FAILURE, "True", reason, problem)]
