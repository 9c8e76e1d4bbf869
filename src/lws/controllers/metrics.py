"""What Prometheus is told of our kinds (manager.md, Running)."""

from dataclasses import dataclass, field

from lws.base.ids import UID
from lws.executor.disaggregatedset.families import DisaggregatedKey
from lws.executor.families import SetKey
from lws.planner.disaggregatedset.snapshot import SetSnapshot
from lws.planner.disaggregatedset.status import desired_replicas, role_status
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
        if key not in self._seen:
            self._recreations.labels(*key)  # present from the start, so that a rate can be taken
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
        self._recreations.remove(*key)


class DisaggregatedSetMetrics:
    """Per DisaggregatedSet, as of its last pass; series of a set or role that is gone are gone."""

    def __init__(self, metrics: Metrics) -> None:
        labels = ("namespace", "name")
        self._replicas = metrics.gauge(
            "lws_disaggregatedset_replicas",
            "Replicas of a role, over all slices, by state.",
            *labels,
            "role",
            "state",
        )
        self._steps = metrics.counter(
            "lws_disaggregatedset_update_steps",
            "Steps of updates: moves of replicas from an old revision to the wanted one.",
            *labels,
        )
        self._roles: dict[DisaggregatedKey, frozenset[str]] = {}

    def observe(self, key: DisaggregatedKey, snapshot: SetSnapshot) -> None:
        """One pass over the set as a whole."""
        if key not in self._roles:
            self._steps.labels(*key)  # present from the start, so that a rate can be taken
        roles = {role.name: role for role in snapshot.ds.spec.roles}
        self._drop(key, self._roles.get(key, frozenset()) - roles.keys())
        self._roles[key] = frozenset(roles)
        for name, role in roles.items():
            status = role_status(snapshot, role)
            counts = {
                "desired": desired_replicas(snapshot, role),
                "existing": status.replicas,
                "ready": status.ready_replicas,
                "updated": status.updated_replicas,
            }
            for state, count in counts.items():
                self._replicas.labels(*key, name, state).set(count)

    def stepped(self, key: DisaggregatedKey) -> None:
        """A slice's update went a step on."""
        if key in self._roles:  # else the last word on the set has been said
            self._steps.labels(*key).inc()

    def forget(self, key: DisaggregatedKey) -> None:
        """The set is gone."""
        self._drop(key, self._roles.pop(key, frozenset()))
        self._steps.remove(*key)

    def _drop(self, key: DisaggregatedKey, roles: frozenset[str]) -> None:
        for role in roles:
            for state in STATES:
                self._replicas.remove(*key, role, state)
