"""Sets of fields and their FieldsV1."""

from __future__ import annotations

from typing import Any

import pytest

from lws.sandbox.patch import fields
from lws.sandbox.patch.fields import MalformedFieldsError


def written(value: Any) -> Any:
    return fields.to_json(fields.from_json(value))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"f:spec": {}},
        {"f:spec": {"f:replicas": {}}},
        {"f:spec": {".": {}, "f:replicas": {}}},
        {"f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}},
        {"f:finalizers": {'v:"a/b"': {}, "v:1": {}}},
        {"f:list": {"i:0": {}, "i:10": {}}},
    ],
)
def test_a_set_is_written_as_it_was_read(value: Any) -> None:
    assert written(value) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        ({".": {}}, {}),
        ({"f:a": {".": {}}}, {"f:a": {}}),
        ({"z:new": {}, "f:a": {"y:other": {}}}, {"f:a": {}}),
        ({"f:l": {'k:{"b":1.0, "a":"x"}': {}}}, {"f:l": {'k:{"a":"x","b":1}': {}}}),
        ({"f:l": {'v:"<&>"': {}}}, {"f:l": {'v:"\\u003c\\u0026\\u003e"': {}}}),
        ({"f:l": {"i:07": {}}}, {"f:l": {"i:7": {}}}),
    ],
)
def test_a_set_is_written_in_one_form(value: Any, expected: Any) -> None:
    assert written(value) == expected


@pytest.mark.parametrize("value", [[], "a", {"f:a": 1}, {"nocolon": {}}, {"k:[]": {}}, {"v:{": {}}])
def test_what_is_no_set_is_refused(value: Any) -> None:
    with pytest.raises(MalformedFieldsError):
        fields.from_json(value)


def test_fields_come_before_keys_before_values_before_indexes() -> None:
    keys = ("i:0", "v:2", 'v:"1"', "v:10", 'k:{"a":1}', "f:b", "f:a")
    mixed: dict[str, Any] = {key: {} for key in keys}
    expected = ["f:a", "f:b", 'k:{"a":1}', "v:2", "v:10", 'v:"1"', "i:0"]
    assert list(written({"f:x": mixed})["f:x"]) == expected


def test_paths_are_told_as_the_server_does() -> None:
    tree = {
        "f:spec": {
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}},
            "f:set": {'v:"a\\"b"': {}},
            "f:z": {},
        }
    }
    told = [fields.path_words(path) for path in fields.paths(fields.from_json(tree))]
    assert told == [
        ".spec.z",
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.set[="a\\"b"]',
    ]


def test_a_field_and_what_is_below_it_are_taken_apart() -> None:
    both = fields.from_json({"f:a": {".": {}, "f:b": {}}})
    outer, inner = fields.from_json({"f:a": {}}), fields.from_json({"f:a": {"f:b": {}}})
    assert fields.difference(both, outer) == inner
    assert fields.difference(both, inner) == outer
    assert fields.without(both, outer) == {}
    assert fields.without(both, inner) == outer
    assert fields.union(outer, inner) == both
    assert fields.intersection(both, inner) == inner
    assert fields.has(both, ("f:a",))
    assert not fields.has(inner, ("f:a",))
    assert not fields.has(both, ())
