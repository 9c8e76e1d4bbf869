"""Validating admission policies: versions, what cannot be judged, and what a policy may say."""

from typing import Any

import pytest

from lws.client.resources import CRDS, STATEFULSETS, Resource
from lws.sandbox.schema.builtin import defaulted, validated
from lws.sandbox.server import ApiStatus, Server
from tests.unit.sandbox.server.conftest import CONFIGMAPS, Client

JsonObject = dict[str, Any]

GROUP = "admissionregistration.k8s.io"
POLICIES = Resource(
    GROUP,
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
    namespaced=False,
)
BINDINGS = Resource(
    GROUP,
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    namespaced=False,
)
EVENTS = Resource("", "v1", "events", "Event")


def rule(group: str = "", version: str = "v1", plural: str = "configmaps") -> JsonObject:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["CREATE", "UPDATE"],
        "resources": [plural],
    }


def spec(expression: str, **fields: Any) -> JsonObject:
    validation = {"expression": expression, "message": "no"}
    return {
        "matchConstraints": {"resourceRules": [rule()]},
        "validations": [validation],
        **fields,
    }


async def bind(server: Server, said: JsonObject, *actions: str) -> None:
    """A policy and its binding."""
    await server.api.create(POLICIES, {"metadata": {"name": "p"}, "spec": said})
    bound = {"policyName": "p", "validationActions": list(actions or ("Deny",))}
    await server.api.create(BINDINGS, {"metadata": {"name": "b"}, "spec": bound})


async def make(server: Server, **data: str) -> JsonObject:
    made = {"metadata": {"name": "c"}, "data": data}
    return await server.api.create(CONFIGMAPS, made, namespace="default")


def faults(said: JsonObject) -> dict[str, str]:
    kind = (GROUP, "v1", "ValidatingAdmissionPolicy")
    obj = defaulted(*kind, {"metadata": {"name": "p"}, "spec": said})
    return {fault.field: fault.message for fault in validated(*kind, obj)}


async def test_a_policy_without_a_binding_says_nothing(server: Server) -> None:
    await server.api.create(POLICIES, {"metadata": {"name": "p"}, "spec": spec("false")})
    assert await make(server)


async def test_a_policy_that_forbids_all_can_be_taken_away(server: Server) -> None:
    everything = {**rule("*", "*", "*"), "operations": ["*"]}
    await bind(server, spec("false", matchConstraints={"resourceRules": [everything]}))
    with pytest.raises(ApiStatus, match="denied request: no") as refused:
        await make(server)
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    await server.api.delete(BINDINGS, name="b")
    assert await make(server)


async def test_who_is_only_warned_may_write(client: Client, server: Server) -> None:
    await bind(server, spec("object.data.a == 'b'"), "Warn")
    made = {"metadata": {"name": "c"}, "data": {"a": "c"}}
    answer = await client.ask("POST", "/api/v1/namespaces/default/configmaps", made)
    assert answer.status == 201
    assert answer.headers["warning"] == (
        "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no\""
    )


@pytest.mark.parametrize(("policy", "is_judged"), [("Equivalent", True), ("Exact", False)])
async def test_an_object_is_judged_by_rules_about_its_other_version(
    server: Server, policy: str, is_judged: bool
) -> None:
    definition = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "kind": "Widget"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == "v2",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
                for name in ("v1", "v2")
            ],
        },
    }
    await server.api.create(CRDS, definition)
    match = {"matchPolicy": policy, "resourceRules": [rule("example.com", "v1", "widgets")]}
    await bind(server, spec("object.apiVersion != 'example.com/v1'", matchConstraints=match))
    widget = {"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w"}}
    resource = Resource("example.com", "v2", "widgets", "Widget")
    if is_judged:
        with pytest.raises(ApiStatus, match="denied request: no"):
            await server.api.create(resource, widget, namespace="default")
    else:
        assert await server.api.create(resource, widget, namespace="default")


async def test_events_are_judged_under_both_their_names(server: Server) -> None:
    match = {"resourceRules": [rule("events.k8s.io", plural="events")]}
    await bind(server, spec("object.regarding.name != 'x'", matchConstraints=match))
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"name": "x", "namespace": "default"},
    }
    with pytest.raises(ApiStatus, match="denied request: no"):
        await server.api.create(EVENTS, event, namespace="default")


async def test_times_are_text_as_on_a_real_server(server: Server) -> None:
    await bind(server, spec("oldObject == null || oldObject.metadata.creationTimestamp < '2000'"))
    made = await make(server, a="b")
    with pytest.raises(ApiStatus, match="denied request: no"):
        await server.api.update(CONFIGMAPS, {**made, "data": {"a": "c"}}, namespace="default")


async def test_what_a_policy_cannot_see_it_does_not_judge(server: Server) -> None:
    await bind(server, spec("false"))
    labels = {"a": "b"}
    made = {
        "metadata": {"name": "s"},
        "spec": {
            "serviceName": "s",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }
    assert await server.api.create(STATEFULSETS, made, namespace="default")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("objekt.data.a == 'b'", "1:1: undeclared reference to 'objekt'"),
        ("has(object.data) && foo", "1:21: undeclared reference to 'foo'"),
        ("'foo' in object.data && 'x.foo' != \"foo\"", ""),
        ("object.data.all(k, k.size() > 1) && !object.data.exists(key, key == 'a')", ""),
        ("request.kinds == 'a'", "1:8: undefined field 'kinds'"),
        ("variables.b == 1", "1:10: undefined field 'b'"),
        ("variables.a == 1", ""),
        ("params.data.a == 'b'", "1:1: undeclared reference to 'params'"),
        ("object.data.a ==", "1:17: Syntax error: mismatched input '<EOF>'"),
        ("object.spec.hostNetwork", "must evaluate to bool but got dyn"),
        ("object.metadata.labels['a/b']", "must evaluate to bool but got dyn"),
        ("{'a': 1}['a'] == 1 && type(1) == int && 1 in [1]", ""),
    ],
)
def test_what_is_wrong_with_an_expression_is_said_when_it_is_made(
    expression: str, problem: str
) -> None:
    found = faults(spec(expression, variables=[{"name": "a", "expression": "1"}]))
    if problem:
        assert problem in found["spec.validations[0].expression"]
    else:
        assert found == {}


async def test_an_expression_that_the_evaluator_does_not_know_is_not_taken(
    server: Server,
) -> None:
    with pytest.raises(ApiStatus, match=r"docs/limits\.md") as refused:
        await bind(server, spec("object.?data.orValue({}) == {}"))
    assert refused.value.code == 501
