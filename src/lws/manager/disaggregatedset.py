"""The DisaggregatedSet controllers, wired."""

from typing import Any

from lws.base.clock import Clock
from lws.client.kubernetes import KubernetesClient
from lws.controllers.disaggregatedset import DisaggregatedSetController, set_family_of
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
from lws.manager.loops import Loops
from lws.runtime.controller import Controller
from lws.runtime.events import EventRecorder
from lws.runtime.guard import Guard
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process
from lws.runtime.queue import WorkQueue

CONCURRENCY = 8
"""Passes of one controller in flight; each is a few requests."""


class DisaggregatedSetControllers:
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
        foreign = ForeignObjects(client, clock)
        self._caches = caches
        self._sets: WorkQueue[DisaggregatedKey] = WorkQueue(
            clock=clock, name="disaggregatedset", metrics=metrics
        )
        self._slices: WorkQueue[SliceKey] = WorkQueue(clock=clock, name="slice", metrics=metrics)
        self._families = DisaggregatedFamilies(
            caches, wake_set=self._sets.add, wake_slice=self._slices.add
        )
        reports = Reports(self._sets.add)
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
            caches=caches, families=self._families, foreign=foreign, reports=reports, clock=clock
        )
        whole = DisaggregatedSetController(
            observer=observer,
            families=self._families,
            reports=reports,
            performer=performer,
            foreign=foreign,
            guard=guard,
            clock=clock,
        )
        one = SliceController(
            observer=observer, reports=reports, performer=performer, foreign=foreign
        )
        set_loop = Controller(
            name="disaggregatedset",
            queue=self._sets,
            reconcile=whole.reconcile,
            clock=clock,
            concurrency=CONCURRENCY,
            guard=guard,
            family_of=lambda key: set_family_of(key).key,
            metrics=metrics,
        )
        slice_loop = Controller(
            name="slice",
            queue=self._slices,
            reconcile=one.reconcile,
            clock=clock,
            concurrency=CONCURRENCY,
            guard=guard,
            family_of=lambda key: slice_family_of(key).key,
            metrics=metrics,
        )
        self._loops = Loops(set_loop, slice_loop)

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        """What it watches, in the order in which they are started."""
        return self._caches.own()

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
        """Finish the passes in flight; nothing of theirs is half done."""
        await self._loops.stop()
