"""JSON patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lws.sandbox.patch import PatchError, json_patch

DOCUMENT: dict[str, Any] = {
    "a": {"b": {"c": 1}, "n": None},
    "list": ["x", "y", "z"],
    "deep": [{"k": [1, 2]}],
    "a/b": {"m~n": 8},
}


def patched(*ops: dict[str, Any]) -> Any:
    before = copy.deepcopy((DOCUMENT, ops))
    try:
        return json_patch(DOCUMENT, list(ops))
    finally:
        assert before == (DOCUMENT, ops), "inputs were changed"


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


@pytest.mark.parametrize(
    ("path", "value", "place", "expected"),
    [
        ("/a/b/d", 2, ("a", "b"), {"c": 1, "d": 2}),
        ("/a/b", 2, ("a",), {"b": 2, "n": None}),
        ("/list/-", "w", ("list",), ["x", "y", "z", "w"]),
        ("/list/3", "w", ("list",), ["x", "y", "z", "w"]),
        ("/list/0", "w", ("list",), ["w", "x", "y", "z"]),
        ("/list/-1", "w", ("list",), ["x", "y", "z", "w"]),
        ("/list/-4", "w", ("list",), ["w", "x", "y", "z"]),
        ("/list/+01", "w", ("list",), ["x", "w", "y", "z"]),
        ("/deep/0/k/1", 9, ("deep",), [{"k": [1, 9, 2]}]),
        ("/deep/-1/k/-", 9, ("deep",), [{"k": [1, 2, 9]}]),
        ("/a~1b/m~0n", 9, ("a/b",), {"m~n": 9}),
        ("ignored/a/b", 2, ("a",), {"b": 2, "n": None}),
    ],
)
def test_add(path: str, value: Any, place: tuple[str, ...], expected: Any) -> None:
    found = patched(add(path, value))
    for name in place:
        found = found[name]
    assert found == expected


def test_operations_build_on_one_another() -> None:
    result = patched(
        add("/new", {"in": []}),
        add("/new/in/-", 1),
        {"op": "copy", "from": "/new", "path": "/other"},
        add("/new/in/-", 2),
        {"op": "move", "from": "/list/0", "path": "/other/in/0"},
        {"op": "remove", "path": "/a"},
        {"op": "replace", "path": "/deep/0/k", "value": []},
        {"op": "test", "path": "/list", "value": ["y", "z"]},
    )
    assert result["new"] == {"in": [1, 2]}
    assert result["other"] == {"in": ["x", 1]}
    assert "a" not in result
    assert result["deep"] == [{"k": []}]


def test_what_is_not_there_is_null_to_a_test_and_may_be_replaced() -> None:
    result = patched(
        {"op": "test", "path": "/none", "value": None},
        {"op": "test", "path": "/none"},
        {"op": "test", "path": "/a/n", "value": None},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "add", "path": "/null"},
    )
    assert result["none"] == 1
    assert result["null"] is None


@pytest.mark.parametrize("value", [1.0, True, "1", None, [1]])
def test_a_test_takes_no_other_value_for_one(value: Any) -> None:
    with pytest.raises(PatchError) as problem:
        patched({"op": "test", "path": "/a/b/c", "value": value})
    assert problem.value.code == 422
    assert problem.value.detail == "testing value /a/b/c failed: test failed"


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "other", "path": "/a"},
        {"op": "add", "path": ""},
        {"op": "add", "path": "/none/inside", "value": 1},
        {"op": "add", "path": "/a/b/c/d", "value": 1},
        {"op": "add", "path": "/list/4", "value": 1},
        {"op": "add", "path": "/list/-5", "value": 1},
        {"op": "add", "path": "/list/one", "value": 1},
        {"op": "add", "path": "/list/1_0", "value": 1},
        {"op": "remove", "path": "/none"},
        {"op": "remove", "path": "/list/3"},
        {"op": "remove", "path": "/list/-"},
        {"op": "replace", "path": "/list/3", "value": 1},
        {"op": "replace", "path": "", "value": 1},
        {"op": "move", "from": "/none", "path": "/a"},
        {"op": "copy", "from": "/list/3", "path": "/a"},
        {"op": "copy", "path": "/a"},
    ],
)
def test_what_cannot_be_done_is_refused_with_one_sentence(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError) as problem:
        patched(operation)
    assert problem.value.code == 422
    assert problem.value.reason == "Invalid"
    assert problem.value.message == "the server rejected our request due to an error in our request"
    assert problem.value.detail != problem.value.message


@pytest.mark.parametrize(
    ("ops", "code", "words"),
    [
        ({}, 400, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("a", 400, "cannot unmarshal string into"),
        ([1], 400, "cannot unmarshal number into"),
        ([{"op": "add", "path": 1}], 400, "Go struct field jsonPatchOp.path of type string"),
        ([{}] * 10_001, 413, "maximum operations in a JSON patch is 10000, got 10001"),
    ],
)
def test_what_is_no_patch_is_told_so(ops: Any, code: int, words: str) -> None:
    with pytest.raises(PatchError) as problem:
        json_patch(DOCUMENT, ops)
    assert problem.value.code == code
    assert words in problem.value.message


def test_copies_may_make_three_mebibytes() -> None:
    large = {"text": "x" * 1024 * 1024}
    copies = [{"op": "copy", "from": "/text", "path": f"/{index}"} for index in range(3)]
    assert len(json_patch(large, copies[:2])) == 3
    with pytest.raises(PatchError):
        json_patch(large, copies)
