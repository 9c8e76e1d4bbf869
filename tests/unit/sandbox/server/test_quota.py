"""Quotas: what a pod uses, and that a request is charged as a whole or not at all."""

import asyncio
from typing import Any

import pytest

from lws.client.resources import PODS, Resource
from lws.sandbox.server import ApiStatus, Server
from lws.sandbox.server.quota import amounts, evaluator_of

JsonObject = dict[str, Any]

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")


def container(name: str = "main", *, again: bool = False, **requests: str) -> JsonObject:
    made: JsonObject = {"name": name, "image": "i", "resources": {"requests": requests}}
    return {**made, "restartPolicy": "Always"} if again else made


def pod(name: str = "p", **spec: Any) -> JsonObject:
    metadata = {"name": name, "namespace": "default"}
    return {"metadata": metadata, "spec": {"containers": [container()], **spec}}


def requests(made: JsonObject) -> dict[str, str]:
    evaluator = evaluator_of(PODS)
    assert evaluator is not None
    used = evaluator.usage(made, 1_800_000_000.0)
    return {name: str(value) for name, value in used.items()}


async def quota(server: Server, name: str, **hard: str) -> None:
    made = {"metadata": {"name": name}, "spec": {"hard": hard}}
    await server.api.create(QUOTAS, made, namespace="default")
    counted = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    await server.api.update(
        QUOTAS,
        {"metadata": {"name": name}, "status": counted},
        namespace="default",
        subresource="status",
    )


def used(server: Server, name: str) -> JsonObject:
    status = server.api.get(QUOTAS, name=name, namespace="default")["status"]
    return dict(status["used"])


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container(cpu="100m"), container("b", cpu="1")]}, "1100m"),
        ({"initContainers": [container("i", cpu="2"), container("j", cpu="1")]}, "2"),
        ({"initContainers": [container("i", cpu="1", again=True)]}, "1100m"),
        (
            {
                "initContainers": [
                    container("i", cpu="1", again=True),
                    container("j", cpu="500m"),
                ]
            },
            "1500m",
        ),
        ({"overhead": {"cpu": "50m"}}, "150m"),
        ({"resources": {"requests": {"cpu": "3"}}}, "3"),
    ],
)
def test_a_pod_uses_what_its_containers_need_at_the_worst_moment(
    spec: JsonObject, cpu: str
) -> None:
    found = requests(pod(**{"containers": [container(cpu="100m")], **spec}))
    assert found["requests.cpu"] == found["cpu"] == cpu


def test_sums_are_written_in_the_suffixes_of_the_first() -> None:
    large, small = amounts({"memory": "1Gi"}), amounts({"memory": "100M"})
    assert str(large["memory"].plus(small["memory"])) == "1173741824"
    assert str(small["memory"].plus(large["memory"])) == "1173741824"
    assert str(amounts({"m": "512Mi"})["m"].plus(large["memory"])) == "1536Mi"
    assert str(amounts({"m": "0"})["m"].plus(large["memory"])) == "1Gi"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"status": {"phase": "Succeeded"}}, {"count/pods"}),
        ({"status": {"phase": "Failed"}}, {"count/pods"}),
        ({"status": {"phase": "Running"}}, {"count/pods", "pods", "cpu", "requests.cpu"}),
    ],
)
def test_a_pod_that_has_ended_holds_nothing(fields: JsonObject, names: set[str]) -> None:
    made = pod(containers=[container(cpu="1")])
    assert set(requests({**made, **fields})) == names


def test_a_pod_that_is_not_gone_though_its_time_is_over_holds_nothing() -> None:
    made = pod(containers=[container(cpu="1")])
    made["metadata"] |= {
        "deletionTimestamp": "2027-01-15T07:59:50Z",
        "deletionGracePeriodSeconds": 30,
    }
    assert "pods" in requests(made)
    made["metadata"]["deletionTimestamp"] = "2027-01-15T07:59:00Z"
    assert "pods" not in requests(made)


async def test_what_one_quota_refuses_is_charged_to_none(server: Server) -> None:
    await quota(server, "a", pods="5")
    await quota(server, "b", pods="0")
    with pytest.raises(ApiStatus, match="exceeded quota: b"):
        await server.api.create(PODS, pod(), namespace="default")
    assert used(server, "a") == {"pods": "0"}


async def test_of_many_at_once_no_more_come_in_than_there_is_room_for(server: Server) -> None:
    await quota(server, "a", pods="3")
    tries = [server.api.create(PODS, pod(f"p{n}"), namespace="default") for n in range(10)]
    answers = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(answer, dict) for answer in answers) == 3
    assert used(server, "a") == {"pods": "3"}


async def test_a_quota_of_another_namespace_does_not_count(server: Server) -> None:
    await quota(server, "a", pods="0")
    made = pod()
    del made["metadata"]["namespace"]
    assert await server.api.create(PODS, made, namespace="kube-system")
