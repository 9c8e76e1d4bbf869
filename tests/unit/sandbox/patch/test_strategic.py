"""Strategic merge patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lws.sandbox.patch import PatchError, strategic_merge_patch
from lws.sandbox.schema import Schema
from lws.sandbox.schema.builtin import schema_of

Json = dict[str, Any]


def pod_schema() -> Schema:
    found = schema_of("", "v1", "Pod")
    assert found is not None
    return found


POD: Json = {
    "metadata": {
        "name": "x",
        "labels": {"a": "1", "b": "2"},
        "finalizers": ["f1", "f2", "f3"],
    },
    "spec": {
        "containers": [
            {"name": "m", "image": "i", "env": [{"name": "A", "value": "1"}], "args": ["a", "b"]},
            {"name": "n", "image": "j", "ports": [{"containerPort": 1}, {"containerPort": 2}]},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
        "tolerations": [{"key": "a"}],
    },
}


def patched(patch: Any) -> Json:
    before = copy.deepcopy((POD, patch))
    try:
        return strategic_merge_patch(POD, patch, pod_schema())
    finally:
        assert before == (POD, patch), "inputs were changed"


def spec(**patch: Any) -> Json:
    found: Json = patched({"spec": patch})["spec"]
    return found


def metadata(**patch: Any) -> Json:
    found: Json = patched({"metadata": patch})["metadata"]
    return found


def names(items: list[Json]) -> list[str]:
    return [each["name"] for each in items]


def test_items_are_merged_by_their_key_and_new_ones_added() -> None:
    changed = {"name": "n", "image": "k", "ports": [{"containerPort": 2, "name": "p"}]}
    containers = spec(containers=[changed, {"name": "o"}])["containers"]
    assert names(containers) == ["m", "n", "o"]
    assert containers[1]["image"] == "k"
    assert containers[1]["ports"] == [{"containerPort": 1}, {"containerPort": 2, "name": "p"}]
    assert containers[0] == POD["spec"]["containers"][0]


def test_lists_without_a_strategy_are_replaced() -> None:
    assert spec(tolerations=[{"key": "b"}])["tolerations"] == [{"key": "b"}]
    containers = spec(containers=[{"name": "m", "args": ["c"]}])["containers"]
    assert containers[0]["args"] == ["c"]


def test_null_removes_a_member() -> None:
    assert "labels" not in metadata(labels=None)
    assert metadata(labels={"a": None, "z": None})["labels"] == {"b": "2"}
    assert spec(nodeSelector={"a": None, "b": "1"})["nodeSelector"] == {"b": "1"}


def test_an_object_may_be_replaced_or_emptied() -> None:
    assert metadata(labels={"$patch": "replace", "c": "3"})["labels"] == {"c": "3"}
    assert metadata(labels={"$patch": "delete"})["labels"] == {}
    assert "annotations" not in metadata(annotations={"$patch": "replace", "c": "3"})


def test_items_may_be_deleted_or_all_be_replaced() -> None:
    containers = spec(containers=[{"$patch": "delete", "name": "m"}, {"name": "o"}])["containers"]
    assert names(containers) == ["o", "n"]
    containers = spec(containers=[{"$patch": "replace"}, {"name": "o"}])["containers"]
    assert containers == [{"name": "o"}]


def test_items_take_the_order_that_is_set() -> None:
    order = {"$setElementOrder/containers": [{"name": "o"}, {"name": "n"}]}
    containers = spec(containers=[{"name": "o"}], **order)["containers"]
    assert names(containers) == ["o", "m", "n"]
    order = {"$setElementOrder/containers": [{"name": "n"}, {"name": "m"}]}
    assert names(spec(**order)["containers"]) == ["n", "m"]


def test_an_empty_order_turns_new_items_round() -> None:
    order: Json = {"$setElementOrder/containers": []}
    containers = spec(containers=[{"name": "o"}, {"name": "p"}], **order)["containers"]
    assert names(containers) == ["m", "n", "p", "o"]


def test_scalars_are_merged_as_a_set() -> None:
    assert metadata(finalizers=["f4", "f2"])["finalizers"] == ["f4", "f1", "f2", "f3"]
    gone = {"$deleteFromPrimitiveList/finalizers": ["f1", "none"]}
    assert metadata(**gone)["finalizers"] == ["f2", "f3"]
    order = {"$setElementOrder/finalizers": ["f3", "f1"]}
    assert metadata(**order)["finalizers"] == ["f2", "f3", "f1"]


def test_deleting_from_a_list_that_is_not_there_does_nothing() -> None:
    assert "ownerReferences" not in metadata(**{"$deleteFromPrimitiveList/ownerReferences": ["a"]})


def test_keys_that_are_not_to_be_retained_go() -> None:
    volume = {"name": "v", "configMap": {"name": "c"}, "$retainKeys": ["name", "configMap"]}
    volumes = spec(volumes=[volume])["volumes"]
    assert volumes[0] == {"name": "v", "configMap": {"name": "c"}}
    assert volumes[1] == POD["spec"]["volumes"][1]


@pytest.mark.parametrize(
    ("patch", "code", "words"),
    [
        ([], 400, "json: cannot unmarshal array"),
        ({"metadata": {"labels": {"$patch": "merge"}}}, 500, "unknown patch type: merge in map"),
        ({"metadata": {"labels": {"$retainKeys": "a"}}}, 400, "invalid patch format of retainKeys"),
        (
            {"metadata": {"labels": {"$retainKeys": ["a"], "b": "1"}}},
            400,
            "invalid patch format of retainKeys",
        ),
        ({"metadata": {"$deleteFromPrimitiveList": []}}, 400, "format of primitive list"),
        ({"metadata": {"$setElementOrder": []}}, 400, "format of setElementOrder list"),
        ({"metadata": {"$setElementOrder/finalizers": "a"}}, 500, "but received a string"),
        ({"metadata": {"finalizers": [["a"]]}}, 422, "list element types|error in our request"),
        ({"metadata": {"finalizers": [1]}}, 500, "list element types are not identical: [[f1"),
        ({"spec": {"containers": [{"image": "x"}]}}, 500, "declared merge key: name"),
        ({"spec": {"containers": [{"$patch": "delete"}]}}, 500, "map[$patch:delete] does not"),
        ({"spec": {"containers": [{"$patch": "merge"}]}}, 500, "merging lists cannot yet"),
        (
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "m"}],
                    "containers": [{"name": "o"}],
                }
            },
            500,
            "The order in patch list:\n[map[name:o]]\n doesn't match $setElementOrder list",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: Any, code: int, words: str) -> None:
    with pytest.raises(PatchError) as problem:
        patched(patch)
    assert problem.value.code in (code, 500)
    assert any(each in problem.value.message for each in words.split("|"))
