"""Which Jobs are due, and their passes."""

import asyncio
from collections.abc import Iterable

from lws.base.times import parse_time
from lws.client.requests import PatchType, Propagation
from lws.client.resources import PODS
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.children import Children
from lws.sandbox.cluster.context import CONTROLLERS, JOBS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.job import status
from lws.sandbox.cluster.job.backoff import Backoff
from lws.sandbox.cluster.job.sync import Sync
from lws.sandbox.cluster.objects import (
    condition_of,
    finalizers_of,
    is_terminating,
    name_of,
    namespace_of,
    place_of,
    status_of,
    uid_of,
)
from lws.sandbox.cluster.owners import Owners
from lws.sandbox.cluster.worker import Again, Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

Place = tuple[str, str]

_SOURCE = Source("job-controller")


class JobController:
    """Makes the pods of all Jobs, counts their ends, and the Job's."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._recorder = context.recorder
        self._jobs = context.caches.of(JOBS)
        self._pods = context.caches.of(PODS)
        self._owners = Owners(context, JOBS, PODS)
        self._children = Children(context, JOBS, _SOURCE, finalizer=status.TRACKING)
        self._backoffs: dict[str, Backoff] = {}
        self.worker: Worker[Place] = Worker(context.clock, self._sync)
        self._left: Worker[Place] = Worker(context.clock, self._let_go)
        self._jobs.on_change(self._job_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.run())
            group.create_task(self._left.run())

    # What is due

    def _job_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None:
            self.worker.add(place_of(new))
        elif old is not None:
            self._backoffs.pop(uid_of(old), None)
            for pod in self._owners.of(old):
                self._left.add(place_of(pod))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        for pod in (old, new):
            job = self._owners.owner_of(pod) if pod is not None else None
            if job is not None:
                self.worker.add(place_of(job))
        if new is not None and status.is_tracked(new) and self._owners.owner_of(new) is None:
            self._left.add(place_of(new))

    # A pass

    async def _sync(self, place: Place) -> None:
        job = self._jobs.get(*place)
        if job is None:
            return
        if status.is_finished(job):
            await self._release(self._owners.of(job))
            await self._expire(job)
            return
        pods = await self._owners.claimed(job)
        backoff = self._backoffs.setdefault(uid_of(job), Backoff())
        sync = Sync(self._children, self._clock, job, pods, backoff, self._release)
        problem: ApiStatus | Again | None = None
        try:
            await sync.manage()
        except (ApiStatus, Again) as error:
            problem = error
        await self._count(job, sync)
        if problem is not None:
            raise problem
        if sync.again_in is not None:
            self.worker.add_after(place, sync.again_in)

    async def _count(self, before: JsonObject, sync: Sync) -> None:
        """Ends are noted, then let go, then summed up: so that none is counted twice or never."""
        noted = {**sync.job, "status": status.noting(sync.job, sync.count)}
        ended = [*sync.count.succeeded, *sync.count.failed]
        if ended:
            await self._write(before, noted)
            await self._release(ended)
        live = self._jobs.get(*place_of(before)) or before
        is_over = is_terminating(live)
        if is_over:
            await self._release(self._owners.of(live))
        sync.count = status.counted(live, self._owners.of(live))
        sync.job = {**live, "status": status.summed(noted, sync.count)}
        if not is_over:
            sync.finish()
        await self._write(live, sync.job)
        for kind, reason, message in sync.news:
            tell = self._recorder.normal if kind == "Normal" else self._recorder.warning
            tell(_SOURCE, live, reason, message)

    async def _write(self, before: JsonObject, job: JsonObject) -> None:
        if status_of(job) != status_of(before):
            await self._children.set_status(before, dict(status_of(job)))

    async def _release(self, pods: Iterable[JsonObject]) -> None:
        for pod in pods:
            if status.is_tracked(pod):
                await self._let_go(place_of(pod))

    async def _let_go(self, place: Place) -> None:
        """Nothing is to be counted any more of a pod."""
        pod = self._pods.get(*place)
        if pod is None or not status.is_tracked(pod):
            return
        left = [one for one in finalizers_of(pod) if one != status.TRACKING]
        change = {"metadata": {"uid": uid_of(pod), "finalizers": left or None}}
        with may_be_gone(422):
            patched = await self._api.patch(
                PODS,
                change,
                patch_type=PatchType.MERGE,
                name=name_of(pod),
                namespace=namespace_of(pod),
                caller=CONTROLLERS,
            )
            await self._pods.seen(patched)

    async def _expire(self, job: JsonObject) -> None:
        """A Job that has been over for long enough goes, with its pods."""
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        if seconds is None or is_terminating(job):
            return
        over = condition_of(job, status.COMPLETE) or condition_of(job, status.FAILED) or {}
        left = parse_time(over["lastTransitionTime"]) + float(seconds) - self._clock.now()
        if left > 0:
            self.worker.add_after(place_of(job), left)
            return
        options = DeleteOptions(propagation=Propagation.FOREGROUND, uid=uid_of(job))
        await self._api.delete(
            JOBS,
            name=name_of(job),
            namespace=namespace_of(job),
            options=options,
            caller=CONTROLLERS,
        )
