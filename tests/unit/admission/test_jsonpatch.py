"""JSON Patch: as small as the change, and it leads where it says."""

from typing import Any

import pytest

from lws.admission.jsonpatch import Patch, apply, diff, is_same


def op(kind: str, path: str, *value: object) -> dict[str, Any]:
    return {"op": kind, "path": path, **({"value": value[0]} if value else {})}


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [op("replace", "/a", 2)]),
        ({"a": 1}, {}, [op("remove", "/a")]),
        ({}, {"a": {"b": 1}}, [op("add", "/a", {"b": 1})]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [op("remove", "/a/c")]),
        ({"a": 1}, {"a": None}, [op("replace", "/a", None)]),
        ({"a": 1}, {"a": True}, [op("replace", "/a", True)]),
        ({"a": 1}, {"a": 1.0}, [op("replace", "/a", 1.0)]),
        ({"a": []}, {"a": {}}, [op("replace", "/a", {})]),
        ({"a/b": 1, "c~d": 1}, {"a/b": 2, "c~d": 2}, None),
        ([1], 2, [op("replace", "", 2)]),
        ([1, 2, 3], [0, 1, 2, 3], [op("add", "/0", 0)]),
        ([1, 2, 3], [1, 2, 3, 4], [op("add", "/3", 4)]),
        ([1, 2, 3], [1, 8, 9, 2, 3], [op("add", "/1", 8), op("add", "/2", 9)]),
        ([1, 2, 3], [1, 3], [op("remove", "/1")]),
        ([1, 2, 3], [3], [op("remove", "/1"), op("remove", "/0")]),
        ([1, {"a": 1}, 3], [1, {"a": 2}, 3], [op("replace", "/1/a", 2)]),
        ([1, 1], [1, 1, 1], [op("add", "/2", 1)]),
    ],
)
def test_a_patch_is_the_change(old: object, new: object, patch: Patch | None) -> None:
    made = diff(old, new)
    if patch is not None:
        assert made == patch
    assert is_same(apply(made, old), new)


def test_keys_are_escaped_as_pointers() -> None:
    assert diff({}, {"a/b~c": 1}) == [op("add", "/a~1b~0c", 1)]


def test_variables_put_before_a_users_own_leave_those_alone() -> None:
    own = [{"name": f"V{i}", "value": "x" * 100} for i in range(50)]
    ours = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    patch = diff({"env": own}, {"env": [*ours, *own]})
    assert patch == [op("add", "/env/0", ours[0]), op("add", "/env/1", ours[1])]


def test_shared_parts_are_not_looked_into() -> None:
    class Untouchable(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None

    shared = Untouchable()
    assert diff({"a": shared, "b": 1}, {"a": shared, "b": 2}) == [op("replace", "/b", 2)]


def test_a_document_is_not_changed_by_a_patch() -> None:
    document = {"a": [{"b": 1}]}
    patch = [op("replace", "/a/0/b", 2), op("add", "/a/-", 3), op("remove", "/a/0")]
    assert apply(patch, document) == {"a": [3]}
    assert document == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    "operation",
    [
        op("move", "/a"),
        op("add", "a", 1),
        op("remove", "/x"),
        op("replace", "/x", 1),
        op("add", "/x/y", 1),
        op("add", "/a/2", 1),
        op("replace", "/a/-", 1),
        op("remove", "/a/1"),
        op("remove", "/a/00"),
        op("remove", "/a/0/0/0"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error(operation: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"operation|pointer|field|item|scalar"):
        apply([operation], {"a": [1]})
