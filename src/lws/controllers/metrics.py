"""What Prometheus is told of LeaderWorkerSets (manager.md, Running)."""

from dataclasses import dataclass, field

from lws.base.ids import UID
from lws.executor.families import SetKey
from lws.planner.leaderworkerset.plan import Plan
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.values import replicas_of
from lws.runtime.metrics import Metrics

READY_BUCKETS = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0)
"""Seconds: a large model takes minutes to load."""
STATES = ("desired", "existing", "ready", "updated")


@dataclass(slots=True)
class _Seen:
    """Leaders whose way to being ready has been told."""

    leaders: set[UID] = field(default_factory=set)
    is_first: bool = True


class SetMetrics:
    """Per set, as of its last pass; series of a set that is gone are gone."""

    def __init__(self, metrics: Metrics) -> None:
        labels = ("namespace", "name")
        self._groups = metrics.gauge(
            "lws_groups", "Groups of a LeaderWorkerSet by state.", *labels, "state"
        )
        self._progress = metrics.gauge(
            "lws_update_progress_ratio",
            "Share of the groups that are ready at the wanted revision; 1 at rest.",
            *labels,
        )
        self._recreations = metrics.counter(
            "lws_group_recreations", "Groups recreated after the loss of a member.", *labels
        )
        self._ready_seconds = metrics.histogram(
            "lws_group_ready_seconds",
            "From the creation of a leader pod to its group being ready.",
            READY_BUCKETS,
        )
        self._seen: dict[SetKey, _Seen] = {}

    def observe(self, key: SetKey, snapshot: LeaderWorkerSetSnapshot, planned: Plan) -> None:
        """One pass; cheap, for it runs at each."""
        replicas, groups = replicas_of(snapshot.lws), snapshot.groups
        counts = {
            "desired": replicas,
            "existing": len(groups),
            "ready": sum(one.ready for one in groups),
            "updated": sum(one.updated_key == planned.wanted for one in groups),
        }
        for state, count in counts.items():
            self._groups.labels(*key, state).set(count)
        done = sum(
            one.ready and one.updated_key == planned.wanted and one.index < replicas
            for one in groups
        )
        self._progress.labels(*key).set(done / replicas if replicas else 1.0)
        self._observe_ready(key, snapshot)

    def _observe_ready(self, key: SetKey, snapshot: LeaderWorkerSetSnapshot) -> None:
        """Each life of a group once; those that a fresh process finds ready are not its news."""
        seen = self._seen.setdefault(key, _Seen())
        ready = {one.leader_uid: one for one in snapshot.groups if one.ready and one.leader_uid}
        if not seen.is_first:
            for uid in ready.keys() - seen.leaders:
                one = ready[uid]
                if one.ready_since is not None:
                    self._ready_seconds.observe(max(0.0, one.ready_since - one.leader_created))
        alive = {one.leader_uid for one in snapshot.groups if one.leader_uid}
        seen.leaders = (seen.leaders | ready.keys()) & alive
        seen.is_first = False

    def recreated(self, key: SetKey, count: int) -> None:
        """So many groups were recreated."""
        if count:
            self._recreations.labels(*key).inc(count)

    def forget(self, key: SetKey) -> None:
        """The set is gone."""
        if self._seen.pop(key, None) is None:
            return
        for state in STATES:
            self._groups.remove(*key, state)
        self._progress.remove(*key)
