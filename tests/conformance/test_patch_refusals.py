"""Patches that do not fit: code, reason and message are the server's."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from harness.kube import ApiError, Kube
from lws.sandbox.patch import PatchError
from tests.conformance.patching import bodies
from tests.conformance.patching.judge import APPLY, JSON_PATCH, MERGE, STRATEGIC, Judge
from tests.conformance.patching.openapi import PublishedSchemas

pytestmark = pytest.mark.real

Json = dict[str, Any]
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "x",
        "labels": {"a": "b", "n": "1"},
        "finalizers": ["example.com/a", "example.com/b"],
    },
    "spec": {
        "containers": [
            {"name": "m", "image": "i", "env": [{"name": "A", "value": "1"}]},
            {"name": "n", "image": "j"},
        ]
    },
}
WIDGET: Json = {
    "apiVersion": f"{bodies.WIDGET_GROUP}/v1",
    "kind": "Widget",
    "metadata": {"name": "x"},
    "spec": {
        "text": "a",
        "number": 1,
        "fraction": 0.5,
        "list": ["a", "b"],
        "items": [{"name": "a", "port": 1}],
        "free": {"a": {"b": [1, 2]}, "f": 1.0},
    },
}

JSON_PATCHES: tuple[Any, ...] = (
    {},
    "text",
    1,
    True,
    [],
    [None],
    ["text"],
    [1],
    [[]],
    [{}],
    [{"op": "nothing", "path": "/x"}],
    [{"op": 1, "path": "/x"}],
    [{"op": "add", "path": 1}],
    [{"op": "add", "path": ["a"]}],
    [{"op": "move", "from": {}, "path": "/x"}],
    [{"op": "add"}],
    [{"op": "remove"}],
    [{"op": "replace"}],
    [{"op": "test"}],
    [{"op": "move", "path": "/a"}],
    [{"op": "move", "from": "/spec/text"}],
    [{"op": "copy", "from": "/spec/text"}],
    [{"op": "add", "path": "", "value": {}}],
    [{"op": "replace", "path": "", "value": 1}],
    [{"op": "test", "path": "", "value": {}}],
    [{"op": "remove", "path": ""}],
    [{"op": "add", "path": "/spec/list/7", "value": "c"}],
    [{"op": "add", "path": "/spec/list/-4", "value": "c"}],
    [{"op": "add", "path": "/spec/list/x", "value": "c"}],
    [{"op": "add", "path": "/spec/list/", "value": "c"}],
    [{"op": "add", "path": "/spec/list/1_0", "value": "c"}],
    [{"op": "remove", "path": "/spec/list/-"}],
    [{"op": "remove", "path": "/spec/list/2"}],
    [{"op": "remove", "path": "/spec/list/-3"}],
    [{"op": "replace", "path": "/spec/list/2", "value": "c"}],
    [{"op": "test", "path": "/spec/list/2", "value": "c"}],
    [{"op": "test", "path": "/spec/list", "value": ["b", "a"]}],
    [{"op": "test", "path": "/spec/number", "value": 1.0}],
    [{"op": "test", "path": "/spec/number", "value": True}],
    [{"op": "test", "path": "/spec/number", "value": "1"}],
    [{"op": "test", "path": "/spec/text"}],
    [{"op": "add", "path": "/spec/text/inside", "value": 1}],
    [{"op": "add", "path": "/spec/none/inside", "value": 1}],
    [{"op": "remove", "path": "/spec/none"}],
    [{"op": "move", "from": "/spec/none", "path": "/spec/text"}],
    [{"op": "copy", "from": "/spec/list/9", "path": "/spec/text"}],
    [{"op": "copy", "from": "/spec/text", "path": "/spec/none/inside"}],
    [{"op": "test", "path": "/spec/text", "value": "a"}] * 10_001,
)
"""Of a widget."""

GOOD_JSON_PATCHES: tuple[list[Json], ...] = (
    [],
    [{"op": "add", "path": "/spec/list/-1", "value": "c"}],
    [{"op": "add", "path": "/spec/list/+1", "value": "c"}],
    [{"op": "add", "path": "/spec/list/00", "value": "c"}],
    [{"op": "add", "path": "/spec/list/2", "value": "c"}],
    [{"op": "remove", "path": "/spec/list/-1"}],
    [{"op": "replace", "path": "/spec/list/-2", "value": "c"}],
    [{"op": "replace", "path": "/spec/map", "value": {"a": "b"}}],
    [{"op": "add", "path": "/spec/number"}],
    [{"op": "test", "path": "/spec/none"}],
    [{"op": "test", "path": "/spec/none", "value": None}],
    [{"op": "test", "path": "/spec/free", "value": {"f": 1, "a": {"b": [1, 2]}}}],
    [{"op": "copy", "from": "/spec/none", "path": "/spec/number"}],
    [
        {"op": "copy", "from": "/spec/free/a", "path": "/spec/anything"},
        {"op": "add", "path": "/spec/free/a/b/-", "value": 3},
    ],
    [{"op": "move", "from": "/spec/list/0", "path": "/spec/list/1"}],
    [{"op": "add", "path": "anything/spec/text", "value": "c"}],
    [
        {"op": "add", "path": "/spec/map", "value": {}},
        {"op": "add", "path": "/spec/map/a~1b~0c", "value": "d"},
    ],
    [{"op": "add", "path": "/spec/free/~01", "value": 1}],
    [{"op": "add", "path": "/spec/free/", "value": 1}],
)
"""Of a widget."""

MERGE_PATCHES: tuple[Any, ...] = ([], [1], "text", 1, True)
"""Of a widget."""

STRATEGIC_PATCHES: tuple[Any, ...] = (
    [],
    "text",
    1,
    {"metadata": {"labels": {"$patch": "merge", "c": "d"}}},
    {"metadata": {"labels": {"$patch": "other"}}},
    {"metadata": {"labels": {"$patch": 1}}},
    {"metadata": {"labels": {"$patch": ["a", {"b": None}], "c": 1.5}}},
    {"metadata": {"labels": {"$retainKeys": "a"}}},
    {"metadata": {"labels": {"$retainKeys": ["a"], "b": "c"}}},
    {"metadata": {"$deleteFromPrimitiveList": ["a"]}},
    {"metadata": {"$deleteFromPrimitiveListX/finalizers": ["a"]}},
    {"metadata": {"$setElementOrder": ["a"]}},
    {"metadata": {"$setElementOrder/finalizers": "a"}},
    {"metadata": {"$setElementOrder/finalizers": {"a": 1}}},
    {"metadata": {"$setElementOrder/finalizers": None}},
    {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": "text"}},
    {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": ["b"]}},
    {"metadata": {"$setElementOrder/finalizers": ["b", "a"], "finalizers": ["a", "b"]}},
    {"metadata": {"finalizers": [1]}},
    {"metadata": {"finalizers": [["a"]]}},
    {"metadata": {"finalizers": ["a", {"b": 1}]}},
    {"spec": {"containers": [{"image": "x"}]}},
    {"spec": {"containers": [{"image": "x", "env": [{"name": "b", "value": None}]}]}},
    {"spec": {"containers": [{"$patch": "delete"}]}},
    {"spec": {"containers": [{"$patch": "merge", "name": "m"}]}},
    {"spec": {"containers": [{"$patch": "other", "name": "m"}]}},
    {"spec": {"containers": ["text"]}},
    {"spec": {"containers": [{"name": "m"}, "text"]}},
    {"spec": {"$setElementOrder/containers": [{"name": "m"}], "containers": [{"name": "n"}]}},
    {"spec": {"$setElementOrder/containers": ["m"], "containers": [{"name": "m"}]}},
    {"spec": {"$setElementOrder/containers": [{"image": "m"}], "containers": [{"name": "m"}]}},
    {"spec": {"$setElementOrder/containers": [{"name": "m"}], "containers": [{"image": "m"}]}},
)
"""Of a pod."""

GOOD_STRATEGIC_PATCHES: tuple[Json, ...] = (
    {},
    {"metadata": {"labels": {"$patch": "replace", "c": "d"}}},
    {"metadata": {"labels": {"$patch": "delete"}}},
    {"metadata": {"labels": {"$retainKeys": ["a"]}}},
    {"metadata": {"annotations": {"$patch": "replace", "c": "d"}}},
    {"metadata": {"annotations": {"a": None}}},
    {"metadata": {"finalizers": ["example.com/c", "example.com/a"]}},
    {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/z"]}},
    {"metadata": {"$deleteFromPrimitiveList/ownerReferences": ["example.com/a"]}},
    {"metadata": {"$setElementOrder/finalizers": ["example.com/b", "example.com/a"]}},
    {
        "metadata": {
            "$setElementOrder/finalizers": ["example.com/c", "example.com/b"],
            "finalizers": ["example.com/c"],
            "$deleteFromPrimitiveList/finalizers": ["example.com/a"],
        }
    },
    {"metadata": {"$setElementOrder/finalizers": [], "finalizers": ["example.com/c"]}},
    {
        "metadata": {
            "$setElementOrder/ownerReferences": [],
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": each, "uid": each}
                for each in ("q", "r", "s")
            ],
        }
    },
    {"spec": {"containers": [{"name": "n", "image": "k"}]}},
    {"spec": {"containers": [{"name": "n", "image": "k"}, {"name": "m", "image": "l"}]}},
    {"spec": {"$setElementOrder/containers": [{"name": "m"}, {"name": "n"}]}},
)
"""Of a pod."""


def metadata_of(**more: Any) -> Json:
    return {"name": "x", **more}


APPLIED: tuple[Json, ...] = (
    {"spec": {"text": 1}},
    {"spec": {"text": ["a", None, 1.5]}},
    {"spec": {"text": {"a": {"b": True}}}},
    {"spec": {"text": True}},
    {"spec": {"number": "a"}},
    {"spec": {"number": {"a": 1}}},
    {"spec": {"number": [1]}},
    {"spec": {"number": True}},
    {"spec": {"flag": "a"}},
    {"spec": {"flag": 1}},
    {"spec": {"flag": 1.5}},
    {"spec": {"flag": {"a": "b"}}},
    {"spec": {"map": "a"}},
    {"spec": {"map": ["a"]}},
    {"spec": {"map": {"a": 1}}},
    {"spec": {"list": "a"}},
    {"spec": {"list": {"a": "b"}}},
    {"spec": {"list": [1]}},
    {"spec": {"set": ["a", "a"]}},
    {"spec": {"set": ["a", "a", "a"]}},
    {"spec": {"set": [None]}},
    {"spec": {"set": [{}]}},
    {"spec": {"set": [["a"]]}},
    {"spec": {"numberSet": [2, 1, 2]}},
    {"spec": {"items": [None]}},
    {"spec": {"items": ["a"]}},
    {"spec": {"items": [{"name": "a", "port": 1}, {"name": "a", "port": 1}]}},
    {"spec": {"items": [{"name": "a", "port": 1, "kind": "K"}, {"name": "a", "port": 1}]}},
    {"spec": {"items": [{"name": "a", "port": 1, "inner": [{}]}]}},
    {"spec": {"items": [{"name": "a", "port": 1, "inner": [{"id": 'q"\\u', "n": "x"}]}]}},
    {"spec": {"unknown": 1}},
    {"spec": {"nested": {"unknown": 1}}},
    {"spec": {"deepMap": {"a": {"unknown": 1}}}},
    {"spec": "text"},
    {"metadata": metadata_of(labels={"a": 1})},
    {"metadata": metadata_of(labels="a")},
    {"metadata": metadata_of(finalizers=["a", "a"])},
    {"metadata": metadata_of(unknown=1)},
    {"metadata": metadata_of(managedFields=[])},
    {"metadata": metadata_of(managedFields=[{"manager": "a"}])},
    {"metadata": metadata_of(ownerReferences=[{"name": "a"}, {"name": "a"}])},
    {"unknown": 1},
    {"apiVersion": "patching.example.com/v2"},
    {"kind": "Gadget"},
    {"apiVersion": "v1", "kind": "Pod"},
)
"""To a widget, and (those of its kind) to one that is not there."""


GROUP = bodies.WIDGET_GROUP


@pytest.fixture
def widgets(patch_kube: Kube, quiet_namespace: str) -> Judge:
    """With one widget."""
    schemas = PublishedSchemas(patch_kube, f"{GROUP}/v1")
    resource = patch_kube.resource(f"widgets.{GROUP}")
    judge = Judge(patch_kube, resource, quiet_namespace, schemas.of_kind("Widget"))
    assert judge.create(WIDGET, manager="ann")
    return judge


@pytest.fixture
def pods(quiet_kube: Kube, quiet_namespace: str) -> Judge:
    """With one pod."""
    schemas = PublishedSchemas(quiet_kube, "v1")
    resource = quiet_kube.resource("pods")
    late = ("spec.tolerations", "spec.priority", "spec.preemptionPolicy")
    judge = Judge(quiet_kube, resource, quiet_namespace, schemas.of_kind("Pod"), late=late)
    assert judge.create(POD, manager="ann")
    return judge


def test_json_patches_are_refused_as_by_the_real_server(widgets: Judge) -> None:
    for body in JSON_PATCHES:
        widgets.patch("x", body, kind=JSON_PATCH, manager="bob")


def test_json_patches_are_done_as_by_the_real_server(widgets: Judge) -> None:
    for body in GOOD_JSON_PATCHES:
        assert widgets.patch("x", body, kind=JSON_PATCH, manager="bob"), body


def test_copies_of_more_than_three_mebibytes_are_refused(widgets: Judge) -> None:
    large = [{"op": "add", "path": "/spec/free/large", "value": "x" * 1024 * 1024}]
    for copies in (2, 3):
        more = [
            {"op": "copy", "from": "/spec/free/large", "path": f"/spec/free/{index}"}
            for index in range(copies)
        ]
        gone = [{"op": "remove", "path": f"/spec/free/{index}"} for index in range(copies)]
        last = [{"op": "remove", "path": "/spec/free/large"}]
        done = widgets.patch("x", large + more + gone + last, kind=JSON_PATCH, manager="bob")
        assert (done is not None) == (copies == 2)


def test_merge_patches_are_refused_as_by_the_real_server(widgets: Judge) -> None:
    for body in MERGE_PATCHES:
        widgets.patch("x", body, kind=MERGE, manager="bob")


def test_strategic_merge_patches_are_refused_as_by_the_real_server(pods: Judge) -> None:
    for body in STRATEGIC_PATCHES:
        pods.patch("x", body, kind=STRATEGIC, manager="bob")


def test_strategic_merge_patches_are_done_as_by_the_real_server(pods: Judge) -> None:
    for body in GOOD_STRATEGIC_PATCHES:
        pods.patch("x", copy.deepcopy(body), kind=STRATEGIC, manager="bob")


def test_applied_bodies_are_refused_as_by_the_real_server(widgets: Judge) -> None:
    for change in APPLIED:
        body = {**WIDGET, "spec": {}, **copy.deepcopy(change)}
        for name in ("x",) if "kind" in change else ("x", "y"):
            body["metadata"] = {**body["metadata"], "name": name}
            widgets.apply(body, manager="bob", force=True)


def test_a_refusal_names_the_field(widgets: Judge) -> None:
    body = {**WIDGET, "spec": {"items": [{"name": "a", "port": 1, "value": 1}]}}
    with pytest.raises(ApiError) as theirs:
        widgets.kube.request(
            "PATCH",
            widgets.resource.path(widgets.namespace, "x"),
            body,
            query={"fieldManager": "bob"},
            content_type=APPLY,
        )
    with pytest.raises(PatchError) as ours:
        widgets.ours(body, manager="bob")
    assert ours.value.message == theirs.value.message
    assert '.spec.items[kind="K",name="a",port=1].value: expected string' in ours.value.message
