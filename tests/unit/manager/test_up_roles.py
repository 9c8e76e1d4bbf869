"""Who may view, edit or administer a namespace may do so with our kinds, where `lws up` runs."""

from typing import Any

import orjson
import pytest

from lws.client.requests import JSON, Request
from lws.manager.up import LocalControlPlane, UpOptions
from lws.runtime.clock import VirtualClock

Json = dict[str, Any]
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OURS = (
    "leaderworkerset.x-k8s.io/leaderworkersets",
    "disaggregatedset.x-k8s.io/disaggregatedsets",
    "disaggregatedset.x-k8s.io/disaggregatedsetrolescalers",
)


async def posted(plane: LocalControlPlane, path: str, body: Json) -> Json:
    request = Request("POST", path, body=orjson.dumps(body), content_type=JSON)
    answer = await plane.server.handler.handle(request)
    assert answer.status == 201, answer.body
    made: Json = orjson.loads(answer.body)
    return made


async def may(plane: LocalControlPlane, verb: str, kind: str, *, namespace: str) -> bool:
    group, _, resource = kind.partition("/")
    asked = {"namespace": namespace, "verb": verb, "group": group, "resource": resource}
    review = {"spec": {"user": "joe", "resourceAttributes": asked}}
    return bool((await posted(plane, REVIEWS, review))["status"]["allowed"])


@pytest.mark.parametrize("operator", [True, False])
@pytest.mark.parametrize("role", ["view", "edit", "admin"])
async def test_who_has_a_role_of_the_cluster_has_it_for_our_kinds(
    role: str, operator: bool
) -> None:
    options = UpOptions(nodes=1, operator=operator, listens=False)
    async with LocalControlPlane(options, clock=VirtualClock()) as plane:
        joe = {"kind": "User", "name": "joe"}
        granted = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        binding = {"metadata": {"name": "joe"}, "subjects": [joe], "roleRef": granted}
        await posted(plane, BINDINGS, binding)
        for kind in OURS:
            for verb in ("get", "list", "watch"):
                assert await may(plane, verb, kind, namespace="default"), (verb, kind)
                assert not await may(plane, verb, kind, namespace="kube-system")
            for verb in ("create", "update", "patch", "delete", "deletecollection"):
                assert await may(plane, verb, kind, namespace="default") == (role != "view")
