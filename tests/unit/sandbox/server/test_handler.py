"""The verbs over HTTP values: status codes, forms, discovery."""

from typing import Any

import orjson
import pytest

from lws.client.requests import Request
from lws.sandbox.server import Server
from tests.unit.sandbox.server.conftest import Client

MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
MERGE = "application/merge-patch+json"
DEFINITION: dict[str, Any] = {
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.count",
                        "statusReplicasPath": ".status.count",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "Count", "type": "integer", "jsonPath": ".spec.count"}
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["count"],
                                "properties": {
                                    "count": {"type": "integer", "minimum": 0},
                                    "color": {"type": "string", "default": "red"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"count": {"type": "integer"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/namespaces/default/things"


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "code"),
    [
        ("GET", "/nowhere", None, "application/json", 404),
        ("GET", "/api/v1/nowhere", None, "application/json", 404),
        ("GET", f"{MAPS}/a/b/c", None, "application/json", 404),
        ("GET", f"{MAPS}/missing", None, "application/json", 404),
        ("PATCH", MAPS, {}, MERGE, 405),
        ("POST", f"{MAPS}/a", {}, "application/json", 405),
        ("POST", "/api/v1/configmaps", {}, "application/json", 405),
        ("BREW", MAPS, None, "application/json", 405),
        ("POST", MAPS, b"{", "application/json", 400),
        ("POST", MAPS, b"", "application/json", 400),
        ("POST", MAPS, b"[]", "application/json", 400),
        ("POST", MAPS, b'{"metadata":{"name":7}}', "application/json", 400),
        ("POST", MAPS, b'{"metadata":[]}', "application/json", 400),
        ("POST", MAPS, b"\xff\xfe", "application/json", 400),
        ("POST", MAPS, b"[" * 100_000, "application/json", 400),
        ("POST", MAPS, b"a: [", "application/yaml", 400),
        ("POST", MAPS, b"k8s\x00\x0a\xff", "application/vnd.kubernetes.protobuf", 400),
        ("POST", MAPS, b"k8s", "application/vnd.kubernetes.protobuf", 400),
        ("POST", MAPS, {"kind": "Pod", "apiVersion": "v1"}, "application/json", 400),
        ("POST", MAPS, {}, "application/json", 422),
        ("POST", MAPS, {"metadata": {"name": "A_b"}}, "application/json", 422),
        ("POST", MAPS, {}, "text/html", 415),
        ("PATCH", f"{MAPS}/a", {}, "application/json", 415),
        ("PATCH", f"{MAPS}/missing", {}, MERGE, 404),
        ("POST", MAPS, b" " * (3 * 1024 * 1024 + 1), "application/json", 413),
        ("GET", f"{MAPS}?limit=x", None, "application/json", 400),
        ("GET", f"{MAPS}?labelSelector=a=!", None, "application/json", 400),
        ("GET", f"{MAPS}?continue=nonsense", None, "application/json", 400),
        ("GET", f"{MAPS}?resourceVersion=x", None, "application/json", 400),
        ("GET", f"{MAPS}?resourceVersion=99999", None, "application/json", 504),
        ("GET", f"{MAPS}?resourceVersionMatch=Exact", None, "application/json", 422),
        ("GET", "/api/v1/namespaces/kube-system/pods/p/log", None, "application/json", 404),
        ("DELETE", "/api/v1/namespaces/default", None, "application/json", 403),
        ("DELETE", "/api/v1/namespaces", None, "application/json", 405),
        ("DELETE", f"{MAPS}/a", {"propagationPolicy": "Foo"}, "application/json", 422),
    ],
)
async def test_what_makes_no_sense_gets_the_right_refusal(
    client: Client, method: str, path: str, body: Any, content_type: str, code: int
) -> None:
    await client.ask("POST", MAPS, {"metadata": {"name": "a"}})
    answer = await client.ask(method, path, body, content_type=content_type)
    assert answer.status == code
    if path != "/nowhere":
        status = orjson.loads(answer.body)
        assert status["kind"] == "Status"
        assert status["code"] == code
        assert status["message"]
    alive = await client.ask("GET", f"{MAPS}/a")
    assert alive.status == 200


async def test_a_form_that_we_cannot_give_is_refused(client: Client) -> None:
    answer = await client.ask("GET", MAPS, accept="text/html")
    assert answer.status == 406
    answer = await client.ask("GET", MAPS, accept="application/json;as=Other;g=x;v=v1")
    assert answer.status == 406


async def test_unknown_fields_are_an_error_a_warning_or_nothing(client: Client) -> None:
    def body(name: str) -> dict[str, Any]:
        return {"metadata": {"name": name}, "nope": 1}

    strict = await client.ask("POST", f"{MAPS}?fieldValidation=Strict", body("a"))
    assert strict.status == 400
    assert b'strict decoding error: unknown field \\"nope\\"' in strict.body
    warned = await client.ask("POST", f"{MAPS}?fieldValidation=Warn", body("b"))
    assert warned.headers["warning"] == '299 - "unknown field \\"nope\\""'
    silent = await client.ask("POST", f"{MAPS}?fieldValidation=Ignore", body("c"))
    assert "warning" not in silent.headers
    twice = b'{"metadata":{"name":"d"},"data":{"a":"1","a":"2"}}'
    answer = await client.ask("POST", f"{MAPS}?fieldValidation=Strict", twice)
    assert b'duplicate field \\"data.a\\"' in answer.body


async def test_yaml_goes_in_and_out(client: Client) -> None:
    body = b"metadata: {name: a}\ndata: {when: '2024-01-01'}\n"
    made = await client.ask(
        "POST", MAPS, body, content_type="application/yaml", accept="application/yaml"
    )
    assert made.status == 201
    assert b"when: '2024-01-01'" in made.body


async def test_a_table_has_kubectls_columns(client: Client) -> None:
    await client.ask("POST", MAPS, {"metadata": {"name": "a"}, "data": {"x": "y"}})
    table = await client.json("GET", MAPS, accept=TABLE)
    assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    (row,) = table["rows"]
    assert row["cells"] == ["a", 1, "0s"]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    bare = await client.json("GET", f"{MAPS}/a?includeObject=None", accept=TABLE)
    assert bare["rows"][0]["object"] is None


async def test_items_of_built_in_lists_do_not_say_what_they_are(client: Client) -> None:
    await client.ask("POST", MAPS, {"metadata": {"name": "a"}})
    listing = await client.json("GET", MAPS)
    assert listing["kind"] == "ConfigMapList"
    assert "kind" not in listing["items"][0]


async def test_a_definition_serves_its_kind_at_once(client: Client) -> None:
    assert (await client.ask("GET", THINGS)).status == 404
    made = await client.ask("POST", DEFINITIONS, DEFINITION)
    assert made.status == 201
    definition = await client.json("GET", f"{DEFINITIONS}/things.example.com")
    states = {one["type"]: one["status"] for one in definition["status"]["conditions"]}
    assert states == {"NamesAccepted": "True", "Established": "True"}
    assert definition["status"]["storedVersions"] == ["v1"]
    thing = await client.json(
        "POST",
        f"{THINGS}?fieldValidation=Ignore",
        {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": "t"},
            "spec": {"count": 2, "unknown": 1},
            "status": {"count": 7},
        },
    )
    assert thing["spec"] == {"count": 2, "color": "red"}
    assert "status" not in thing
    assert thing["metadata"]["generation"] == 1
    scale = await client.json("GET", f"{THINGS}/t/scale")
    assert scale["spec"] == {"replicas": 2}
    table = await client.json("GET", THINGS, accept=TABLE)
    assert table["rows"][0]["cells"] == ["t", 2]
    resources = await client.json("GET", "/apis/example.com/v1")
    assert [one["name"] for one in resources["resources"]] == [
        "things",
        "things/status",
        "things/scale",
    ]


async def test_an_object_of_a_custom_kind_is_judged_by_its_schema(client: Client) -> None:
    await client.ask("POST", DEFINITIONS, DEFINITION)
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
    bad = await client.json("POST", THINGS, {**body, "spec": {"count": -1}})
    assert bad["code"] == 422
    assert bad["details"]["causes"][0]["field"] == "spec.count"
    strategic = await client.ask(
        "PATCH", f"{THINGS}/t", {}, content_type="application/strategic-merge-patch+json"
    )
    assert strategic.status == 415


async def test_a_definition_that_goes_takes_its_objects_along(
    server: Server, client: Client
) -> None:
    async with server:
        await client.ask("POST", DEFINITIONS, DEFINITION)
        body = {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": "t"},
            "spec": {"count": 1},
        }
        assert (await client.ask("POST", THINGS, body)).status == 201
        await client.ask("DELETE", f"{DEFINITIONS}/things.example.com")
        await server.world.clock.sleep(10)
        assert (await client.ask("GET", f"{DEFINITIONS}/things.example.com")).status == 404
        assert (await client.ask("GET", THINGS)).status == 404
        assert server.store.count("example.com/things") == 0


async def test_discovery_names_every_kind_in_both_forms(client: Client) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    core = await client.json("GET", "/api", accept=accept)
    rest = await client.json("GET", "/apis", accept=accept)
    together = {
        (group["metadata"].get("name", ""), version["version"], resource["resource"])
        for document in (core, rest)
        for group in document["items"]
        for version in group["versions"]
        for resource in version["resources"]
    }
    apart = set()
    groups = (await client.json("GET", "/apis"))["groups"]
    paths = ["/api/v1", *(f"/apis/{one['groupVersion']}" for g in groups for one in g["versions"])]
    for path in paths:
        listed = await client.json("GET", path)
        group, _, version = listed["groupVersion"].rpartition("/")
        names = (one["name"] for one in listed["resources"] if "/" not in one["name"])
        apart |= {(group, version, name) for name in names}
    assert together == apart
    assert ("apps", "v1", "statefulsets") in together


async def test_events_are_the_same_objects_in_both_groups(client: Client) -> None:
    event = {
        "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "example.com/x",
        "reportingInstance": "x-1",
        "action": "Do",
        "reason": "Done",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "hello",
        "type": "Normal",
    }
    made = await client.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event)
    assert made.status == 201
    old = await client.json("GET", "/api/v1/namespaces/default/events/e")
    assert old["involvedObject"]["name"] == "p"
    assert old["message"] == "hello"
    chosen = await client.json(
        "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=p"
    )
    assert len(chosen["items"]) == 1


async def test_kubectls_protobuf_is_the_same_as_json(client: Client) -> None:
    body = bytes.fromhex(
        "6b3873000a0f0a02763112"
        "09436f6e6669674d6170121d0a130a03666f6f12001a0022002a0032003800420012060a0161120162"
        "1a002200"
    )
    made = await client.ask("POST", MAPS, body, content_type="application/vnd.kubernetes.protobuf")
    assert made.status == 201
    found = await client.json("GET", f"{MAPS}/foo")
    assert found["data"] == {"a": "b"}
    assert "generateName" not in found["metadata"]


async def test_reviews_answer_without_being_stored(client: Client) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    assert (await client.json("POST", path, asked))["status"] == {"allowed": True}
    other = {"spec": {**asked["spec"], "user": "joe"}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert (await client.json("POST", path, other))["status"] == {"allowed": False}
    assert (await client.ask("POST", path, {"spec": {}})).status == 422


async def test_what_is_not_done_says_so(server: Server, client: Client) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await client.ask("POST", "/api/v1/namespaces/default/pods", pod)
    answer = await client.ask("GET", "/api/v1/namespaces/default/pods/p/exec")
    assert answer.status == 501
    assert b"docs/limits.md" in answer.body


async def test_a_watch_streams_lines(server: Server) -> None:
    request = Request("GET", MAPS, query=(("watch", "true"), ("timeoutSeconds", "3")))
    assert server.handler.media_of_stream(request) == "application/json"
    await Client(server).ask("POST", MAPS, {"metadata": {"name": "a"}})
    async with server.handler.stream(request, headers={"accept": TABLE}) as lines:
        events = [orjson.loads(line) async for line in lines]
    assert [event["type"] for event in events] == ["ADDED"]
    assert events[0]["object"]["kind"] == "Table"
