"""Who owns the replicas after a scale."""

from __future__ import annotations

from typing import Any

import pytest

from lws.sandbox.patch import ApplyConflict, PatchError
from lws.sandbox.patch.scaling import scale_applied, scaled

Json = dict[str, Any]
PATH = ("spec", "replicas")


def entry(manager: str, fields: Json, operation: str = "Update", **more: Any) -> Json:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "apps/v1",
        "time": "1970-01-01T00:00:01Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": fields},
        **more,
    }


def scale(replicas: int) -> Json:
    spec = {"replicas": replicas} if replicas else {}
    metadata = {"name": "x", "uid": "u"}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec}


def told(managed: list[Json]) -> list[tuple[str, str, str, str, list[str]]]:
    return [
        (
            each["manager"],
            each["operation"],
            each.get("subresource", ""),
            each.get("time", ""),
            sorted(each["fieldsV1"]["f:spec"]),
        )
        for each in managed
    ]


LIVE: Json = {
    "metadata": {"managedFields": [entry("ann", {"f:replicas": {}, "f:serviceName": {}})]},
    "spec": {"replicas": 2},
}
OPTIONS: Json = {"path": PATH, "api_version": "apps/v1", "now": 5.0}


def test_who_scales_takes_the_replicas_and_gets_no_time() -> None:
    managed = scaled(live=LIVE, old=scale(2), new=scale(3), manager="bob", **OPTIONS)
    assert told(managed) == [
        ("bob", "Update", "scale", "", ["f:replicas"]),
        ("ann", "Update", "", "1970-01-01T00:00:01Z", ["f:serviceName"]),
    ]
    assert {each["apiVersion"] for each in managed} == {"apps/v1"}


def test_a_scale_that_changes_nothing_splits_the_owners_entry() -> None:
    managed = scaled(live=LIVE, old=scale(2), new=scale(2), manager="bob", **OPTIONS)
    assert told(managed) == [
        ("ann", "Update", "", "", ["f:replicas"]),
        ("ann", "Update", "", "1970-01-01T00:00:01Z", ["f:serviceName"]),
    ]


def test_an_applied_scale_meets_the_owner_of_the_replicas() -> None:
    live = {
        **LIVE,
        "metadata": {"managedFields": [entry("ann", {"f:replicas": {}}, operation="Apply")]},
    }
    body = {**scale(4), "metadata": {"name": "x"}}
    options = {"live": live, "old": scale(2), "applied": body, "manager": "bob", **OPTIONS}
    with pytest.raises(ApplyConflict) as problem:
        scale_applied(**options)
    assert problem.value.message == (
        'Apply failed with 1 conflict: conflict with "ann": .spec.replicas'
    )
    made, managed = scale_applied(**options, force=True)
    assert made["spec"] == {"replicas": 4}
    assert told(managed) == [("bob", "Apply", "scale", "", ["f:replicas"])]


def test_a_custom_resources_scale_cannot_be_applied() -> None:
    body = {**scale(4), "metadata": {"name": "x"}}
    options = {"live": LIVE, "old": scale(2), "manager": "bob", "is_custom": True, **OPTIONS}
    with pytest.raises(PatchError) as problem:
        scale_applied(**options, applied=body, force=True)
    assert problem.value.code == 500
    assert problem.value.message.startswith("failed to convert new object (/x; autoscaling/v1,")
    made, _ = scale_applied(**options, applied={**scale(2), "metadata": {"name": "x"}})
    assert made["spec"] == {"replicas": 2}
