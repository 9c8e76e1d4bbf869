"""Whatever comes in, the handler answers with a status of its own, and lives."""

import asyncio
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server

ROOT = "/api/v1/namespaces/default"
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
TYPES = st.sampled_from(
    [
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
        "text/plain",
        "",
    ]
)
PARTS = st.sampled_from(
    [
        "api",
        "apis",
        "v1",
        "apps",
        "namespaces",
        "default",
        "pods",
        "nodes",
        "statefulsets",
        "x",
        "status",
        "scale",
        "",
        "..",
        "%2F",
        "é",
        "configmaps",
        "eviction",
        "binding",
    ]
)
PATHS = st.one_of(
    st.lists(PARTS, max_size=8).map(lambda parts: "/" + "/".join(parts)),
    st.sampled_from(
        [
            f"{ROOT}/pods",
            f"{ROOT}/pods/p",
            f"{ROOT}/pods/p/status",
            f"{ROOT}/pods/p/eviction",
            f"{ROOT}/pods/p/binding",
            f"{ROOT}/services",
            f"{ROOT}/services/s",
            "/apis/apps/v1/namespaces/default/statefulsets",
            "/apis/apps/v1/namespaces/default/statefulsets/s",
            "/apis/apps/v1/namespaces/default/statefulsets/s/scale",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            "/apis/events.k8s.io/v1/namespaces/default/events",
        ]
    ),
)
NAMES = st.sampled_from(
    [
        "metadata",
        "name",
        "namespace",
        "labels",
        "spec",
        "status",
        "replicas",
        "template",
        "kind",
        "apiVersion",
        "containers",
        "selector",
        "matchLabels",
        "ports",
        "port",
        "clusterIP",
        "ownerReferences",
        "finalizers",
        "uid",
        "resourceVersion",
        "annotations",
        "generateName",
        "op",
        "path",
        "value",
        "$patch",
        "target",
        "names",
        "versions",
        "rules",
        "é",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(min_value=-(2**40), max_value=2**40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["", "p", "s", "default", "v1", "Pod", "add", "remove", "/spec", "None"]),
        st.text(max_size=5),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)
BODIES = st.one_of(st.binary(max_size=40), VALUES.map(orjson.dumps), st.none())
QUERIES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "limit",
                "continue",
                "labelSelector",
                "fieldSelector",
                "resourceVersion",
                "watch",
                "resourceVersionMatch",
                "dryRun",
                "fieldManager",
                "fieldValidation",
                "force",
                "sendInitialEvents",
                "allowWatchBookmarks",
                "gracePeriodSeconds",
                "pretty",
            ]
        ),
        st.sampled_from(["", "1", "true", "x", "a in (b", "a=b", "All", "Strict", "Exact", "-1"])
        | st.text(max_size=4),
    ),
    max_size=3,
).map(lambda pairs: (*pairs, ("timeoutSeconds", "1")))
REQUESTS = st.builds(
    lambda method, path, query, body, kind: Request(
        method, path, query=query, body=body, content_type=kind
    ),
    METHODS,
    PATHS,
    QUERIES,
    BODIES,
    TYPES,
)


async def _seeded() -> Server:
    server = Server(clock=VirtualClock())
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    for path, body in ((f"{ROOT}/pods", pod), (f"{ROOT}/services", service)):
        made = await server.handler.handle(
            Request("POST", path, body=orjson.dumps(body), content_type="application/json")
        )
        assert made.status == 201
    return server


@settings(max_examples=400, deadline=None)
@given(st.lists(REQUESTS, min_size=1, max_size=8))
def test_any_request_is_answered_and_leaves_a_server_that_works(requests: list[Request]) -> None:
    async def run() -> None:
        server = await _seeded()
        for request in requests:
            answer = await server.handler.handle(request, headers={"user-agent": "fuzz"})
            assert 200 <= answer.status < 600
            if answer.status >= 400 and answer.body != b"404 page not found\n":
                status = orjson.loads(answer.body)
                assert status["kind"] == "Status"
                assert status["code"] == answer.status
                assert answer.status < 500 or answer.status in (500, 501, 504), request
        check = await server.handler.handle(Request("GET", "/api/v1/pods"))
        assert check.status == 200

    asyncio.run(run())
