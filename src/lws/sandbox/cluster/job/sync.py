"""One pass over one Job."""

from collections.abc import Awaitable, Callable, Sequence

from lws.base.clock import Clock
from lws.base.times import format_time, parse_time
from lws.sandbox.cluster.children import Children
from lws.sandbox.cluster.job import status
from lws.sandbox.cluster.job.backoff import Backoff
from lws.sandbox.cluster.job.status import Count
from lws.sandbox.cluster.objects import (
    condition_of,
    is_terminating,
    status_of,
    uid_of,
    with_conditions,
    with_status,
)
from lws.sandbox.server.verbs import JsonObject

_LIMIT = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_LATE = ("DeadlineExceeded", "Job was active longer than specified deadline")
_DONE = ("CompletionsReached", "Reached expected number of succeeded pods")


class Sync:
    """One pass: `manage` acts on pods, `job` is then as it is to be written.

    `again_in`: in how many seconds there is to be another, if nothing happens.
    """

    def __init__(
        self,
        children: Children,
        clock: Clock,
        job: JsonObject,
        pods: Sequence[JsonObject],
        backoff: Backoff,
        release: Callable[[Sequence[JsonObject]], Awaitable[None]],
    ) -> None:
        self._children = children
        self._clock = clock
        self._spec = job["spec"]
        self._backoff = backoff
        self._release = release
        self.job = job
        self.count: Count = status.counted(job, pods)
        self.news: list[tuple[str, str, str]] = []
        """Events: type, reason, message."""
        self.again_in: float | None = None
        known = {*status.uncounted(job, "failed"), *status.uncounted(job, "succeeded")}
        backoff.note(
            (pod for pod in self.count.succeeded if uid_of(pod) not in known),
            (pod for pod in self.count.failed if uid_of(pod) not in known),
            clock.now(),
        )

    async def manage(self) -> None:
        """Pods are made or ended, and the end is decided on."""
        if is_terminating(self.job):
            return
        self._start()
        if not self._is_ending():
            self._decide()
        if self._is_ending():
            await self._children.delete(self.job, self.count.active)
        elif self._spec.get("suspend"):
            await self._drop(self.count.active)
        else:
            await self._fill()
        self._note_suspension()

    def finish(self) -> None:
        """The end, once no pod is left and all are counted."""
        count = self.count
        is_over = not (count.active or count.terminating or count.succeeded or count.failed)
        if not is_over or not self._is_ending():
            return
        failure = condition_of(self.job, status.FAILURE)
        if failure is not None:
            self._add(status.FAILED, failure["reason"], failure["message"])
            self.news.append(("Warning", failure["reason"], failure["message"]))
            return
        self._add(status.COMPLETE, *_DONE)
        self.job = with_status(self.job, completionTime=format_time(self._clock.now()))
        self.news.append(("Normal", "Completed", "Job completed"))

    # What is to be

    def _is_ending(self) -> bool:
        return any(status.is_true(self.job, kind) for kind in (status.FAILURE, status.SUCCESS))

    def _total(self, which: str) -> int:
        pods = self.count.succeeded if which == "succeeded" else self.count.failed
        return status.total(self.job, which, pods)

    def _start(self) -> None:
        if not self._spec.get("suspend") and not status_of(self.job).get("startTime"):
            self.job = with_status(self.job, startTime=format_time(self._clock.now()))

    def _decide(self) -> None:
        """Enough, too many failures, or too late?"""
        if self._is_over_limit():
            self._add(status.FAILURE, *_LIMIT)
        elif self._is_late():
            self._add(status.FAILURE, *_LATE)
        elif self._is_enough():
            self._add(status.SUCCESS, *_DONE)

    def _is_over_limit(self) -> bool:
        limit = self._spec["backoffLimit"]
        if self._total("failed") > limit:
            return True
        if self._spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        restarts = sum(map(_restarts, self.count.active))
        return restarts >= limit if limit else restarts > 0

    def _is_late(self) -> bool:
        deadline, start = (
            self._spec.get("activeDeadlineSeconds"),
            status_of(self.job).get("startTime"),
        )
        if deadline is None or not start or self._spec.get("suspend"):
            return False
        left = parse_time(start) + float(deadline) - self._clock.now()
        if left > 0:
            self._again(left)
        return left <= 0

    def _is_enough(self) -> bool:
        done, wanted = self._total("succeeded"), self._spec.get("completions")
        if wanted is None:
            return done > 0 and not self.count.active
        return done >= int(wanted)

    def _wanted(self) -> int:
        """How many pods are to be active."""
        done, wanted = self._total("succeeded"), self._spec.get("completions")
        parallel = int(self._spec.get("parallelism") or 0)
        if wanted is None:
            return len(self.count.active) if done else parallel
        return min(parallel, max(0, int(wanted) - done))

    # The pods

    async def _drop(self, pods: Sequence[JsonObject]) -> None:
        """Pods that are no failures: they are let go before they are ended."""
        await self._release(pods)
        await self._children.delete(self.job, pods)

    async def _fill(self) -> None:
        missing = self._wanted() - len(self.count.active)
        if self._spec.get("podReplacementPolicy") == "Failed":
            missing -= self.count.terminating
        if missing < 0:
            unready_first = sorted(self.count.active, key=_age_and_readiness)
            await self._drop(unready_first[:-missing])
        elif missing > 0:
            left = self._backoff.left(self._clock.now())
            if left:
                self._again(left)
            else:
                await self._children.create(self.job, missing)

    # The status

    def _note_suspension(self) -> None:
        is_so = bool(self._spec.get("suspend")) and not self._is_ending()
        present = condition_of(self.job, status.SUSPENDED)
        if is_so == (present is not None and present["status"] == "True"):
            return
        words = ("Suspended", "Job suspended") if is_so else ("Resumed", "Job resumed")
        self._add(status.SUSPENDED, f"Job{words[0]}", words[1], is_so="True" if is_so else "False")
        start = None if is_so else format_time(self._clock.now())
        self.job = with_status(self.job, startTime=start)
        self.news.append(("Normal", *words))

    def _add(self, kind: str, reason: str, message: str, *, is_so: str = "True") -> None:
        new = status.entry(self._clock, kind, is_so, reason, message)
        self.job = with_conditions(self.job, new)

    def _again(self, seconds: float) -> None:
        self.again_in = seconds if self.again_in is None else min(self.again_in, seconds)


def _restarts(pod: JsonObject) -> int:
    entries = [
        *(status_of(pod).get("containerStatuses") or ()),
        *(status_of(pod).get("initContainerStatuses") or ()),
    ]
    return sum(int(one.get("restartCount") or 0) for one in entries)


def _age_and_readiness(pod: JsonObject) -> tuple[bool, float]:
    """Unready and young ones go first."""
    is_ready = condition_of(pod, "Ready") or {}
    created = parse_time(pod["metadata"]["creationTimestamp"])
    return is_ready.get("status") == "True", -created
