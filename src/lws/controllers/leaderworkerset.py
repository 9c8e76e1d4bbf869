"""The LeaderWorkerSet controller: one pass over one set."""

from dataclasses import replace

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.controllers.metrics import SetMetrics
from lws.controllers.outcomes import next_look
from lws.executor.families import SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.observe import Observer
from lws.executor.perform import Failure, Family, Performer, Standing
from lws.planner.actions import MergePatch
from lws.planner.leaderworkerset.plan import Plan, plan
from lws.planner.leaderworkerset.snapshot import Foreign, LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.status import StatusPlan, Trouble, plan_status
from lws.runtime.metrics import Metrics

COUNTERS_SECONDS = 1.0
"""A status in which only counters moved is written at most this often per set."""


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
        self._clock = clock
        self._status_written: dict[SetKey, float] = {}

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
        wait = self._seconds_to_status(key, status)
        if wait is None:
            failure = await self._write_status(family, snapshot, status)
            after = [planned.restart_deletes] if failure is None else []
            refused = await self._performer.strands(family, after)
            self._metrics.recreated(key, sum(map(len, after)) if not refused else 0)
            failures += refused
            failures += [] if failure is None else [failure]
        return next_look(failures, (planned.wake_after, status.wake_after, wait))

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
        )

    def _seconds_to_status(self, key: SetKey, status: StatusPlan) -> float | None:
        """None: now. Counters that move wait a little for the next to move with them."""
        if status.status is None or status.urgent:
            return None
        last = self._status_written.get(key)
        if last is None:
            return None
        left = last + COUNTERS_SECONDS - self._clock.monotonic()
        return left if left > 0 else None

    async def _write_status(
        self, family: Family, snapshot: LeaderWorkerSetSnapshot, status: StatusPlan
    ) -> Failure | None:
        if status.status is None:
            return None
        lws = snapshot.lws.metadata
        patch = MergePatch(
            kind=Kind.LEADER_WORKER_SET,
            namespace=lws.namespace,
            name=lws.name,
            body={"status": dict(status.status)},
            uid=lws.uid,
            subresource="status",
        )
        failure = await self._performer.strand(family, (patch, *status.events))
        self._status_written[SetKey(lws.namespace, lws.name)] = self._clock.monotonic()
        return failure

    def _forget(self, key: SetKey) -> None:
        self._status_written.pop(key, None)
        self._metrics.forget(key)
        self._observer.forget(key)


_UNDECIDED = (Standing.STALE, Standing.RETRY)
_ROLLOUT_KINDS = (Kind.STATEFUL_SET, Kind.CONTROLLER_REVISION)


def family_of(key: SetKey) -> Family:
    """Whose writes a pass makes."""
    return Family(("set", *key), (key.namespace, key.name))
