"""The DisaggregatedSet controllers, wired."""

from lws.base.clock import Clock
from lws.client.kubernetes import KubernetesClient
from lws.controllers.disaggregatedset import DisaggregatedSetController, set_family_of
from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.controllers.slices import SliceController, slice_family_of
from lws.executor.caches import Caches
from lws.executor.disaggregatedset.caches import DisaggregatedCaches
from lws.executor.disaggregatedset.families import (
    DisaggregatedFamilies,
    DisaggregatedKey,
    SliceKey,
)
from lws.executor.disaggregatedset.observe import DisaggregatedObserver
from lws.executor.disaggregatedset.perform import DisaggregatedPerformer
from lws.executor.disaggregatedset.reports import Reports
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
        foreign = ForeignObjects(client, clock)
        sets: WorkQueue[DisaggregatedKey] = WorkQueue(
            clock=clock, name="disaggregatedset", metrics=metrics
        )
        slices: WorkQueue[SliceKey] = WorkQueue(clock=clock, name="slice", metrics=metrics)
        families = DisaggregatedFamilies(caches, wake_set=sets.add, wake_slice=slices.add)
        reports = Reports(sets.add)
        told = DisaggregatedSetMetrics(metrics)
        performer = DisaggregatedPerformer(
            disaggregated=caches,
            client=client,
            caches=shared,
            guard=guard,
            recorder=recorder,
            foreign=foreign,
            clock=clock,
        )
        observer = DisaggregatedObserver(
            caches=caches, families=families, foreign=foreign, reports=reports, clock=clock
        )
        whole = DisaggregatedSetController(
            observer=observer,
            families=families,
            reports=reports,
            performer=performer,
            foreign=foreign,
            guard=guard,
            clock=clock,
            metrics=told,
        )
        one = SliceController(
            observer=observer,
            reports=reports,
            performer=performer,
            foreign=foreign,
            metrics=told,
        )
        set_loop = ground.loop(
            "disaggregatedset", queue=sets, reconcile=whole.reconcile, family_of=set_family_of
        )
        slice_loop = ground.loop(
            "slice", queue=slices, reconcile=one.reconcile, family_of=slice_family_of
        )
        super().__init__(
            set_loop, slice_loop, caches=caches, families=families, informers=caches.own()
        )
