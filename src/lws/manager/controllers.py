"""The LeaderWorkerSet controllers, wired."""

from contextlib import suppress

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
from lws.manager.loops import Controllers, Ground
from lws.runtime.events import EventRecorder
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics
from lws.runtime.queue import WorkQueue

CONCURRENCY = 16
"""Passes in flight, of each of the two."""


class LeaderWorkerSetControllers(Controllers):
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
        ground = Ground(clock=clock, guard=guard, metrics=metrics, concurrency=CONCURRENCY)
        sets: WorkQueue[SetKey] = WorkQueue(clock=clock, name="leaderworkerset", metrics=metrics)
        foreign = ForeignObjects(
            client,
            clock,
            resources=resources_of(gang),
            changed=lambda key: sets.add(SetKey(*key)),
        )
        groups: WorkQueue[GroupKey] = WorkQueue(clock=clock, name="group", metrics=metrics)
        families = Families(caches, wake_set=sets.add, wake_group=groups.add)
        self._sets = caches.sets
        performer = Performer(
            client=client,
            caches=caches,
            guard=guard,
            recorder=recorder,
            foreign=foreign,
            clock=clock,
            resources=resources_of(gang),
        )
        observer = Observer(caches=caches, families=families, foreign=foreign, clock=clock)
        self._leaderworkerset = LeaderWorkerSetController(
            observer=observer,
            performer=performer,
            foreign=foreign,
            clock=clock,
            metrics=metrics,
        )
        group = GroupController(families=families, performer=performer, client=client, gang=gang)
        set_loop = ground.loop(
            "leaderworkerset",
            queue=sets,
            reconcile=self._leaderworkerset.reconcile,
            family_of=family_of,
        )
        group_loop = ground.loop(
            "group", queue=groups, reconcile=group.reconcile, family_of=group_family_of
        )
        super().__init__(
            set_loop, group_loop, caches=caches, families=families, informers=caches.all()
        )

    async def stop(self) -> None:
        """Finish the passes in flight, then leave nothing that another controller cannot read."""
        await super().stop()
        if not self.may_act:
            return
        for lws in list(self._sets.store.values()):
            key = SetKey(lws.metadata.namespace, lws.metadata.name)
            with suppress(ClientError):  # the next leader closes what we could not
                await self._leaderworkerset.hand_over(key)
