"""The DisaggregatedSet controller: one pass over a set as a whole; its slices have their own."""

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.controllers.outcomes import FOREIGN_SECONDS, next_look
from lws.controllers.slices import slice_family_of, tell_foreign
from lws.controllers.statuses import Statuses
from lws.executor.disaggregatedset.families import (
    DisaggregatedFamilies,
    DisaggregatedKey,
    SliceKey,
)
from lws.executor.disaggregatedset.observe import DisaggregatedObserver
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.foreign import ForeignObjects
from lws.executor.perform import Failure, Family, Performer
from lws.planner.actions import Action, Create
from lws.planner.disaggregatedset.scalers import plan_scalers
from lws.planner.disaggregatedset.snapshot import SetSnapshot
from lws.planner.disaggregatedset.status import plan_set_status
from lws.runtime.guard import Guard

_SEEDING_SECONDS = 0.05
"""How soon to look again whether the caches show what the slices wrote, before a seed is taken."""


class DisaggregatedSetController:
    """Scalers and status: what is of the set as a whole."""

    def __init__(
        self,
        *,
        observer: DisaggregatedObserver,
        families: DisaggregatedFamilies,
        reports: Reports,
        performer: Performer,
        foreign: ForeignObjects,
        guard: Guard,
        clock: Clock,
        metrics: DisaggregatedSetMetrics,
    ) -> None:
        self._observer = observer
        self._families = families
        self._reports = reports
        self._performer = performer
        self._foreign = foreign
        self._guard = guard
        self._metrics = metrics
        self._statuses: Statuses[DisaggregatedKey] = Statuses(
            kind=Kind.DISAGGREGATED_SET, performer=performer, clock=clock
        )

    async def reconcile(self, key: DisaggregatedKey) -> float | None:
        """One pass; seconds until time alone may bring the next."""
        await self._foreign.refresh(key)
        snapshot = self._observer.set(key)
        if snapshot is None:
            self._forget(key)
            return None
        if snapshot.ds.metadata.deletion_timestamp is not None:
            return None
        self._metrics.observe(key, snapshot)
        strands = plan_scalers(snapshot)
        if _seeds(strands) and not self._is_settled(key):
            return _SEEDING_SECONDS
        failures = await self._performer.strands(set_family_of(key), strands)
        tell_foreign(self._performer, snapshot, failures)
        told = await self._status(key, snapshot, failures)
        return next_look(failures, (*told, FOREIGN_SECONDS if snapshot.foreign else None))

    async def _status(
        self, key: DisaggregatedKey, snapshot: SetSnapshot, failures: list[Failure]
    ) -> tuple[float | None, ...]:
        """Written last, once, if it is another; when time alone changes it."""
        if not self._reports.is_complete(key, slices=snapshot.ds.spec.slices):
            return ()
        status = plan_set_status(snapshot, timing=self._statuses.timing(key))
        if status.status is None:
            self._statuses.stands(key)
        elif status.wait:
            self._statuses.put_off(key)
            return status.wake_after, status.wait
        else:
            failure = await self._statuses.write(
                key,
                family=set_family_of(key),
                meta=snapshot.ds.metadata,
                fields=status.status,
                events=status.events,
            )
            failures += [] if failure is None else [failure]
        return (status.wake_after,)

    def _is_settled(self, key: DisaggregatedKey) -> bool:
        """Whether the caches show all that the slices have written."""
        return all(
            self._guard.is_current(slice_family_of(SliceKey(*key, index)).key)
            for index in self._families.slices(key)
        )

    def _forget(self, key: DisaggregatedKey) -> None:
        self._statuses.forget(key)
        self._reports.forget(key)
        self._metrics.forget(key)
        self._foreign.forget(key)


def set_family_of(key: DisaggregatedKey) -> Family:
    """Whose writes a pass over a set makes."""
    return Family(("disaggregatedset", *key), key)


def _seeds(strands: tuple[tuple[Action, ...], ...]) -> bool:
    return any(isinstance(action, Create) for strand in strands for action in strand)
