"""Each fault of `POST /sandbox/faults`: what it does, and what the operator makes of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from lws.api import names
from lws.client import resources
from lws.client.requests import Request
from lws.manager.up import LocalControlPlane, UpOptions
from lws.runtime.clock import VirtualClock
from lws.runtime.metrics import Metrics
from lws.runtime.process import Process

Json = dict[str, Any]
SIZE = 3
SET: Json = {
    "apiVersion": names.API_VERSION,
    "kind": names.KIND,
    "metadata": {"name": "vllm"},
    "spec": {
        "replicas": 2,
        "leaderWorkerTemplate": {
            "size": SIZE,
            "workerTemplate": {"spec": {"containers": [{"name": "main", "image": "i"}]}},
        },
    },
}


class World:
    """A sandbox with the operator and one set of two groups, in virtual time."""

    def __init__(self, plane: LocalControlPlane, clock: VirtualClock) -> None:
        self.plane, self.clock = plane, clock

    def pods(self, group: int | None = None) -> dict[str, Json]:
        found = self.plane.server.api.list(resources.PODS).items
        return {
            pod["metadata"]["name"]: pod
            for pod in found
            if group is None or pod["metadata"]["labels"][names.GROUP_INDEX] == str(group)
        }

    def uids(self, group: int) -> set[str]:
        return {pod["metadata"]["uid"] for pod in self.pods(group).values()}

    def ready(self) -> int:
        lws = self.plane.server.api.get(
            resources.LEADERWORKERSETS, namespace="default", name="vllm"
        )
        return int(lws.get("status", {}).get("readyReplicas") or 0)

    async def until_ready(self, groups: int = 2) -> None:
        for _ in range(2000):
            if self.ready() == groups:
                return
            await self.clock.sleep(0.5)
        raise AssertionError(f"{self.ready()} groups are ready, not {groups}")

    async def ask(self, **fault: Any) -> tuple[int, Json]:
        request = Request("POST", "/sandbox/faults", body=orjson.dumps(fault))
        answer = await self.plane.server.handler.handle(request)
        return answer.status, orjson.loads(answer.body)

    async def make(self, **fault: Any) -> Json:
        code, body = await self.ask(**fault)
        assert code == 201, body
        return body


def run(test: Callable[[World], Awaitable[None]]) -> None:
    async def whole() -> None:
        clock = VirtualClock()
        options = UpOptions(nodes=4, listens=False)
        async with LocalControlPlane(options, clock=clock) as plane:
            process = Process(clock=clock)
            await plane.start_operator(process, Metrics())
            await plane.apply([SET], namespace="default")
            world = World(plane, clock)
            await world.until_ready()
            await test(world)
            process.stop("the test is over")
            others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
            for one in others:
                one.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(whole())


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"fault": "container", "pod": "vllm-0-1"}, "exit code 137 (OOMKilled)"),
        ({"fault": "container", "pod": "vllm-0", "exitCode": 3}, "exit code 3 (Error)"),
        ({"fault": "pod", "pod": "vllm-0-2", "how": "evict"}, "was short of memory"),
        ({"fault": "pod", "pod": "vllm-0-2", "how": "fail"}, "failed as a whole"),
        ({"fault": "pod", "pod": "vllm-0-1", "how": "delete"}, "pod default/vllm-0-1 was deleted"),
    ],
)
def test_a_group_that_loses_a_member_is_recreated_once(fault: Json, said: str) -> None:
    async def test(world: World) -> None:
        first, other = world.uids(0), world.uids(1)
        assert said in (await world.make(**fault))["done"][0]
        await world.clock.sleep(5)
        await world.until_ready()
        second = world.uids(0)
        assert len(second) == SIZE
        assert not second & first
        await world.clock.sleep(120)
        assert world.uids(0) == second, "once"
        assert world.uids(1) == other, "the other group was not touched"

    run(test)


def test_a_pod_that_is_not_ready_recreates_nothing() -> None:
    async def test(world: World) -> None:
        first = world.uids(0)
        await world.make(fault="pod", pod="vllm-0-1", how="unready")
        await world.clock.sleep(30)
        assert world.ready() == 1
        await world.make(fault="pod", pod="vllm-0-1", how="ready")
        await world.until_ready()
        assert world.uids(0) == first

    run(test)


def test_a_drained_node_is_left_by_its_groups_and_takes_no_more() -> None:
    async def test(world: World) -> None:
        node = world.pods()["vllm-0"]["spec"]["nodeName"]
        done = (await world.make(fault="node", node=node, how="drain"))["done"]
        assert "pod default/vllm-0 was evicted" in done
        await world.clock.sleep(10)
        await world.until_ready()
        assert node not in {pod["spec"]["nodeName"] for pod in world.pods().values()}
        await world.make(fault="node", node=node, how="uncordon")
        spec = world.plane.server.api.get(resources.NODES, name=node).get("spec") or {}
        assert not spec.get("unschedulable")

    run(test)


def test_the_groups_of_a_lost_node_come_up_elsewhere_when_it_is_removed() -> None:
    async def test(world: World) -> None:
        node = world.pods()["vllm-0"]["spec"]["nodeName"]
        await world.make(fault="node", node=node, how="down")
        await world.clock.sleep(70)
        assert world.ready() < 2
        await world.make(fault="node", node=node, how="remove")
        await world.until_ready()
        assert node not in {pod["spec"]["nodeName"] for pod in world.pods().values()}

    run(test)


def test_a_node_that_comes_back_in_time_costs_no_pod() -> None:
    async def test(world: World) -> None:
        node = world.pods()["vllm-0"]["spec"]["nodeName"]
        before = world.uids(0) | world.uids(1)
        await world.make(fault="node", node=node, how="down")
        await world.clock.sleep(70)
        await world.make(fault="node", node=node, how="up")
        await world.until_ready()
        assert world.uids(0) | world.uids(1) == before

    run(test)


def test_a_taint_drives_pods_away_until_it_is_taken_off() -> None:
    async def test(world: World) -> None:
        node = world.pods()["vllm-1"]["spec"]["nodeName"]
        taint = {"key": "broken", "effect": "NoExecute"}
        await world.make(fault="node", node=node, how="taint", taint=taint)
        await world.clock.sleep(5)
        await world.until_ready()
        assert node not in {pod["spec"]["nodeName"] for pod in world.pods().values()}
        await world.make(fault="node", node=node, how="untaint", taint={"key": "broken"})
        code, body = await world.ask(fault="node", node=node, how="untaint", taint=taint)
        assert code == 404
        assert body["message"] == f"node {node} has no taint broken:NoExecute; taints: none"

    run(test)


def test_a_slow_start_holds_for_pods_that_start_afterwards() -> None:
    async def test(world: World) -> None:
        told = await world.make(fault="slow-start", seconds=90)
        assert told["done"] == ["pods that start from now on are ready after 90 s, not after 1 s"]
        await world.make(fault="container", pod="vllm-0-1")
        began = world.clock.monotonic()
        await world.clock.sleep(5)
        await world.make(fault="slow-start", seconds=1)
        await world.until_ready()
        assert 85 < world.clock.monotonic() - began < 120

    run(test)


REFUSED: list[tuple[Json, int, str]] = [
    (
        {"fault": "container", "pod": "vllm-9"},
        404,
        "pods of this namespace: vllm-0, vllm-0-1, vllm-0-2, vllm-1, vllm-1-1, vllm-1-2",
    ),
    (
        {"fault": "pod", "pod": "x", "namespace": "y", "how": "evict"},
        404,
        "there is no pod x in namespace y; this namespace has no pods",
    ),
    (
        {"fault": "container", "pod": "vllm-0", "container": "x"},
        404,
        "pod default/vllm-0 has no container x; it has: main",
    ),
    (
        {"fault": "node", "node": "x", "how": "down"},
        404,
        "there is no node x; nodes: node-0, node-1, node-2, node-3",
    ),
    ({"fault": "flood"}, 400, "Invalid value 'flood' - at `$.fault`"),
    ({"fault": "container", "pod": ""}, 400, "`$.pod`"),
    ({"fault": "container", "pod": "p", "exitCode": 256}, 400, "<= 255 - at `$.exitCode`"),
    ({"fault": "container", "pod": "p", "exit_code": 1}, 400, "unknown field `exit_code`"),
    ({"fault": "pod", "pod": "p", "how": "burn"}, 400, "Invalid enum value 'burn' - at `$.how`"),
    ({"fault": "node", "node": "n", "how": "taint"}, 400, "taint: must be given"),
    (
        {"fault": "node", "node": "n", "how": "taint", "taint": {"key": "k"}},
        400,
        "taint.effect: must be one of NoSchedule, PreferNoSchedule, NoExecute",
    ),
]


def test_what_cannot_be_done_is_refused_with_what_is_there() -> None:
    async def test(world: World) -> None:
        for fault, code, words in REFUSED:
            answer = await world.ask(**fault)
            assert answer[0] == code, fault
            assert words in answer[1]["message"]
        handler = world.plane.server.handler
        broken = await handler.handle(Request("POST", "/sandbox/faults", body=b"\xff{"))
        assert broken.status == 400
        for method, path in (("GET", "/sandbox/faults"), ("POST", "/sandbox")):
            assert (await handler.handle(Request(method, path))).status == 405
        about = await handler.handle(Request("GET", "/sandbox"))
        assert orjson.loads(about.body)["kind"] == "Sandbox"

    run(test)


def test_what_does_not_run_cannot_fail() -> None:
    async def test(world: World) -> None:
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "big"},
            "spec": {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "9999"}}}
                ]
            },
        }
        await world.plane.apply([pod], namespace="default")
        await world.clock.sleep(1)
        code, body = await world.ask(fault="container", pod="big")
        assert code == 409
        assert "pod default/big is Pending (0/4 nodes are available" in body["message"]
        assert body["message"].endswith("only a pod that runs can fail")

    run(test)
