"""The Deployment in our place."""

from pathlib import Path
from typing import Any

import yaml

from lws.cli.check.deployments import NAME, SELECTOR, judge_deployment
from lws.cli.check.findings import Severity

BASE = Path(__file__).resolve().parents[4] / "deploy" / "kustomize" / "base" / "deployment.yaml"


def test_the_one_that_we_ship_is_ours() -> None:
    (shipped,) = [
        one for one in yaml.safe_load_all(BASE.read_text()) if one and one["kind"] == "Deployment"
    ]
    assert shipped["metadata"]["name"] == NAME
    assert shipped["spec"]["selector"]["matchLabels"] == SELECTOR
    assert judge_deployment(shipped) == []


def test_one_with_another_selector_has_to_go_first() -> None:
    live: dict[str, Any] = {
        "metadata": {"name": NAME, "namespace": "lws-system"},
        "spec": {
            "selector": {"matchLabels": {"control-plane": "controller-manager"}},
            "template": {"spec": {"containers": [{"image": "example.com/lws:v1"}]}},
        },
    }
    (finding,) = judge_deployment(live)
    assert finding.severity is Severity.INFO
    assert "example.com/lws:v1" in finding.message
    assert finding.hint.endswith("kubectl -n lws-system delete deployment lws-controller-manager")
