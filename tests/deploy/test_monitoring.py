"""Rules and dashboard: they work, and ask only for what the operator exports."""

import json
import re
from functools import cache
from typing import Any

import pytest
import yaml

from harness.tools import must, run_tool
from tests.deploy.exported import exported
from tests.deploy.promql import asked
from tests.deploy.rendering import DEPLOY, template

MONITORING = DEPLOY / "monitoring"
OPERATIONS = DEPLOY.parent / "docs" / "operations.md"
OF_PROMETHEUS = {"pod", "instance", "job"}
"""Labels that a scrape adds to every series."""

Rule = dict[str, Any]


@cache
def rules() -> list[Rule]:
    document = yaml.safe_load((MONITORING / "rules.yaml").read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def alerts() -> list[str]:
    return [rule["alert"] for rule in rules() if "alert" in rule]


@cache
def dashboard() -> dict[str, Any]:
    board: dict[str, Any] = json.loads((MONITORING / "dashboard.json").read_text())
    return board


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    return [rule["expr"] for rule in rules()] + [
        target["expr"] for panel in panels() for target in panel["targets"]
    ]


def recorded() -> dict[str, frozenset[str]]:
    """What the recording rules make, with the labels that they group by."""
    return {
        rule["record"]: frozenset(asked(rule["expr"])[1] - {"le"})
        for rule in rules()
        if "record" in rule
    }


@pytest.mark.parametrize("expression", expressions())
def test_only_what_is_exported_is_asked_for_by_labels_that_it_has(expression: str) -> None:
    known = exported() | recorded()
    series, grouping = asked(expression)
    assert series, "asks for nothing"
    assert {one.metric for one in series} - known.keys() == set()
    have = frozenset().union(*(known[one.metric] for one in series))
    assert [one for one in series if one.labels - known[one.metric] - OF_PROMETHEUS] == []
    assert grouping - have - OF_PROMETHEUS == set()


def test_every_name_of_ours_anywhere_in_the_dashboard_is_exported() -> None:
    """The queries of its variables too."""
    words = r"[\w:]*\b(?:lws|controller_runtime|workqueue)_[\w:]+"
    names = set(re.findall(words, json.dumps(dashboard())))
    assert len(names) > 10
    assert names - (exported() | recorded()).keys() == set()


def test_the_names_that_dashboards_of_controller_runtime_use_are_exported() -> None:
    wanted = {
        "controller_runtime_reconcile_total",
        "controller_runtime_reconcile_errors_total",
        "controller_runtime_reconcile_time_seconds_bucket",
        "workqueue_depth",
        "workqueue_adds_total",
        "workqueue_queue_duration_seconds_bucket",
        "workqueue_retries_total",
        "rest_client_requests_total",
        "leader_election_master_status",
    }
    assert wanted - exported().keys() == set()


def test_promtool_takes_the_rules() -> None:
    assert f"{len(rules())} rules found" in must(
        run_tool("promtool", "check", "rules", "--lint-fatal", MONITORING / "rules.yaml")
    )


def test_each_alert_comes_and_goes_as_the_unit_tests_say() -> None:
    must(run_tool("promtool", "test", "rules", MONITORING / "tests.yaml"))


def test_each_alert_and_each_record_has_a_unit_test() -> None:
    tests = yaml.safe_load((MONITORING / "tests.yaml").read_text())["tests"]
    fired = {
        case["alertname"]
        for test in tests
        for case in test.get("alert_rule_test", [])
        if case.get("exp_alerts")
    }
    evaluated = {
        one.metric
        for test in tests
        for case in test.get("promql_expr_test", [])
        for one in asked(case["expr"])[0]
    }
    assert set(alerts()) - fired == set()
    assert recorded().keys() - evaluated == set()


def test_each_alert_has_a_row_that_says_what_to_do() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|\n]+\|[^|\n]+\|$", OPERATIONS.read_text(), re.MULTILINE)
    assert [row for row in rows if row in set(alerts())] == alerts()


def test_alerts_say_how_bad_and_what() -> None:
    for rule in rules():
        if "alert" in rule:
            assert rule["labels"]["severity"] in ("critical", "warning")
            assert rule["annotations"]["summary"]


def test_the_lease_that_is_watched_is_the_one_that_is_configured() -> None:
    items = template("--set", "prometheusRule.enabled=true,leaderElection.resourceName=mine")
    text = json.dumps(items["PrometheusRule", "lws-controller-manager"])
    assert 'leader_election_master_status{name=\\"mine\\"}' in text
    assert "b8b2488c" not in text


def test_panels_of_the_dashboard_have_ids_of_their_own_and_places_that_do_not_overlap() -> None:
    board = dashboard()["panels"]
    assert len({panel["id"] for panel in board}) == len(board)
    taken: set[tuple[int, int]] = set()
    for panel in board:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_every_metric_of_our_own_that_is_of_sets_is_on_the_dashboard() -> None:
    shown = {
        one.metric
        for panel in panels()
        for target in panel["targets"]
        for one in asked(target["expr"])[0]
    }
    for record in recorded().keys() & shown:
        rule = next(rule for rule in rules() if rule.get("record") == record)
        shown |= {one.metric for one in asked(rule["expr"])[0]}
    ours = {
        "lws_groups",
        "lws_update_progress_ratio",
        "lws_group_recreations_total",
        "lws_group_ready_seconds_bucket",
        "lws_disaggregatedset_replicas",
        "lws_disaggregatedset_update_steps_total",
    }
    assert ours - shown == set()
