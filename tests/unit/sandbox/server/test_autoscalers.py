"""Autoscalers in two versions: nothing is lost on the way there and back."""

from typing import Any

import orjson
import pytest

from lws.sandbox.server.autoscalers import as_older, as_stored

_TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
_PREFIX = "autoscaling.alpha.kubernetes.io"


def cpu(percent: int) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def stored(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {"scaleTargetRef": _TARGET, "minReplicas": 1, "maxReplicas": 4, **spec},
        "status": {"desiredReplicas": 0, "currentMetrics": None},
    }


def test_the_load_of_cpus_has_a_field() -> None:
    older = as_older(stored(metrics=[cpu(50)]))
    assert older["apiVersion"] == "autoscaling/v1"
    assert older["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "metrics" not in older["spec"]
    assert "annotations" not in older["metadata"]


def test_the_rest_stands_in_annotations() -> None:
    target = {"type": "AverageValue", "averageValue": "10"}
    pods = {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": target}}
    annotations = as_older(stored(metrics=[pods]))["metadata"]["annotations"]
    assert orjson.loads(annotations[f"{_PREFIX}/metrics"]) == [
        {"type": "Pods", "pods": {"metricName": "queue", "targetAverageValue": "10"}}
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"metrics": [cpu(50)]},
        {
            "metrics": [
                {
                    "type": "Object",
                    "object": {
                        "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"},
                        "metric": {"name": "rate", "selector": {"matchLabels": {"a": "b"}}},
                        "target": {"type": "Value", "value": "10"},
                    },
                },
                {
                    "type": "External",
                    "external": {
                        "metric": {"name": "q"},
                        "target": {"type": "AverageValue", "averageValue": "5"},
                    },
                },
                cpu(30),
            ],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5, "policies": []}},
        },
    ],
)
def test_there_and_back_it_is_the_same(spec: dict[str, Any]) -> None:
    assert as_stored(as_older(stored(**spec))) == stored(**spec)
