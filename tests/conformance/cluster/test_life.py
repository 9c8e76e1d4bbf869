"""A cluster as a whole: started, stopped, started again; big ones; its own definitions."""

import asyncio

import pytest

from lws.client.requests import PatchType
from lws.client.resources import DEPLOYMENTS, LEASES, NODES, PODS, STATEFULSETS
from lws.runtime.clock import RealClock, VirtualClock
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec
from lws.sandbox.server.server import Server
from lws.sandbox.store import Store
from tests.conformance.cluster.worlds.objects import config_map, deployment, stateful_set
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import Json

NODE = NodeSpec(name="node-0", capacity={"cpu": "1000", "memory": "1Ti", "pods": "10000"})


async def _ready(server: Server, clock: VirtualClock, count: int) -> None:
    for _ in range(600):
        await clock.run_for(0.1)
        items = server.api.list(STATEFULSETS).items
        if sum(one["status"].get("readyReplicas", 0) for one in items) == count:
            return
    raise AssertionError(f"not {count} pods are ready after a minute")


async def test_a_cluster_that_is_stopped_does_nothing_and_goes_on_later() -> None:
    clock, store = VirtualClock(), Store()
    async with Server(clock=clock, store=store) as server:
        async with Cluster(server.api, clock, nodes=[NODE]):
            await server.api.create(STATEFULSETS, stateful_set(replicas=2), namespace="default")
            await _ready(server, clock, 2)
        uids = [one["metadata"]["uid"] for one in server.api.list(PODS).items]
        revision = store.revision
        await clock.run_for(100)
        assert store.revision == revision
        await server.api.patch(
            STATEFULSETS,
            {"spec": {"replicas": 3}},
            patch_type=PatchType.MERGE,
            name="web",
            namespace="default",
        )
    async with (
        Server(clock=clock, store=store) as server,
        Cluster(server.api, clock, nodes=[NODE]),
    ):
        await _ready(server, clock, 3)
        pods = server.api.list(PODS).items
        assert [one["metadata"]["uid"] for one in pods[:2]] == uids
        addresses = {one["status"]["podIP"] for one in pods}
        assert len(addresses) == 3


async def test_a_cluster_at_rest_writes_nothing() -> None:
    clock = VirtualClock()
    async with (
        Server(clock=clock) as server,
        Cluster(server.api, clock, nodes=[NODE]),
    ):
        await server.api.create(STATEFULSETS, stateful_set(replicas=2), namespace="default")
        await server.api.create(DEPLOYMENTS, deployment("router"), namespace="default")
        await _ready(server, clock, 2)
        await clock.run_for(60)
        assert server.api.list(DEPLOYMENTS).items[0]["status"]["availableReplicas"] == 3
        revision = server.store.revision
        await clock.run_for(3600)
        assert server.store.revision == revision


async def test_leases_are_renewed_where_they_are_wanted() -> None:
    clock = VirtualClock()
    options = ClusterOptions(leases=True)
    async with (
        Server(clock=clock) as server,
        Cluster(server.api, clock, nodes=[NODE], options=options),
    ):
        await clock.run_for(1)
        first = _renewed(server)
        await clock.run_for(30)
        assert _renewed(server) > first


async def test_it_runs_on_the_machine_s_clock_too() -> None:
    clock = RealClock()
    async with (
        Server(clock=clock) as server,
        Cluster(server.api, clock, nodes=[NODE]),
    ):
        await server.api.create(STATEFULSETS, stateful_set(replicas=3), namespace="default")
        for _ in range(500):
            await asyncio.sleep(0.02)
            found = server.api.get(STATEFULSETS, name="web", namespace="default")
            if found["status"].get("readyReplicas") == 3:
                break
        assert found["status"]["readyReplicas"] == 3


async def test_a_hundred_groups_of_four_are_made() -> None:
    clock = VirtualClock()
    options = ClusterOptions(events=False)
    async with (
        Server(clock=clock) as server,
        Cluster(server.api, clock, nodes=[NODE], options=options),
    ):
        for number in range(100):
            made = stateful_set(f"web-{number}", replicas=4, parallel=True)
            await server.api.create(STATEFULSETS, made, namespace="default")
        await _ready(server, clock, 400)
        assert server.store.revision < 4000


async def test_nodes_are_made_once() -> None:
    clock = VirtualClock()
    async with Server(clock=clock) as server:
        for _ in range(2):
            async with Cluster(server.api, clock, nodes=[NODE]):
                await clock.run_for(1)
        assert len(server.api.list(NODES).items) == 1


def test_custom_objects_own_and_are_owned(sandbox: SandboxWorld) -> None:
    sandbox.create(_definition())
    sandbox.settle()
    thing = sandbox.create(
        {"apiVersion": "test.lws/v1", "kind": "Thing", "metadata": {"name": "one"}}
    )
    sandbox.create(config_map("owned", thing))
    sandbox.delete("things", "one")
    sandbox.until(lambda: sandbox.find("configmaps", "owned") is None, what="gone")


def test_what_custom_objects_own_goes_with_their_definition(sandbox: SandboxWorld) -> None:
    sandbox.create(_definition())
    sandbox.settle()
    thing = sandbox.create(
        {"apiVersion": "test.lws/v1", "kind": "Thing", "metadata": {"name": "one"}}
    )
    sandbox.create(config_map("owned", thing))
    sandbox.settle()
    sandbox.delete("customresourcedefinitions", "things.test.lws")
    sandbox.settle()
    again = {**_definition()}
    sandbox.create(again)
    sandbox.until(lambda: sandbox.find("configmaps", "owned") is None, what="gone")


def _definition() -> Json:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.test.lws"},
        "spec": {
            "group": "test.lws",
            "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _renewed(server: Server) -> str:
    lease = server.api.get(LEASES, name="node-0", namespace="kube-node-lease")
    renewed: str = lease["spec"]["renewTime"]
    return renewed


async def test_what_breaks_in_a_cluster_is_told_to_who_waits_for_it() -> None:
    clock = VirtualClock()
    async with Server(clock=clock) as server:
        cluster = Cluster(server.api, clock, nodes=[NODE])
        await cluster.start()
        waiting = asyncio.create_task(cluster.wait())
        await clock.run_for(1)
        assert not waiting.done()
        server.api.update = None  # type: ignore[assignment,method-assign]
        await server.api.create(STATEFULSETS, stateful_set(replicas=1), namespace="default")
        await clock.run_for(1)
        assert waiting.done()
        with pytest.raises(ExceptionGroup):
            await waiting
