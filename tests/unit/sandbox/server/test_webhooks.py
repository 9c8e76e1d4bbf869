"""Admission webhooks."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from lws.client.resources import (
    MUTATINGWEBHOOKCONFIGURATIONS,
    PODS,
    SERVICES,
    VALIDATINGWEBHOOKCONFIGURATIONS,
)
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import ApiStatus, Caller, Server
from lws.sandbox.server.admission import LocalWebhooks, Webhooks, matching

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class Hooks:
    """Webhooks by path; remembers what they were asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.server = Server(
            clock=VirtualClock(), admission=Webhooks(LocalWebhooks({"hooks.test": self.handle}))
        )

    def handle(self, path: str, body: bytes) -> tuple[int, bytes]:
        request = orjson.loads(body)["request"]
        self.asked.append((path, request))
        response = {"uid": request["uid"], "allowed": True, **self.answers[path](request)}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return 200, orjson.dumps({**review, "response": response})

    async def add(
        self, path: str, answer: Answer, *, mutating: bool = False, **fields: Any
    ) -> None:
        self.answers[path] = answer
        rule = {
            "operations": ["*"],
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
        }
        hook = {
            "name": f"{path[1:]}.hooks.test",
            "clientConfig": {"url": f"https://hooks.test{path}"},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **fields,
        }
        resource = MUTATINGWEBHOOKCONFIGURATIONS if mutating else VALIDATINGWEBHOOKCONFIGURATIONS
        body = {"metadata": {"name": path[1:]}, "webhooks": [hook]}
        await self.server.api.create(resource, body)

    async def pod(self, caller: Caller | None = None, /, **labels: str) -> dict[str, Any]:
        body = {
            "metadata": {"generateName": "p-", "labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        return await self.server.api.create(
            PODS, body, namespace="default", caller=caller or Caller()
        )


def _patch(*operations: dict[str, Any]) -> dict[str, Any]:
    coded = base64.b64encode(orjson.dumps(list(operations))).decode()
    return {"patch": coded, "patchType": "JSONPatch"}


def _label(name: str, value: str) -> Answer:
    return lambda request: _patch({"op": "add", "path": f"/metadata/labels/{name}", "value": value})


@pytest.mark.parametrize(("kind", "outside"), [("ExternalName", "elsewhere"), ("ClusterIP", "")])
async def test_a_service_may_stand_for_a_host_outside(kind: str, outside: str) -> None:
    hooks = Hooks()
    spec = {"type": kind, "externalName": "elsewhere", "ports": [{"port": 443}]}
    service = {"metadata": {"name": "hook"}, "spec": spec}
    await hooks.server.api.create(SERVICES, service, namespace="default")
    place = {"service": {"namespace": "default", "name": "hook"}}
    hook = matching.Hook("x", {"name": "x", "clientConfig": place}, 0)
    target = matching.target_of(hooks.server.world, hook)
    assert (target.address, target.outside) == ("hook.default.svc:443", outside)


def _yes(request: dict[str, Any]) -> dict[str, Any]:
    return {}


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


async def test_mutations_come_one_after_the_other_and_validation_sees_the_last(
    hooks: Hooks,
) -> None:
    await hooks.add("/a", _label("a", "1"), mutating=True)
    await hooks.add("/b", _label("b", "2"), mutating=True)
    await hooks.add("/check", _yes)
    pod = await hooks.pod(x="y")
    assert pod["metadata"]["labels"] == {"x": "y", "a": "1", "b": "2"}
    assert [path for path, _ in hooks.asked] == ["/a", "/b", "/check"]
    _, last = hooks.asked[-1]
    assert last["object"]["metadata"]["labels"] == {"x": "y", "a": "1", "b": "2"}
    assert last["operation"] == "CREATE"
    assert last["oldObject"] is None
    assert last["object"]["metadata"]["uid"], "validation sees the object as it is stored"


async def test_a_webhook_is_asked_again_if_another_changed_the_object_after_it(
    hooks: Hooks,
) -> None:
    await hooks.add("/a", _yes, mutating=True, reinvocationPolicy="IfNeeded")
    await hooks.add("/b", _label("b", "2"), mutating=True)
    await hooks.add("/c", _yes, mutating=True, reinvocationPolicy="IfNeeded")
    await hooks.pod(x="y")
    assert [path for path, _ in hooks.asked] == ["/a", "/b", "/c", "/a"]


async def test_a_refusal_has_the_webhooks_code_reason_and_message(hooks: Hooks) -> None:
    status = {"code": 422, "reason": "Invalid", "message": "no such color"}
    await hooks.add("/no", lambda _: {"allowed": False, "status": status})
    with pytest.raises(ApiStatus) as caught:
        await hooks.pod()
    assert caught.value.code == 422
    assert caught.value.reason == "Invalid"
    assert str(caught.value) == (
        'admission webhook "no.hooks.test" denied the request: no such color'
    )
    assert hooks.server.api.list(PODS).items == []


@pytest.mark.parametrize(
    ("fields", "labels", "is_asked"),
    [
        ({"objectSelector": {"matchLabels": {"x": "y"}}}, {"x": "y"}, True),
        ({"objectSelector": {"matchLabels": {"x": "y"}}}, {"x": "z"}, False),
        (
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}},
            {},
            True,
        ),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, {}, False),
        (
            {"matchConditions": [{"name": "c", "expression": "request.operation == 'CREATE'"}]},
            {},
            True,
        ),
        (
            {"matchConditions": [{"name": "c", "expression": "has(object.metadata.labels)"}]},
            {},
            False,
        ),
    ],
)
async def test_a_webhook_sees_what_it_chose(
    hooks: Hooks, fields: dict[str, Any], labels: dict[str, str], is_asked: bool
) -> None:
    await hooks.add("/a", _yes, **fields)
    await hooks.pod(**labels)
    assert bool(hooks.asked) is is_asked


async def test_a_webhook_that_cannot_be_reached_refuses_or_is_passed_over(hooks: Hooks) -> None:
    nowhere: dict[str, Any] = {"clientConfig": {"url": "https://nowhere.test/x"}}
    await hooks.add("/ignored", _yes, failurePolicy="Ignore", **nowhere)
    await hooks.pod()
    await hooks.add("/needed", _yes, failurePolicy="Fail", **nowhere)
    with pytest.raises(ApiStatus, match='failed calling webhook "needed') as caught:
        await hooks.pod()
    assert caught.value.code == 500


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"uid": "other"}, "expected response.uid="),
        ({"patch": "W10="}, "response.patch but not response.patchType"),
        ({"patch": "!", "patchType": "JSONPatch"}, "undecodable patch"),
        ({"patch": "W10=", "patchType": "Other"}, "invalid response.patchType"),
    ],
)
async def test_an_answer_that_makes_no_sense_is_a_failure(
    hooks: Hooks, response: dict[str, Any], words: str
) -> None:
    await hooks.add("/odd", lambda _: response, mutating=True)
    with pytest.raises(ApiStatus, match=words) as caught:
        await hooks.pod()
    assert caught.value.code == 500


async def test_a_dry_run_asks_only_webhooks_without_side_effects(hooks: Hooks) -> None:
    await hooks.add("/pure", _yes)
    await hooks.pod(Caller(dry_run=True))
    assert hooks.asked[0][1]["dryRun"] is True
    await hooks.add("/impure", _yes, sideEffects="Some")
    with pytest.raises(ApiStatus, match="does not support dry run"):
        await hooks.pod(Caller(dry_run=True))


async def test_a_deletion_shows_what_goes(hooks: Hooks) -> None:
    pod = await hooks.pod()
    await hooks.add("/a", _yes)
    await hooks.server.api.delete(PODS, name=pod["metadata"]["name"], namespace="default")
    ((_, request),) = hooks.asked
    assert request["operation"] == "DELETE"
    assert request["object"] is None
    assert request["oldObject"]["metadata"]["uid"] == pod["metadata"]["uid"]
