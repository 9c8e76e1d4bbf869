"""A custom kind with all that a structural schema can say, objects of it, and bad schemas."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.schema.base import Case, Json

API_VERSION = "tests.example.com/v1"
_RULES = "x-kubernetes-validations"


def _spec_schema() -> Json:
    word = {"type": "string"}
    item = {
        "type": "object",
        "properties": {"name": word, "port": {"type": "integer"}, "mode": {**word, "default": "a"}},
        "required": ["name"],
    }
    return {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10},
            "ratio": {"type": "number", "multipleOf": 0.5, "exclusiveMaximum": True, "maximum": 3},
            "word": {**word, "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
            "color": {**word, "enum": ["red", "green"], "default": "red"},
            "level": {"type": "integer", "enum": [1, 2]},
            "flag": {"type": "boolean", "default": False},
            "time": {**word, "format": "date-time"},
            "address": {**word, "format": "ipv4"},
            "length": {**word, "format": "duration"},
            "either": {"x-kubernetes-int-or-string": True},
            "bounded": {
                "x-kubernetes-int-or-string": True,
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": "^[0-9]+%?$",
            },
            "maybe": {**word, "nullable": True},
            "maybeNot": {**word, "default": "x"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "anything": {"x-kubernetes-preserve-unknown-fields": True},
            "halfFree": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"known": {"type": "object", "properties": {"a": word}}},
            },
            "labels": {"type": "object", "additionalProperties": word, "maxProperties": 2},
            "items": {
                "type": "array",
                "items": item,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "maxItems": 3,
            },
            "tags": {"type": "array", "items": word, "x-kubernetes-list-type": "set"},
            "plain": {"type": "array", "items": item, "minItems": 1},
            "inner": {
                "type": "object",
                "default": {},
                "properties": {"depth": {"type": "integer", "default": 7}},
            },
            "object": {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
            **_combined(word),
            "old": {
                "type": "integer",
                _RULES: [{"rule": "self >= oldSelf", "message": "may not shrink"}],
            },
            "rules": _rules_schema(),
        },
    }


def _combined(word: Json) -> Json:
    return {
        "one": {
            "type": "object",
            "properties": {"a": word, "b": word},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "not": {
            "type": "object",
            "properties": {"a": word},
            "not": {"required": ["a"]},
        },
        "all": {
            "type": "integer",
            "allOf": [{"minimum": 2}, {"maximum": 4}],
            "anyOf": [{"minimum": 3}, {"multipleOf": 2}],
        },
    }


def _rules_schema() -> Json:
    return {
        "type": "object",
        "properties": {
            "low": {"type": "integer"},
            "high": {"type": "integer"},
            "name": {"type": "string", "maxLength": 20},
            "fixed": {"type": "string", "maxLength": 20, _RULES: [{"rule": "self == oldSelf"}]},
            "names": {
                "type": "array",
                "maxItems": 10,
                "items": {"type": "string", "maxLength": 20},
            },
            "memory": {"type": "string", "maxLength": 20},
            "even": {
                "type": "integer",
                _RULES: [{"rule": "self % 2 == 0", "reason": "FieldValueForbidden"}],
            },
            "namespace": {"type": "string", _RULES: [{"rule": "self != 'kube-system'"}]},
            "size": {
                "x-kubernetes-int-or-string": True,
                _RULES: [
                    {
                        "rule": "type(self) == int ? self > 0 : self.endsWith('%')",
                        "message": "no size",
                    }
                ],
            },
        },
        _RULES: [
            {
                "rule": "!has(self.low) || !has(self.high) || self.low <= self.high",
                "messageExpression": "self.low > 5 ? 'far too low' : 'low is above high'",
                "fieldPath": ".low",
            },
            {"rule": "!has(self.name) || self.name.matches('^[a-z]*$')", "message": "lower case"},
            {"rule": "!has(self.names) || self.names.all(one, one.startsWith('x'))"},
            {"rule": "!has(self.names) || self.names.isSorted()", "message": "sort them"},
            {
                "rule": "!has(self.memory) || quantity(self.memory).isLessThan(quantity('1Gi'))",
                "message": "too much",
            },
            {"rule": "!has(self.__namespace__) || size(self.__namespace__) < 12"},
        ],
    }


def definition() -> Json:
    """The definition of the kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.tests.example.com"},
        "spec": {
            "group": "tests.example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [_version(_root(_spec_schema()))],
        },
    }


def _version(schema: Json) -> Json:
    return {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}


def _root(spec: Json) -> Json:
    return {"type": "object", "properties": {"spec": spec}}


def thing(spec: Any) -> Json:
    """One object."""
    return {"apiVersion": API_VERSION, "kind": "Thing", "metadata": {"name": "one"}, "spec": spec}


def cases() -> Iterator[Case]:
    """Objects to create."""
    for field, values in _VALUES.items():
        for value in values:
            yield Case(f"{field}: {str(value)[:60]}", thing({field: value}))
    yield Case("two faults", thing({"count": 0, "word": "A"}))
    yield Case("spec as a word", thing("x"))
    yield Case("unknown fields", {**thing({"x": 1}), "other": {"a": 1}})
    yield Case("no spec", {"apiVersion": API_VERSION, "kind": "Thing", "metadata": {"name": "one"}})
    odd = thing({})
    odd["metadata"] = {"name": "one", "labels": {"a": "b"}, "odd": 1}
    yield Case("unknown metadata", odd)


_VALUES: dict[str, tuple[Any, ...]] = {
    "count": (1, 0, 11, "1", 1.5, 2.0, 1 << 40, None, True, []),
    "ratio": (0.5, 1, 0.7, 3, "x"),
    "word": ("ab", "a", "abcdef", "AB", "", 5),
    "color": ("red", "blue", 1, None),
    "level": (1, 3, "1"),
    "flag": (True, "true", None, 0),
    "time": ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+01:00", "yesterday", 5),
    "address": ("1.2.3.4", "1.2.3", "::1"),
    "length": ("5s", "1h30m", "5 parsecs"),
    "either": (1, "1", 1.5, True, None, {}),
    "bounded": (1, "10%", "x", True),
    "maybe": ("a", None, 1),
    "maybeNot": ("a", None),
    "free": ({}, {"a": {"b": [1]}}, "x"),
    "anything": (1, "a", [1, {"b": None}], None),
    "halfFree": ({"known": {"a": "b", "c": 1}, "other": {"d": 1}},),
    "labels": ({"a": "b"}, {"a": 1}, {"a": "b", "c": "d", "e": "f"}, {"a": None}),
    "items": (
        [{"name": "a"}],
        [{"name": "a", "x": 1}, {"name": "b"}],
        [{"name": "a"}, {"name": "a"}],
        [{"port": 1}],
        [{"name": "a", "port": "x"}],
        [{"name": str(index)} for index in range(4)],
        [None],
        ["a"],
        {},
    ),
    "tags": (["a", "b"], ["a", "a", "a"], [1], [None]),
    "plain": ([{"name": "a"}, {"name": "a"}], [], [{}]),
    "inner": ({}, {"depth": 3}, {"depth": None}, None, {"x": 1}),
    "object": (
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": 1}},
        {},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b", "labels": {"a b": "c"}}},
        {"apiVersion": 1, "kind": "Pod"},
        {"apiVersion": "a/b/c", "kind": "Pod 1"},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}},
    ),
    "one": ({"a": "x"}, {"a": "x", "b": "y"}, {}),
    "not": ({}, {"a": "x"}),
    "all": (3, 4, 1, 5, 2),
    "old": (5,),
    "rules": (
        {"low": 1, "high": 2},
        {"low": 3, "high": 2},
        {"name": "abc"},
        {"name": "ABC"},
        {"names": ["xa", "xb"]},
        {"names": ["xb", "xa", "b"]},
        {"memory": "1Mi"},
        {"memory": "2Gi"},
        {"memory": "much"},
        {"even": 2},
        {"even": 3},
        {"namespace": "default"},
        {"namespace": "kube-system"},
        {"namespace": "kube-system-and-more"},
        {"size": 1},
        {"size": 0},
        {"size": "5%"},
        {"size": "5"},
        {"fixed": "a"},
        {"low": "x", "even": 3},
    ),
}


def changes() -> Iterator[tuple[str, Json, Json]]:
    """Name, spec before, spec after."""
    yield "nothing", {"count": 1}, {"count": 1}
    yield "a bad value", {"count": 1}, {"count": 0}
    yield "shrinking", {"old": 5}, {"old": 4}
    yield "growing", {"old": 5}, {"old": 6}
    yield "fixed", {"rules": {"fixed": "a"}}, {"rules": {"fixed": "b"}}
    yield "fixed and gone", {"rules": {"fixed": "a"}}, {"rules": {}}
    yield "fixed and new", {"rules": {}}, {"rules": {"fixed": "b"}}
    yield "broken rule", {"rules": {"low": 1, "high": 2}}, {"rules": {"low": 3, "high": 2}}
    yield "twice", {"tags": ["a"]}, {"tags": ["a", "a"]}


def bad_schemas() -> Iterator[tuple[str, Json]]:
    """Schemas that the server refuses; each is that of the kind's root."""
    word = {"type": "string"}
    specs: dict[str, Json] = {
        "no type": {},
        "type unknown": {"type": "word"},
        "list without items": {"type": "array"},
        "nested type": {"type": "object", "properties": {"a": word}, "anyOf": [{"type": "object"}]},
        "nested description": {"type": "object", "allOf": [{"description": "x"}]},
        "nested default": {"type": "integer", "oneOf": [{"default": 1}]},
        "fields and map": {
            "type": "object",
            "properties": {"a": word},
            "additionalProperties": word,
        },
        "unique items": {"type": "array", "items": word, "uniqueItems": True},
        "map list without keys": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": word}},
            "x-kubernetes-list-type": "map",
        },
        "key that is no field": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": word}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["b"],
        },
        "key that may lack": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": word}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a"],
        },
        "set of an object": {"type": "object", "x-kubernetes-list-type": "set"},
        "bad default": {"type": "integer", "default": "x"},
        "bad pattern": {"type": "string", "pattern": "("},
        "default with unknown fields": {
            "type": "object",
            "properties": {"a": word},
            "default": {"b": 1},
        },
        "either and free": {
            "x-kubernetes-int-or-string": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "whole object of a word": {"type": "string", "x-kubernetes-embedded-resource": True},
        "whole object without fields": {"type": "object", "x-kubernetes-embedded-resource": True},
        "empty rule": {"type": "object", _RULES: [{"rule": " "}]},
    }
    for name, spec in specs.items():
        yield name, _root(spec)
    yield "root without type", {"properties": {"spec": word}}
    yield "root of a list", {"type": "array", "items": word}
    yield (
        "metadata told",
        {
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}
            },
        },
    )
