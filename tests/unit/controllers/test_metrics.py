"""What Prometheus is told of a set."""

from lws.base.ids import UID
from lws.controllers.metrics import SetMetrics
from lws.executor.families import SetKey
from lws.planner.leaderworkerset.plan import plan
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.runtime.metrics import Metrics
from tests.unit.planner.leaderworkerset.worlds import NAME, NAMESPACE, NOW, at_rest, facts

KEY = SetKey(NAMESPACE, NAME)
LABELS = {"namespace": NAMESPACE, "name": NAME}


def observed(metrics: Metrics, told: SetMetrics, snapshot: LeaderWorkerSetSnapshot) -> None:
    told.observe(KEY, snapshot, plan(snapshot))


def test_groups_are_told_by_state_and_progress_as_a_share() -> None:
    metrics = Metrics()
    told = SetMetrics(metrics)
    groups = [facts(0), facts(1, ready=False), facts(2, updated_key=None)]
    observed(metrics, told, at_rest(groups=groups))
    states = {
        state: metrics.value("lws_groups", **LABELS, state=state)
        for state in ("desired", "existing", "ready", "updated")
    }
    assert states == {"desired": 3, "existing": 3, "ready": 2, "updated": 2}
    assert metrics.value("lws_update_progress_ratio", **LABELS) == 1 / 3


def test_each_life_of_a_group_is_timed_once_and_what_was_ready_before_is_not() -> None:
    metrics = Metrics()
    told = SetMetrics(metrics)
    observed(metrics, told, at_rest())
    assert metrics.value("lws_group_ready_seconds_count") == 0
    fresh = facts(2, leader_uid=UID("another"), leader_created=NOW - 90, since=NOW - 30)
    for _ in range(2):
        observed(metrics, told, at_rest(groups=[facts(0), facts(1), fresh]))
    assert metrics.value("lws_group_ready_seconds_count") == 1
    assert metrics.value("lws_group_ready_seconds_sum") == 60


def test_recreations_are_counted() -> None:
    metrics = Metrics()
    told = SetMetrics(metrics)
    told.recreated(KEY, 2)
    told.recreated(KEY, 0)
    assert metrics.value("lws_group_recreations_total", **LABELS) == 2


def test_the_series_of_a_set_that_is_gone_are_gone() -> None:
    metrics = Metrics()
    told = SetMetrics(metrics)
    observed(metrics, told, at_rest())
    told.forget(KEY)
    told.forget(KEY)
    assert metrics.registry.get_sample_value("lws_groups", {**LABELS, "state": "ready"}) is None
    assert metrics.registry.get_sample_value("lws_group_recreations_total", LABELS) is None


def test_recreations_are_there_before_the_first_so_that_a_rate_can_be_taken() -> None:
    metrics = Metrics()
    observed(metrics, SetMetrics(metrics), at_rest())
    assert metrics.registry.get_sample_value("lws_group_recreations_total", LABELS) == 0
