"""The slice controller: one pass over one slice of a DisaggregatedSet."""

from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.controllers.outcomes import FOREIGN_SECONDS, next_look
from lws.executor.disaggregatedset.families import DisaggregatedKey, SliceKey
from lws.executor.disaggregatedset.observe import DisaggregatedObserver
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.foreign import ForeignObjects
from lws.executor.perform import Failure, Family, Performer, Standing
from lws.planner.actions import Emit, EventType
from lws.planner.disaggregatedset.slices import plan_slice
from lws.planner.disaggregatedset.snapshot import (
    SetSnapshot,
    SliceReport,
    SliceSnapshot,
    reference,
)
from lws.planner.disaggregatedset.status import OBJECT_CONFLICT


class SliceController:
    """LeaderWorkerSets and Services of one slice."""

    def __init__(
        self,
        *,
        observer: DisaggregatedObserver,
        reports: Reports,
        performer: Performer,
        foreign: ForeignObjects,
        metrics: DisaggregatedSetMetrics,
    ) -> None:
        self._observer = observer
        self._reports = reports
        self._performer = performer
        self._foreign = foreign
        self._metrics = metrics

    async def reconcile(self, key: SliceKey) -> float | None:
        """One pass; seconds until time alone may bring the next."""
        await self._foreign.refresh((key.namespace, key.ds))
        snapshot = self._observer.slice(key)
        if snapshot is None:
            self._reports.forget_slice(key)
            return None
        planned = plan_slice(snapshot)
        failures = await self._performer.strands(slice_family_of(key), planned.strands)
        if planned.steps and not failures:
            self._metrics.stepped(DisaggregatedKey(key.namespace, key.ds))
        tell_foreign(self._performer, snapshot, failures)
        if key.slice_index >= snapshot.ds.spec.slices:
            self._reports.forget_slice(key)
        else:
            troubles = tuple(_trouble(one) for one in failures if one.standing in _TROUBLES)
            self._reports.note(key, SliceReport(planned.waiting, troubles))
        waits = planned.waiting.seconds if planned.waiting is not None else None
        return next_look(failures, (FOREIGN_SECONDS if snapshot.foreign else None, waits))


_TROUBLES = (Standing.TOLD, Standing.RETRY)


def tell_foreign(
    performer: Performer, snapshot: SetSnapshot | SliceSnapshot, failures: list[Failure]
) -> None:
    """A Warning event for each place that something foreign takes."""
    for failure in failures:
        if failure.standing is Standing.FOREIGN:
            about = reference(snapshot.ds)
            performer.emit(
                Emit(about, EventType.WARNING, OBJECT_CONFLICT, "Create", failure.message)
            )


def slice_family_of(key: SliceKey) -> Family:
    """Whose writes a pass over a slice makes."""
    return Family(("slice", *key), (key.namespace, key.ds))


def _trouble(failure: Failure) -> str:
    return f"{failure.action.kind.kind} {failure.action.name}: {failure.message}"
