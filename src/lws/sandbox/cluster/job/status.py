"""The pods of a Job counted, and what the Job's status says of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lws.base.clock import Clock
from lws.base.times import format_time
from lws.sandbox.cluster.objects import (
    TERMINAL,
    condition_of,
    finalizers_of,
    is_ready,
    is_terminating,
    phase_of,
    status_of,
    uid_of,
)
from lws.sandbox.server.verbs import JsonObject

TRACKING = "batch.kubernetes.io/job-tracking"
"""Holds a pod until its end is counted."""
COMPLETE, FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
SUCCESS, FAILURE = "SuccessCriteriaMet", "FailureTarget"


def entry(clock: Clock, kind: str, status: str, reason: str, message: str) -> JsonObject:
    """A new condition, of now."""
    now = format_time(clock.now())
    return {
        "type": kind,
        "status": status,
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def is_true(job: JsonObject, kind: str) -> bool:
    """Has it the condition?"""
    found = condition_of(job, kind)
    return found is not None and found["status"] == "True"


def is_finished(job: JsonObject) -> bool:
    """Complete, or failed for good?"""
    return is_true(job, COMPLETE) or is_true(job, FAILED)


def is_active(pod: JsonObject) -> bool:
    """Neither over nor on its way out."""
    return phase_of(pod) not in TERMINAL and not is_terminating(pod)


def is_tracked(pod: JsonObject) -> bool:
    """Is its end still to be counted?"""
    return TRACKING in finalizers_of(pod)


@dataclass(frozen=True, slots=True)
class Count:
    """The pods of a Job, now."""

    active: Sequence[JsonObject]
    terminating: int
    succeeded: Sequence[JsonObject]
    """Tracked ones that have ended well."""
    failed: Sequence[JsonObject]
    """Tracked ones that have not, or are on their way out."""

    @property
    def ready(self) -> int:
        """How many of the active ones are ready."""
        return sum(map(is_ready, self.active))


def counted(job: JsonObject, pods: Iterable[JsonObject]) -> Count:
    """What became of them."""
    known = list(pods)
    waits = job["spec"].get("podReplacementPolicy") == "Failed"
    tracked = [pod for pod in known if is_tracked(pod)]
    return Count(
        active=[pod for pod in known if is_active(pod)],
        terminating=sum(is_terminating(pod) and phase_of(pod) not in TERMINAL for pod in known),
        succeeded=[pod for pod in tracked if phase_of(pod) == "Succeeded"],
        failed=[pod for pod in tracked if _has_failed(pod, waits=waits)],
    )


def _has_failed(pod: JsonObject, *, waits: bool) -> bool:
    if phase_of(pod) == "Failed":
        return True
    return is_terminating(pod) and phase_of(pod) != "Succeeded" and not waits


def uncounted(job: JsonObject, which: str) -> list[str]:
    """UIDs that are noted, but not yet in the sums."""
    noted = status_of(job).get("uncountedTerminatedPods") or {}
    return list(noted.get(which) or ())


def total(job: JsonObject, which: str, pods: Iterable[JsonObject]) -> int:
    """All that ever ended so, these pods included."""
    noted = {*uncounted(job, which), *map(uid_of, pods)}
    return int(status_of(job).get(which) or 0) + len(noted)


def noting(job: JsonObject, count: Count) -> JsonObject:
    """The status with the UIDs of what has ended since."""
    noted = {
        which: [*uncounted(job, which), *_new(uncounted(job, which), pods)]
        for which, pods in (("succeeded", count.succeeded), ("failed", count.failed))
    }
    kept = {which: uids for which, uids in noted.items() if uids}
    return {**status_of(job), "uncountedTerminatedPods": kept}


def _new(known: Sequence[str], pods: Iterable[JsonObject]) -> list[str]:
    return [uid for uid in map(uid_of, pods) if uid not in known]


def summed(job: JsonObject, count: Count) -> JsonObject:
    """The status with what was noted in the sums, and the counts of now."""
    counts = {which: total(job, which, ()) for which in ("succeeded", "failed")} | {
        "active": len(count.active)
    }
    status = {name: one for name, one in status_of(job).items() if name not in counts}
    status |= {name: number for name, number in counts.items() if number}
    status |= {"ready": count.ready, "terminating": count.terminating}
    return {**status, "uncountedTerminatedPods": {}}
