"""The LeaderWorkerSet controllers, wired."""

from contextlib import suppress
from typing import Any

from lws.base.clock import Clock
from lws.client.errors import ClientError
from lws.client.kubernetes import KubernetesClient
from lws.controllers.group import GroupController, group_family_of
from lws.controllers.leaderworkerset import LeaderWorkerSetController, family_of
from lws.executor.caches import Caches
from lws.executor.families import Families, GroupKey, SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.observe import Observer
from lws.executor.perform import Performer
from lws.manager.gang import ConfiguredGang, resources_of
from lws.manager.loops import Loops
from lws.runtime.controller import Controller
from lws.runtime.events import EventRecorder
from lws.runtime.guard import Guard
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.runtime.queue import WorkQueue

CONCURRENCY = 16
"""Passes of one controller in flight; each is a few requests."""


class LeaderWorkerSetControllers:
    """Both controllers of one process; they act from `start` to `stop`."""

    name = "LeaderWorkerSet"

    def __init__(
        self,
        *,
        client: KubernetesClient,
        caches: Caches,
        recorder: EventRecorder,
        clock: Clock,
        metrics: Metrics,
        gang: ConfiguredGang | None = None,
    ) -> None:
        guard = Guard()
        foreign = ForeignObjects(client, clock, resources=resources_of(gang))
        self._caches = caches
        self._sets: WorkQueue[SetKey] = WorkQueue(
            clock=clock, name="leaderworkerset", metrics=metrics
        )
        self._groups: WorkQueue[GroupKey] = WorkQueue(clock=clock, name="group", metrics=metrics)
        self._families = Families(caches, wake_set=self._sets.add, wake_group=self._groups.add)
        performer = Performer(
            client=client,
            caches=caches,
            guard=guard,
            recorder=recorder,
            foreign=foreign,
            clock=clock,
            resources=resources_of(gang),
        )
        observer = Observer(caches=caches, families=self._families, foreign=foreign, clock=clock)
        self._leaderworkerset = LeaderWorkerSetController(
            observer=observer,
            performer=performer,
            foreign=foreign,
            clock=clock,
            metrics=metrics,
        )
        group = GroupController(
            families=self._families, performer=performer, client=client, gang=gang
        )
        set_loop = Controller(
            name="leaderworkerset",
            queue=self._sets,
            reconcile=self._leaderworkerset.reconcile,
            clock=clock,
            concurrency=CONCURRENCY,
            guard=guard,
            family_of=lambda key: family_of(key).key,
            metrics=metrics,
        )
        group_loop = Controller(
            name="group",
            queue=self._groups,
            reconcile=group.reconcile,
            clock=clock,
            concurrency=CONCURRENCY,
            guard=guard,
            family_of=lambda key: group_family_of(key).key,
            metrics=metrics,
        )
        self._loops = Loops(set_loop, group_loop)

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        """What it watches, in the order in which they are started."""
        return self._caches.all()

    def check(self) -> str | None:
        """For the readiness probe: which first lists are missing."""
        return self._caches.check()

    async def synced(self) -> None:
        """Every first list is in."""
        await self._caches.synced()

    def follow(self) -> None:
        """Take in every event from here on, leading or not; every cache has its first list."""
        self._families.start()

    def start(self, process: Process) -> None:
        """Act: once this process leads."""
        self._families.wake_all()
        self._loops.start(process)

    def abort(self) -> None:
        """Act no more, at once: another process may lead from now on."""
        self._loops.abort()

    async def stop(self) -> None:
        """Finish the passes in flight, then leave nothing that another controller cannot read."""
        await self._loops.stop()
        if not self._loops.may_act:
            return
        for lws in list(self._caches.sets.store.values()):
            key = SetKey(lws.metadata.namespace, lws.metadata.name)
            with suppress(ClientError):  # the next leader closes what we could not
                await self._leaderworkerset.hand_over(key)
