"""The whole path of a DisaggregatedSet's webhook: refusals name their field, warnings arrive."""

import json
from typing import Any

import pytest

from harness.kube import ApiError, Json
from tests.integration.disaggregatedset.support import API_VERSION, Fleet, ds, role

EXCLUSIVE = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"}


def partitioned() -> Json:
    made = role("decode", 1)
    made["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["partition"] = 1
    return made


@pytest.mark.parametrize(
    ("roles", "spec", "field"),
    [
        ([role("prefill", 1), partitioned()], {}, "partition"),
        ([role("prefill", 1), role("decode", 1, surge=0)], {}, "rollingUpdateConfiguration"),
        ([role("prefill", 1), role("decode", 1, surge="x%")], {}, "maxSurge"),
        (
            [role("prefill", 1), role("decode", 1, metadata={"annotations": EXCLUSIVE})],
            {"placementPolicy": {"type": "ExclusiveSlice", "topology": "rack"}},
            "annotations",
        ),
        (
            [role("prefill", 1), role("decode", 1)],
            {"placementPolicy": {"type": "ExclusiveSlice"}},
            "topology",
        ),
        ([role("prefill", 1)], {}, "spec.roles"),
        ([role("prefill", 1), role("prefill", 1)], {}, "spec.roles"),
    ],
)
def test_a_refusal_names_the_field(
    fleet: Fleet, roles: list[Json], spec: dict[str, Any], field: str
) -> None:
    with pytest.raises(ApiError) as refused:
        fleet.create(roles, **spec)
    assert refused.value.status == 422
    assert field in refused.value.message


def test_an_update_is_judged_as_a_create_is(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    with pytest.raises(ApiError) as refused:
        fleet.change([role("prefill", 1), partitioned()])
    assert "partition" in refused.value.message


def test_warnings_reach_who_writes(fleet: Fleet) -> None:
    labelled = role("prefill", 1)
    template = labelled["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template["metadata"]["labels"]["app"] = "mine"
    warnings = _warnings(fleet, ds("pd", [labelled, role("decode", 3, external=True)]))
    assert any("labels" in one and "app" in one and "replaced" in one for one in warnings)
    assert any("replicas" in one and "pd-decode" in one for one in warnings)


def _warnings(fleet: Fleet, item: Json) -> list[str]:
    """What kubectl would print beside the answer."""
    path = f"/apis/{API_VERSION}/namespaces/{fleet.namespace}/disaggregatedsets"
    headers = {**fleet.kube.headers, "Content-Type": "application/json"}
    connection = fleet.kube.connect()
    try:
        connection.request("POST", path, body=json.dumps(item), headers=headers)
        response = connection.getresponse()
        assert response.status == 201, response.read()
        response.read()
        return response.headers.get_all("Warning") or []
    finally:
        connection.close()
