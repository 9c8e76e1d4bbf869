"""`lws check cluster` on golden worlds: it only reads, and says what the controllers would do."""

import copy
import json
from collections.abc import Mapping

import pytest

from lws.cli.check.cluster import Asked, check_cluster
from lws.cli.check.findings import Report, Severity, Topic
from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import PatchType, Request
from lws.client.responses import Response
from lws.sandbox.transport import LocalTransport
from tests.golden.life import Life, living
from tests.golden.test_taking_over_live import AT_REST
from tests.golden.worlds import NAMESPACE, load

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "lws-webhook-service", "namespace": "lws-system"},
    "spec": {"ports": [{"port": 443}]},
}


class ReadOnly(LocalTransport):
    """A client that refuses every verb but get and list."""

    asked: list[Request]

    async def send(self, request: Request) -> Response:
        assert request.verb in ("get", "list"), request
        assert request.method == "GET", request
        self.asked.append(request)
        return await super().send(request)


async def checked(life: Life, asked: Asked | None = None) -> tuple[Report, list[Request]]:
    """The report on a cluster whose webhooks are in order, and what was asked for it."""
    api = life.plane.server.api
    await api.create(resources.SERVICES, SERVICE, namespace="lws-system")
    for resource in (
        resources.MUTATINGWEBHOOKCONFIGURATIONS,
        resources.VALIDATINGWEBHOOKCONFIGURATIONS,
    ):
        for configuration in api.list(resource).items:
            hooks = [_trusted(hook) for hook in configuration["webhooks"]]
            name = configuration["metadata"]["name"]
            change = {"webhooks": hooks}
            await api.patch(resource, change, patch_type=PatchType.MERGE, name=name)
    transport = ReadOnly(life.handler)
    transport.asked = []
    client = KubernetesClient(transport)
    return await check_cluster(client, life.clock, asked or Asked()), transport.asked


def _trusted(hook: Mapping[str, object]) -> dict[str, object]:
    config = hook["clientConfig"]
    assert isinstance(config, dict)
    return {**hook, "clientConfig": {**config, "caBundle": _CA}}


_CA = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlekNDQVNDZ0F3SUJBZ0lVZmFrZUZvclRlc3RzCi0tLS0t"
    "RU5EIENFUlRJRklDQVRFLS0tLS0K"
)


@pytest.mark.parametrize("world", [*AT_REST, "lws-mid-update-surge"])
async def test_nothing_would_be_written_where_the_public_controller_has_left_nothing_to_do(
    world: str,
) -> None:
    async with living(load(world)) as life:
        await life.clock.sleep(30.0)
        report, _ = await checked(life)
        assert [one.as_document() for one in report.findings] == []
        assert report.is_clear


async def test_reading_is_enough() -> None:
    async with living(load("ds-mid-update")) as life:
        report, asked = await checked(life)
        assert len(asked) > 10
        assert {request.verb for request in asked} == {"get", "list"}
        assert life.writes == []
        assert report.inventory.counts["LeaderWorkerSet"] == 4
        assert report.inventory.counts["Pod"] == 14


async def test_what_would_be_done_is_what_is_done() -> None:
    """The very writes that the check announces are the first that the operator sends."""
    async with living(load("lws-canary-held")) as life:
        rolling = {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 0}}}
        await life.plane.server.api.patch(
            resources.LEADERWORKERSETS,
            {"spec": rolling},
            patch_type=PatchType.MERGE,
            name="canary",
            namespace=NAMESPACE,
        )
        await life.clock.sleep(5.0)
        report, _ = await checked(life)
        applied, told = [one for one in report.findings if one.topic is Topic.CHANGE]
        assert str(applied.about) == "StatefulSet golden/canary"
        assert applied.fields == ("spec.updateStrategy.rollingUpdate.partition",)
        assert str(told.about) == "LeaderWorkerSet golden/canary"
        assert report.changes == 2
        assert not report.is_clear
        await life.start_operator()
        await life.clock.sleep(10.0)
        sent = [one.path.rpartition("/namespaces/golden/")[2] for one in life.writes]
        assert sent[0] == "statefulsets/canary"
        assert "leaderworkersets/canary/status" in sent


async def test_a_namespace_is_looked_at_alone() -> None:
    async with living(load("lws-plain")) as life:
        report, asked = await checked(life, Asked(namespaces=("elsewhere",)))
        assert report.inventory.counts == {}
        report, asked = await checked_again(life, Asked(namespaces=("golden",)))
        assert report.inventory.counts["LeaderWorkerSet"] == 1
        listed = [one.path for one in asked if one.resource == "leaderworkersets"]
        assert listed == ["/apis/leaderworkerset.x-k8s.io/v1/namespaces/golden/leaderworkersets"]


async def checked_again(life: Life, asked: Asked) -> tuple[Report, list[Request]]:
    transport = ReadOnly(life.handler)
    transport.asked = []
    return await check_cluster(KubernetesClient(transport), life.clock, asked), transport.asked


class Denied(ReadOnly):
    """As one who may not look at pods."""

    async def send(self, request: Request) -> Response:
        if request.resource == "pods":
            body = {"kind": "Status", "reason": "Forbidden", "message": "pods is forbidden"}
            return Response(403, {}, json.dumps(body).encode())
        return await super().send(request)


async def test_what_may_not_be_read_is_told_once() -> None:
    async with living(load("ds-slices")) as life:
        transport = Denied(life.handler)
        transport.asked = []
        report = await check_cluster(KubernetesClient(transport), life.clock, Asked())
        (denied,) = [one for one in report.findings if one.topic is Topic.RIGHT]
        assert denied.severity is Severity.ERROR
        assert denied.about.kind == "Pod"
        assert "pods is forbidden" in denied.message
        assert "get and list pods" in denied.hint


async def test_a_set_that_cannot_be_read_is_told_and_the_others_are_looked_at() -> None:
    world = load("lws-plain")
    (lws,) = world["leaderworkersets"]
    odd = copy.deepcopy(lws)
    odd["metadata"] |= {"name": "odd", "uid": "0dd"}
    odd["spec"]["leaderWorkerTemplate"]["size"] = "three"
    async with living({**world, "leaderworkersets": [lws, odd]}) as life:
        report, _ = await checked(life)
        told = [one for one in report.findings if one.about.name == "odd"]
        assert any("cannot be read" in one.message and "size" in one.message for one in told)
        assert all(one.about.name == "odd" for one in report.findings)


async def test_something_foreign_in_a_place_of_ours_is_told() -> None:
    world = dict(load("lws-plain"))
    (service,) = world["services"]
    kept = ("name", "namespace", "uid", "creationTimestamp")
    stranger = {**service, "metadata": {key: service["metadata"][key] for key in kept}}
    async with living({**world, "services": [stranger]}) as life:
        report, _ = await checked(life)
        obstacles = [one for one in report.findings if one.severity is Severity.ERROR]
        assert [str(one.about) for one in obstacles] == ["Service golden/plain"]
        assert "is in the way" in obstacles[0].message


async def test_a_statefulset_that_a_hand_has_changed_is_told_with_its_field() -> None:
    async with living(load("lws-plain")) as life:
        await life.plane.server.api.patch(
            resources.STATEFULSETS,
            {"spec": {"replicas": 1}},
            patch_type=PatchType.MERGE,
            name="plain-0",
            namespace=NAMESPACE,
        )
        report, _ = await checked(life)
        changes = {str(one.about): one.fields for one in report.findings if one.hint == ""}
        assert changes["StatefulSet golden/plain-0"] == ("spec.replicas: 1 → 2",)
