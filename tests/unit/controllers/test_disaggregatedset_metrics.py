"""What Prometheus is told of a DisaggregatedSet."""

from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.executor.disaggregatedset.families import DisaggregatedKey
from lws.planner.disaggregatedset.census import RoleTotals
from lws.runtime.metrics import Metrics
from tests.unit.planner.disaggregatedset.test_status import a_snapshot
from tests.unit.planner.disaggregatedset.worlds import a_ds, a_role

KEY = DisaggregatedKey("default", "llm")
LABELS = {"namespace": "default", "name": "llm"}
STEPS = "lws_disaggregatedset_update_steps_total"
STATES = ("desired", "existing", "ready", "updated")


def replicas(metrics: Metrics, role: str) -> list[float | None]:
    """By state, in the order of STATES; None: there is no such series."""
    name = "lws_disaggregatedset_replicas"
    return [
        metrics.registry.get_sample_value(name, {**LABELS, "role": role, "state": state})
        for state in STATES
    ]


def test_replicas_are_told_by_role_and_state_over_all_slices() -> None:
    metrics = Metrics()
    told = DisaggregatedSetMetrics(metrics)
    ds = a_ds([a_role("prefill", 2), a_role("decode", 1)], slices=2)
    totals = {"prefill": RoleTotals(2, 4, 3, 2, 1), "decode": RoleTotals(2, 2, 2, 2, 2)}
    told.observe(KEY, a_snapshot(ds, totals=totals))
    assert replicas(metrics, "prefill") == [4, 3, 2, 1]
    assert replicas(metrics, "decode") == [2, 2, 2, 2]


def test_a_role_that_is_gone_has_no_series() -> None:
    metrics = Metrics()
    told = DisaggregatedSetMetrics(metrics)
    told.observe(KEY, a_snapshot())
    told.observe(KEY, a_snapshot(a_ds([a_role("prefill", 2), a_role("encode", 1)])))
    assert replicas(metrics, "decode") == [None] * 4
    assert replicas(metrics, "encode")[0] == 1


def test_steps_are_counted_from_nought() -> None:
    metrics = Metrics()
    told = DisaggregatedSetMetrics(metrics)
    told.observe(KEY, a_snapshot())
    assert metrics.registry.get_sample_value(STEPS, LABELS) == 0
    told.stepped(KEY)
    assert metrics.value(STEPS, **LABELS) == 1


def test_a_set_that_is_gone_has_no_series_and_a_late_pass_of_a_slice_makes_none() -> None:
    metrics = Metrics()
    told = DisaggregatedSetMetrics(metrics)
    told.observe(KEY, a_snapshot())
    told.forget(KEY)
    told.stepped(KEY)
    told.forget(KEY)
    assert replicas(metrics, "prefill") == [None] * 4
    assert metrics.registry.get_sample_value(STEPS, LABELS) is None
