"""The LeaderWorkerSet controller: one pass over one set."""

from dataclasses import replace

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.controllers.metrics import SetMetrics
from lws.controllers.outcomes import next_look
from lws.controllers.statuses import Statuses
from lws.executor.families import SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.observe import Observer
from lws.executor.perform import Failure, Family, Performer, Standing
from lws.planner.leaderworkerset.plan import Plan, plan
from lws.planner.leaderworkerset.snapshot import Foreign, LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.runtime.metrics import Metrics


class LeaderWorkerSetController:
    """Observe, plan, perform; the status last, and the restarts that it remembers after it."""

    def __init__(
        self,
        *,
        observer: Observer,
        performer: Performer,
        foreign: ForeignObjects,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._metrics = SetMetrics(metrics)
        self._observer = observer
        self._performer = performer
        self._foreign = foreign
        self._statuses: Statuses[SetKey] = Statuses(
            kind=Kind.LEADER_WORKER_SET, performer=performer, clock=clock
        )

    async def reconcile(self, key: SetKey) -> float | None:
        """One pass; seconds until time alone may bring the next."""
        await self._foreign.refresh((key.namespace, key.name))
        snapshot = self._observer.snapshot(key)
        if snapshot is None:
            self._forget(key)
            return None
        planned = plan(snapshot)
        self._metrics.observe(key, snapshot, planned)
        family = family_of(key)
        failures = await self._performer.strands(family, planned.strands)
        if not planned.writes_status:
            return next_look(failures, (planned.wake_after,))
        status = self._status(key, snapshot, planned, failures)
        if status.wait and not planned.restart_deletes:
            self._statuses.put_off(key)
            return next_look(failures, (planned.wake_after, status.wake_after, status.wait))
        failures += await self._tell(key, snapshot, status, planned)
        return next_look(failures, (planned.wake_after, status.wake_after))

    async def _tell(
        self, key: SetKey, snapshot: LeaderWorkerSetSnapshot, status: StatusPlan, planned: Plan
    ) -> list[Failure]:
        """The status, then the restarts that it remembers."""
        family = family_of(key)
        if status.status is None:
            self._statuses.stands(key)
        else:
            failure = await self._statuses.write(
                key,
                family=family,
                meta=snapshot.lws.metadata,
                fields=status.status,
                events=status.events,
            )
            if failure is not None:
                return [failure]
        refused = await self._performer.strands(family, [planned.restart_deletes])
        self._metrics.recreated(key, len(planned.restart_deletes) if not refused else 0)
        return refused

    async def hand_over(self, key: SetKey) -> None:
        """Leave nothing behind that another controller does not know (an open OnDelete window)."""
        snapshot = self._observer.snapshot(key, handing_over=True)
        if snapshot is None or snapshot.statefulset is None:
            return
        if snapshot.statefulset.spec.update_strategy.type == "OnDelete":
            await self._performer.strands(family_of(key), plan(snapshot).strands[:1])

    def _status(
        self,
        key: SetKey,
        snapshot: LeaderWorkerSetSnapshot,
        planned: Plan,
        failures: list[Failure],
    ) -> StatusPlan:
        met = [Foreign(kind, name) for kind, name in self._foreign.of((key.namespace, key.name))]
        foreign = tuple(dict.fromkeys((*snapshot.foreign, *met)))
        applies = [one for one in failures if one.action.kind in _ROLLOUT_KINDS]
        told = [one.message for one in applies if one.standing is Standing.TOLD]
        trouble = Trouble(
            apply_failure=told[0] if told else None,
            apply_undecided=any(one.standing in _UNDECIDED for one in applies),
            failed_groups=planned.failed_groups,
        )
        return plan_status(
            replace(snapshot, foreign=foreign),
            wanted=planned.wanted,
            restarts=planned.restarts,
            trouble=trouble,
            timing=self._statuses.timing(key),
        )

    def _forget(self, key: SetKey) -> None:
        self._statuses.forget(key)
        self._metrics.forget(key)
        self._observer.forget(key)


_UNDECIDED = (Standing.STALE, Standing.RETRY)
_ROLLOUT_KINDS = (Kind.STATEFUL_SET, Kind.CONTROLLER_REVISION)


def family_of(key: SetKey) -> Family:
    """Whose writes a pass makes."""
    return Family(("set", *key), (key.namespace, key.name))
