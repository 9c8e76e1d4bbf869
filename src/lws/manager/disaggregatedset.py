"""The DisaggregatedSet controllers, wired."""

from lws.base.clock import Clock
from lws.client.kubernetes import KubernetesClient
from lws.controllers.disaggregatedset import set_family_of
from lws.controllers.disaggregatedset_pair import DisaggregatedSetPair
from lws.controllers.slices import slice_family_of
from lws.executor.caches import Caches
from lws.executor.disaggregatedset.caches import DisaggregatedCaches
from lws.executor.disaggregatedset.families import DisaggregatedKey, SliceKey
from lws.executor.disaggregatedset.perform import DisaggregatedPerformer
from lws.executor.foreign import ForeignObjects
from lws.manager.loops import Controllers, Ground
from lws.runtime.events import EventRecorder
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics
from lws.runtime.queue import WorkQueue

CONCURRENCY = 8
"""Passes in flight, of each of the two."""


class DisaggregatedSetControllers(Controllers):
    """Both controllers of one process; they act from `start` to `stop`."""

    name = "DisaggregatedSet"

    def __init__(
        self,
        *,
        client: KubernetesClient,
        shared: Caches,
        caches: DisaggregatedCaches,
        recorder: EventRecorder,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        guard = Guard()
        ground = Ground(clock=clock, guard=guard, metrics=metrics, concurrency=CONCURRENCY)
        sets: WorkQueue[DisaggregatedKey] = WorkQueue(
            clock=clock, name="disaggregatedset", metrics=metrics
        )
        foreign = ForeignObjects(
            client, clock, changed=lambda key: sets.add(DisaggregatedKey(*key))
        )
        slices: WorkQueue[SliceKey] = WorkQueue(clock=clock, name="slice", metrics=metrics)
        performer = DisaggregatedPerformer(
            disaggregated=caches,
            client=client,
            caches=shared,
            guard=guard,
            recorder=recorder,
            foreign=foreign,
            clock=clock,
        )
        pair = DisaggregatedSetPair(
            caches,
            wake_set=sets.add,
            wake_slice=slices.add,
            performer=performer,
            foreign=foreign,
            guard=guard,
            clock=clock,
            metrics=metrics,
        )
        set_loop = ground.loop(
            "disaggregatedset", queue=sets, reconcile=pair.sets.reconcile, family_of=set_family_of
        )
        slice_loop = ground.loop(
            "slice", queue=slices, reconcile=pair.slices.reconcile, family_of=slice_family_of
        )
        super().__init__(
            set_loop, slice_loop, caches=caches, families=pair.families, informers=caches.own()
        )
