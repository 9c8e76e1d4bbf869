"""Metrics have the names that people's dashboards ask for."""

from prometheus_client.exposition import generate_latest

from lws.runtime.metrics import Metrics

NAMES = (
    "controller_runtime_reconcile_total",
    "controller_runtime_reconcile_errors_total",
    "controller_runtime_reconcile_time_seconds_bucket",
    "controller_runtime_active_workers",
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_retries_total",
    "workqueue_queue_duration_seconds_bucket",
    "workqueue_work_duration_seconds_bucket",
    "rest_client_requests_total",
    "leader_election_master_status",
)


def test_every_name_of_a_dashboard_is_there_from_the_start() -> None:
    metrics = Metrics()
    metrics.controller("pods")
    metrics.queue("pods").watch_depth(lambda: 0.0)
    metrics.leads("lease", False)
    metrics.requests("host").on_response(verb="list", resource="pods", code="200", seconds=0.1)
    text = generate_latest(metrics.registry).decode()
    assert [name for name in NAMES if f"\n{name}{{" not in text] == []
    assert 'controller_runtime_reconcile_total{controller="pods",result="success"} 0.0' in text


def test_requests_are_counted_by_code_and_http_method() -> None:
    metrics = Metrics()
    observer = metrics.requests("host:443")
    for verb, code in (("get", "200"), ("watch", "200"), ("update", "409"), ("create", "<error>")):
        observer.on_response(verb=verb, resource="pods", code=code, seconds=0.01)
    counted = {
        (method, code): metrics.value(
            "rest_client_requests_total", code=code, method=method, host="host:443"
        )
        for method, code in (("GET", "200"), ("PUT", "409"), ("POST", "<error>"))
    }
    assert counted == {("GET", "200"): 2, ("PUT", "409"): 1, ("POST", "<error>"): 1}


def test_two_processes_in_one_share_nothing() -> None:
    one, two = Metrics(), Metrics()
    one.queue("q").adds.inc()
    assert two.value("workqueue_adds_total", name="q") == 0


def test_others_add_families_of_their_own() -> None:
    metrics = Metrics()
    metrics.counter("lws_recreations", "Groups made anew", "reason").labels("failed").inc(2)
    metrics.gauge("lws_groups", "Groups", "state").labels("ready").set(3)
    metrics.histogram("lws_ready_seconds", "Until ready", (1.0, 10.0), "set").labels("s").observe(4)
    assert metrics.value("lws_recreations_total", reason="failed") == 2
    assert metrics.value("lws_groups", state="ready") == 3
    assert metrics.value("lws_ready_seconds_bucket", set="s", le="10.0") == 1
