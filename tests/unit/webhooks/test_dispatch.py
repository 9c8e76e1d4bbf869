"""AdmissionReviews in and out."""

import base64
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from lws.admission.jsonpatch import apply
from lws.webhooks import dispatch, handle, paths

LWS = {"group": "leaderworkerset.x-k8s.io", "version": "v1", "kind": "LeaderWorkerSet"}
DS = {"group": "disaggregatedset.x-k8s.io", "version": "v1", "kind": "DisaggregatedSet"}
POD = {"group": "", "version": "v1", "kind": "Pod"}
P = "leaderworkerset.sigs.k8s.io/"
SET: dict[str, Any] = {
    "metadata": {"name": "serve"},
    "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {}}}},
}
LEADER: dict[str, Any] = {
    "metadata": {
        "name": "serve-0",
        "labels": {P + "name": "serve", P + "worker-index": "0"},
        "annotations": {P + "size": "2"},
    },
    "spec": {"subdomain": "serve", "containers": [{"name": "a", "env": [{"name": "A"}]}]},
}


def review(kind: dict[str, str], new: object, old: object = None, **request: object) -> bytes:
    """What the API server sends."""
    operation = "CREATE" if old is None else "UPDATE"
    body = {
        "uid": "u-1",
        "kind": kind,
        "namespace": "default",
        "operation": operation,
        "object": new,
        "oldObject": old,
        **request,
    }
    return orjson.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": body}
    )


def asked(path: str, body: bytes) -> dict[str, Any]:
    """The response to a review that is understood."""
    code, answer = handle(path, body)
    assert code == 200
    document = orjson.loads(answer)
    assert (document["apiVersion"], document["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = document["response"]
    assert response["uid"] == "u-1"
    return response


def patch_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    patch: list[dict[str, Any]] = orjson.loads(base64.b64decode(response["patch"]))
    return patch


def without_label(kind: dict[str, str]) -> bytes:
    return review(kind, {"metadata": {"name": "x", "labels": {"a": "b"}}})


def test_a_set_is_defaulted_by_a_patch() -> None:
    patch = patch_of(asked(paths.MUTATE_LEADERWORKERSET, review(LWS, SET)))
    spec: Any = apply(patch, SET)
    assert spec["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert {operation["op"] for operation in patch} == {"add"}


def test_a_set_with_every_default_needs_no_patch() -> None:
    patch = patch_of(asked(paths.MUTATE_LEADERWORKERSET, review(LWS, SET)))
    response = asked(paths.MUTATE_LEADERWORKERSET, review(LWS, apply(patch, SET)))
    assert response == {"uid": "u-1", "allowed": True}


def test_a_valid_set_is_allowed() -> None:
    assert asked(paths.VALIDATE_LEADERWORKERSET, review(LWS, SET))["allowed"] is True


def test_a_wrong_set_is_refused_with_every_field() -> None:
    wrong = {**SET, "spec": {**SET["spec"], "replicas": -1, "startupPolicy": "x"}}
    response = asked(paths.VALIDATE_LEADERWORKERSET, review(LWS, wrong))
    status = response["status"]
    assert response["allowed"] is False
    assert (status["code"], status["reason"], status["status"]) == (422, "Invalid", "Failure")
    assert status["message"].startswith(
        'LeaderWorkerSet.leaderworkerset.x-k8s.io "serve" is invalid: spec.replicas: Invalid value'
    )
    details = status["details"]
    assert (details["name"], details["kind"]) == ("serve", "LeaderWorkerSet")
    fields = [cause["field"] for cause in details["causes"]]
    assert fields == ["spec.replicas", "spec.startupPolicy"]
    first = details["causes"][0]
    assert first["reason"] == "FieldValueInvalid"
    assert first["message"] == "Invalid value: -1: must be at least 0"


def test_what_an_update_does_not_bring_in_is_a_warning() -> None:
    wrong = {**SET, "spec": {**SET["spec"], "replicas": -1}}
    response = asked(paths.VALIDATE_LEADERWORKERSET, review(LWS, wrong, wrong))
    assert response["allowed"] is True
    assert response["warnings"] == ["spec.replicas: Invalid value: -1: must be at least 0"]


def test_a_disaggregated_set_is_judged() -> None:
    response = asked(paths.VALIDATE_DISAGGREGATEDSET, review(DS, {"metadata": {"name": "pd"}}))
    assert response["status"]["details"]["causes"][0]["field"] == "spec.roles"


def test_a_pod_is_patched_with_its_group_and_no_more() -> None:
    patch = patch_of(asked(paths.MUTATE_POD, review(POD, LEADER)))
    assert [(operation["op"], operation["path"]) for operation in patch] == [
        ("add", "/metadata/labels/leaderworkerset.sigs.k8s.io~1group-index"),
        ("add", "/metadata/labels/leaderworkerset.sigs.k8s.io~1group-key"),
        ("add", "/spec/containers/0/env/0"),
        ("add", "/spec/containers/0/env/1"),
        ("add", "/spec/containers/0/env/2"),
    ]
    mutated: Any = apply(patch, LEADER)
    variable = mutated["spec"]["containers"][0]["env"][0]
    assert variable["value"] == "serve-0.serve.default"


def test_a_pod_that_cannot_be_a_member_is_refused() -> None:
    pod = {**LEADER, "metadata": {**LEADER["metadata"], "annotations": {}}}
    response = asked(paths.MUTATE_POD, review(POD, pod))
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert "size" in response["status"]["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (paths.MUTATE_POD, without_label(POD)),
        (paths.MUTATE_POD, review(POD, LEADER, LEADER)),
        (paths.MUTATE_POD, review(POD, LEADER, subResource="eviction")),
        (paths.VALIDATE_POD, review(POD, LEADER)),
        (paths.VALIDATE_POD, without_label(POD)),
        (paths.VALIDATE_LEADERWORKERSET, review(LWS, None, SET, operation="DELETE")),
        (paths.MUTATE_LEADERWORKERSET, review(LWS, None, SET, operation="DELETE")),
        (paths.VALIDATE_LEADERWORKERSET, review(LWS, {"spec": 5}, subResource="status")),
    ],
    ids=[
        "no pod of ours",
        "a pod that exists",
        "a part of a pod",
        "validation of a pod",
        "validation of another pod",
        "validation of a deletion",
        "mutation of a deletion",
        "validation of a status",
    ],
)
def test_what_is_not_ours_to_judge_passes_unchanged(path: str, body: bytes) -> None:
    assert asked(path, body) == {"uid": "u-1", "allowed": True}


def test_the_query_that_the_api_server_appends_is_no_part_of_the_path() -> None:
    assert handle(f"{paths.VALIDATE_POD}?timeout=10s", review(POD, LEADER))[0] == 200


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "AdmissionReview"),
        (b"{}", "AdmissionReview"),
        (review(POD, LEADER).replace(b"io/v1", b"io/v1beta1"), "v1beta1"),
        (review(POD, LEADER).replace(b'"AdmissionReview"', b'"Review"'), "Review"),
        (review(POD, LEADER).replace(b'"u-1"', b"1"), "uid"),
        (review(POD, LEADER, uid=""), "uid"),
        (review(POD, "text"), "request.object"),
        (review(POD, None), "request.object"),
        (review(POD, LEADER, [1]), "request.oldObject"),
        (review(LWS, SET), "this path is for"),
    ],
)
def test_a_body_that_is_no_review_is_refused_with_the_reason(body: bytes, part: str) -> None:
    code, answer = handle(paths.MUTATE_POD, body)
    status = orjson.loads(answer)
    assert (code, status["code"], status["kind"]) == (400, 400, "Status")
    assert part in status["message"]


@pytest.mark.parametrize("path", ["", "/", "/mutate-v1-pod", "/mutate--v1-pod/"])
def test_other_paths_are_not_served(path: str) -> None:
    code, answer = handle(path, review(POD, LEADER))
    assert (code, orjson.loads(answer)["reason"]) == (404, "NotFound")


def test_a_mistake_of_ours_is_logged_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(dispatch, "mutate_pod", broken)
    with capture_logs() as logs:
        code, answer = handle(paths.MUTATE_POD, review(POD, LEADER))
    assert code == 500
    assert b"secret" not in answer
    assert (logs[0]["event"], logs[0]["path"]) == ("webhook failed", paths.MUTATE_POD)


def test_a_scheduler_marks_pods() -> None:
    class Marker:
        def mark(self, pod: dict[str, Any], *, pod_group_name: str) -> dict[str, Any]:
            labels = {**pod["metadata"]["labels"], "gang": pod_group_name}
            return {**pod, "metadata": {**pod["metadata"], "labels": labels}}

    labels = {**LEADER["metadata"]["labels"], P + "template-revision-hash": "abc"}
    pod = {**LEADER, "metadata": {**LEADER["metadata"], "labels": labels}}
    _, answer = handle(paths.MUTATE_POD, review(POD, pod), marker=Marker())
    patch = patch_of(orjson.loads(answer)["response"])
    assert {"op": "add", "path": "/metadata/labels/gang", "value": "serve-0-abc"} in patch
