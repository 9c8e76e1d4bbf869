"""Both controllers of DisaggregatedSets over the same caches, and what they tell each other."""

from collections.abc import Callable

from lws.base.clock import Clock
from lws.controllers.disaggregatedset import DisaggregatedSetController
from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.controllers.slices import SliceController
from lws.executor.disaggregatedset.caches import DisaggregatedCaches
from lws.executor.disaggregatedset.families import (
    DisaggregatedFamilies,
    DisaggregatedKey,
    SliceKey,
)
from lws.executor.disaggregatedset.observe import DisaggregatedObserver
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.foreign import ForeignObjects
from lws.executor.perform import Performer
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics


class DisaggregatedSetPair:
    """`slices` passes over one slice, `sets` over a whole set; `families` calls for either."""

    def __init__(
        self,
        caches: DisaggregatedCaches,
        *,
        wake_set: Callable[[DisaggregatedKey], None],
        wake_slice: Callable[[SliceKey], None],
        performer: Performer,
        foreign: ForeignObjects,
        guard: Guard,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        """Nothing is watched before `families` start."""
        self.families = DisaggregatedFamilies(caches, wake_set=wake_set, wake_slice=wake_slice)
        reports = Reports(wake_set)
        told = DisaggregatedSetMetrics(metrics)
        observer = DisaggregatedObserver(
            caches=caches, families=self.families, foreign=foreign, reports=reports, clock=clock
        )
        self.slices = SliceController(
            observer=observer,
            reports=reports,
            performer=performer,
            foreign=foreign,
            metrics=told,
        )
        self.sets = DisaggregatedSetController(
            observer=observer,
            families=self.families,
            reports=reports,
            performer=performer,
            foreign=foreign,
            guard=guard,
            clock=clock,
            metrics=told,
        )
