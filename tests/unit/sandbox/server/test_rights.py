"""Roles and bindings decide; `tests/conformance` compares the words with a real server's."""

from typing import Any

import pytest

from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import ApiStatus, Server, User
from lws.sandbox.server.authorization import Attributes
from lws.sandbox.server.authorization.attributes import attributes_of
from lws.sandbox.server.authorization.rules import allows, missing
from tests.unit.sandbox.server.conftest import Client

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"
JOE = User("joe", ("system:authenticated", "readers"))


def rule(verbs: str, resources: str, groups: str = "", names: str = "") -> dict[str, Any]:
    made = {"verbs": verbs.split(), "resources": resources.split(), "apiGroups": groups.split(",")}
    return {**made, "resourceNames": names.split()} if names else made


async def grant(client: Client, name: str, *rules: dict[str, Any], who: Any, ns: str = "") -> None:
    place = f"{RBAC}/namespaces/{ns}/" if ns else f"{RBAC}/cluster"
    kind = "Role" if ns else "ClusterRole"
    role = {"metadata": {"name": name}, "rules": list(rules)}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    binding = {"metadata": {"name": name}, "roleRef": ref, "subjects": [who]}
    for plural, obj in (("roles", role), ("rolebindings", binding)):
        answer = await client.ask("POST", place + plural, obj)
        assert answer.status == 201, answer.body


def user(name: str, kind: str = "User") -> dict[str, str]:
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}


@pytest.mark.parametrize(
    ("method", "path", "verb", "place", "thing"),
    [
        ("GET", PODS, "list", ("default", ""), "pods"),
        ("GET", f"{PODS}?watch=1", "watch", ("default", ""), "pods"),
        ("GET", f"{PODS}?watch=0", "list", ("default", ""), "pods"),
        ("GET", f"{PODS}?fieldSelector=metadata.name=a", "list", ("default", "a"), "pods"),
        ("HEAD", f"{PODS}/a", "get", ("default", "a"), "pods"),
        ("GET", f"{PODS}/a?watch=1", "get", ("default", "a"), "pods"),
        ("POST", f"{PODS}/a/eviction", "create", ("default", "a"), "pods/eviction"),
        ("DELETE", PODS, "deletecollection", ("default", ""), "pods"),
        ("DELETE", "/api/v1/namespaces/x", "delete", ("x", "x"), "namespaces"),
        ("PUT", "/api/v1/namespaces/x/status", "update", ("x", "x"), "namespaces/status"),
        ("GET", "/api/v1/namespaces", "list", ("", ""), "namespaces"),
        ("PATCH", "/apis/apps/v1/namespaces/d/sets/s/scale", "patch", ("d", "s"), "sets/scale"),
        ("GET", "/api/v1/watch/pods", "watch", ("", ""), "pods"),
        ("GET", "/api/v1/namespaces/d/pods/a%2Flog", "get", ("d", "a"), "pods/log"),
    ],
)
def test_what_a_request_asks_for(
    method: str, path: str, verb: str, place: tuple[str, str], thing: str
) -> None:
    where, _, query = path.partition("?")
    pairs = tuple(
        (part.split("=", 1)[0], part.split("=", 1)[1]) for part in query.split("&") if part
    )
    asked = attributes_of(Request(method, where, query=pairs), user="joe", groups=())
    assert (asked.verb, asked.whole_resource) == (verb, thing)
    assert (asked.namespace, asked.name) == place
    assert not asked.path


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1", "/apis/apps/v1/", "/metrics", "/foo/a/b/c"]
)
def test_other_paths_are_asked_for_by_themselves(path: str) -> None:
    asked = attributes_of(Request("GET", path), user="joe", groups=())
    assert (asked.verb, asked.path, asked.resource) == ("get", path, "")


@pytest.mark.parametrize(
    ("told", "asked", "is_allowed"),
    [
        (rule("get", "pods"), {"resource": "pods"}, True),
        (rule("get", "pods"), {"resource": "pods", "group": "apps"}, False),
        (rule("list", "pods"), {"resource": "pods"}, False),
        (rule("*", "*", "*"), {"resource": "pods", "subresource": "log", "group": "x"}, True),
        (rule("get", "pods"), {"resource": "pods", "subresource": "log"}, False),
        (rule("get", "pods/log"), {"resource": "pods", "subresource": "log"}, True),
        (rule("get", "*/log"), {"resource": "pods", "subresource": "log"}, True),
        (rule("get", "*/log"), {"resource": "pods"}, False),
        (rule("get", "pods/*"), {"resource": "pods", "subresource": "log"}, False),
        (rule("get", "pods", names="a"), {"resource": "pods", "name": "a"}, True),
        (rule("get", "pods", names="a"), {"resource": "pods"}, False),
        ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, {"path": "/a/b/c"}, True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, {"path": "/a"}, False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, {"path": "/a"}, True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, {"path": "/a/"}, False),
        (rule("*", "*", "*"), {"path": "/a"}, False),
    ],
)
def test_what_a_rule_allows(told: Any, asked: dict[str, str], is_allowed: bool) -> None:
    assert allows(told, Attributes(user="joe", verb="get", **asked)) is is_allowed


@pytest.mark.parametrize(
    ("owned", "wanted", "lacking"),
    [
        ([rule("get list", "pods")], rule("get", "pods"), []),
        ([rule("get", "pods"), rule("list", "pods")], rule("get list", "pods"), []),
        ([rule("*", "*", "*")], rule("get", "pods/log", "x", "a"), []),
        ([rule("get", "*/log")], rule("get", "pods/log"), []),
        ([rule("get", "pods", names="a")], rule("get", "pods", names="a"), []),
        (
            [rule("get", "pods", names="a")],
            rule("get", "pods"),
            ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
        ),
        (
            [rule("get", "pods")],
            rule("get list watch", "pods"),
            ['{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
        ),
        (
            [{"verbs": ["*"], "nonResourceURLs": ["/a/*"]}],
            {"verbs": ["get"], "nonResourceURLs": ["/a/b", "/b"]},
            ['{NonResourceURLs:["/b"], Verbs:["get"]}'],
        ),
    ],
)
def test_what_somebody_would_give_away_beyond_what_he_has(
    owned: Any, wanted: Any, lacking: list[str]
) -> None:
    assert missing(owned, [wanted]) == lacking


async def test_a_role_counts_from_its_binding_to_its_end(client: Client) -> None:
    assert (await client.ask("GET", PODS, user=JOE)).status == 403
    await grant(client, "reading", rule("list", "pods"), who=user("readers", "Group"), ns="default")
    assert (await client.ask("GET", PODS, user=JOE)).status == 200
    assert (await client.ask("GET", "/api/v1/pods", user=JOE)).status == 403
    assert (await client.ask("GET", f"{PODS}?watch=1", user=JOE)).status == 403
    inside = f"{RBAC}/namespaces/default"
    change = {"rules": [rule("list watch", "pods")]}
    merge = "application/merge-patch+json"
    await client.ask("PATCH", f"{inside}/roles/reading", change, content_type=merge)
    watch = f"{PODS}?watch=1&timeoutSeconds=1&resourceVersion=1"
    assert (await client.ask("GET", watch, user=JOE)).status == 200
    await client.ask("DELETE", f"{inside}/rolebindings/reading")
    assert (await client.ask("GET", PODS, user=JOE)).status == 403


async def test_a_namespace_that_goes_takes_its_bindings_along(client: Client) -> None:
    await client.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    await grant(client, "r", rule("list", "pods"), who=user("joe"), ns="n")
    path = "/api/v1/namespaces/n/pods"
    assert (await client.ask("GET", path, user=JOE)).status == 200
    await client.ask("DELETE", f"{RBAC}/namespaces/n/rolebindings")
    assert (await client.ask("GET", path, user=JOE)).status == 403


async def test_a_service_account_is_meant_by_namespace_and_name(client: Client) -> None:
    account = {"kind": "ServiceAccount", "name": "a", "namespace": "x"}
    await grant(client, "r", rule("list", "pods"), who=account)
    for name, status in (("x:a", 200), ("y:a", 403), ("x:b", 403)):
        who = User(f"system:serviceaccount:{name}", ("system:authenticated",))
        assert (await client.ask("GET", PODS, user=who)).status == status, name


async def test_masters_need_no_role(server: Server, client: Client) -> None:
    for plural in ("clusterrolebindings", "clusterroles"):
        await client.ask("DELETE", f"{RBAC}/{plural}")
    assert server.store.count("rbac.authorization.k8s.io/clusterroles") == 0
    assert (await client.ask("GET", PODS)).status == 200
    assert (await client.ask("GET", "/api", user=JOE)).status == 403
    assert (await client.ask("GET", "/readyz", user=JOE)).status == 200


async def test_nobody_grants_what_he_does_not_have(client: Client) -> None:
    roles = "roles rolebindings"
    own = [rule("create update patch", roles, "rbac.authorization.k8s.io"), rule("get", "pods")]
    await grant(client, "granting", *own, who=user("joe"), ns="default")
    place = f"{RBAC}/namespaces/default/roles"
    for verbs, status in (("get", 201), ("list", 403)):
        role = {"metadata": {"name": verbs}, "rules": [rule(verbs, "pods")]}
        assert (await client.ask("POST", place, role, user=JOE)).status == status
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": [user("joe")]}
    refused = await client.json("POST", place.replace("roles", "rolebindings"), binding, user=JOE)
    assert (refused["code"], refused["reason"]) == (403, "Forbidden")
    assert '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}' in refused["message"]


async def test_any_of_many_bindings_is_enough(client: Client) -> None:
    for number in range(30):
        await grant(client, f"r{number}", rule("list", f"kind{number}"), who=user("joe"))
    await grant(client, "last", rule("list", "pods"), who=user("joe"))
    assert (await client.ask("GET", PODS, user=JOE)).status == 200
    assert (await client.ask("GET", "/api/v1/secrets", user=JOE)).status == 403


async def test_the_first_roles_are_whole_again_at_the_next_start(
    server: Server, client: Client, clock: VirtualClock
) -> None:
    """Unless somebody has said that they are his."""
    merge = "application/merge-patch+json"
    own = {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}
    basic, discovery = (
        f"{RBAC}/clusterroles/system:basic-user",
        f"{RBAC}/clusterroles/system:discovery",
    )
    more = rule("get", "things", "example.com")
    await client.ask("PATCH", basic, {"rules": [more]}, content_type=merge)
    await client.ask("PATCH", discovery, {"metadata": own, "rules": []}, content_type=merge)
    binding = f"{RBAC}/clusterrolebindings/system:basic-user"
    await client.ask("PATCH", binding, {"subjects": []}, content_type=merge)
    await client.ask("DELETE", f"{RBAC}/clusterroles/cluster-admin")
    again = Client(Server(clock=clock, store=server.store))
    first, *others = (await again.json("GET", basic))["rules"]
    assert (first, len(others)) == (more, 3)
    assert not (await again.json("GET", discovery)).get("rules")
    assert (await again.json("GET", binding))["subjects"] == [user("system:authenticated", "Group")]
    assert (await again.ask("GET", f"{RBAC}/clusterroles/cluster-admin")).status == 200
    review = {"spec": {"namespace": "default"}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    assert (await again.ask("POST", path, review, user=JOE)).status == 201


async def test_a_bearer_on_a_node_may_act_for_that_node_alone(
    server: Server, client: Client
) -> None:
    on_node = (("authentication.kubernetes.io/node-name", ("here",)),)
    bearer = User("robot", ("system:authenticated",), extra=on_node)
    group = "authentication.k8s.io"
    rules = (
        rule("impersonate-on:associated-node:get", "pods"),
        rule("impersonate:associated-node", "nodes", group),
    )
    request = Request("GET", f"{PODS}/a")

    def acting(node: str) -> User | None:
        named = [("Impersonate-User", f"system:node:{node}")]
        return server.handler.acting(request, bearer, named)

    with pytest.raises(ApiStatus, match="cannot impersonate-on:associated-node:get resource"):
        acting("here")
    await grant(client, "nodes", *rules, who=user("robot"))
    groups = ("system:nodes", "system:authenticated")
    assert acting("here") == User("system:node:here", groups)
    with pytest.raises(ApiStatus, match="cannot impersonate-on:arbitrary-node:get resource"):
        acting("there")
