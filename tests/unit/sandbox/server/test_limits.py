"""Limit ranges, together with quotas and webhooks."""

from typing import Any

import pytest

from lws.client.resources import PODS, Resource
from lws.sandbox.server import ApiStatus, Server
from tests.unit.sandbox.server.test_quota import quota, used

JsonObject = dict[str, Any]

RANGES = Resource("", "v1", "limitranges", "LimitRange")


async def limit(server: Server, name: str, **fields: Any) -> None:
    made = {"metadata": {"name": name}, "spec": {"limits": [{"type": "Container", **fields}]}}
    await server.api.create(RANGES, made, namespace="default")


def pod(**resources: Any) -> JsonObject:
    container = {"name": "main", "image": "i", "resources": resources}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container]}}


async def test_what_a_range_fills_in_is_charged_to_the_quota(server: Server) -> None:
    await limit(server, "l", default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})
    await quota(server, "q", **{"requests.cpu": "1", "limits.cpu": "1"})
    made = await server.api.create(PODS, pod(), namespace="default")
    assert made["status"]["qosClass"] == "Burstable"
    assert used(server, "q") == {"requests.cpu": "100m", "limits.cpu": "500m"}


async def test_of_two_ranges_each_fills_in_what_is_missing_and_each_must_be_kept(
    server: Server,
) -> None:
    await limit(server, "a", defaultRequest={"cpu": "100m"})
    await limit(server, "b", defaultRequest={"cpu": "2", "memory": "1Mi"}, max={"memory": "2Mi"})
    made = await server.api.create(PODS, pod(), namespace="default")
    assert made["spec"]["containers"][0]["resources"]["requests"] == {
        "cpu": "100m",
        "memory": "1Mi",
    }
    with pytest.raises(ApiStatus, match="maximum memory usage per Container is 2Mi, but limit"):
        await server.api.create(PODS, pod(limits={"memory": "3Mi"}), namespace="default")


async def test_a_pod_that_is_there_is_not_asked_again(server: Server) -> None:
    made = await server.api.create(PODS, pod(), namespace="default")
    await limit(server, "l", max={"cpu": "1"})
    labelled = {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}}
    changed = await server.api.update(PODS, labelled, namespace="default")
    assert "annotations" not in changed["metadata"]
