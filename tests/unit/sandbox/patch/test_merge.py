"""Merge patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lws.sandbox.patch import PatchError, merge_patch


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"e": None}, {"e": {"a": None, "b": 1}}, {"e": {"b": 1}}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({}, {"a": [{"b": None, "c": [None]}]}, {"a": [{"c": [None]}]}),
        ({"a": 1}, {"a": [{"b": None}]}, {"a": [{}]}),
        ({"a": {"z": 1}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
    ],
)
def test_merge_patch(document: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy((document, patch))
    assert merge_patch(document, patch) == expected
    assert before == (document, patch)


@pytest.mark.parametrize("patch", [[], [{}], "a", 1, True, None])
def test_what_is_no_object_is_refused(patch: Any) -> None:
    with pytest.raises(PatchError) as problem:
        merge_patch({}, patch)
    assert problem.value.code == 400
    assert problem.value.reason == "BadRequest"
