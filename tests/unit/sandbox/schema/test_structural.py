"""Custom kinds: pruning, defaults, limits, rules in CEL."""

from typing import Any

import pytest

from lws.api.crds import custom_resource_definitions
from lws.sandbox.schema.errors import UnsupportedError
from lws.sandbox.schema.model import Schema
from lws.sandbox.schema.structural import (
    apply_defaults,
    prune,
    read_crd_schema,
    structural_errors,
    validate,
)

Json = dict[str, Any]


def schema(**spec: Any) -> Schema:
    return read_crd_schema({"type": "object", "properties": {"spec": spec}})


def thing(spec: Any) -> Json:
    return {"apiVersion": "a/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}


def words(spec: Json, value: Any, old: Any = None) -> list[str]:
    made = validate(thing(value), schema(**spec), None if old is None else thing(old))
    return [f"{one.field}: {one.message}" for one in made]


@pytest.mark.parametrize(
    "crd", custom_resource_definitions(), ids=lambda one: one["metadata"]["name"]
)
def test_our_own_definitions_are_structural(crd: Json) -> None:
    for version in crd["spec"]["versions"]:
        assert structural_errors(version["schema"]["openAPIV3Schema"]) == []


def test_unknown_fields_are_dropped_and_told() -> None:
    known = schema(type="object", properties={"a": {"type": "string"}})
    pruned, dropped = prune({**thing({"a": "x", "b": 1}), "other": 2}, known)
    assert pruned == thing({"a": "x"})
    assert dropped == ["other", "spec.b"]


def test_below_a_field_that_keeps_all_everything_stays() -> None:
    free = schema(type="object", **{"x-kubernetes-preserve-unknown-fields": True})
    given = thing({"a": {"b": [1, {"c": None}]}})
    assert prune(given, free) == (given, [])


def test_a_null_counts_as_absent_unless_it_may_be_null() -> None:
    known = schema(
        type="object",
        properties={
            "gone": {"type": "string"},
            "kept": {"type": "string", "nullable": True},
            "filled": {"type": "string", "default": "x"},
        },
    )
    pruned, _ = prune(thing({"gone": None, "kept": None, "filled": None}), known)
    assert apply_defaults(pruned, known)["spec"] == {"kept": None, "filled": "x"}


def test_defaults_fill_what_defaults_made() -> None:
    inner = {
        "type": "object",
        "default": {},
        "properties": {"n": {"type": "integer", "default": 7}},
    }
    known = schema(type="object", properties={"inner": inner})
    assert apply_defaults(thing({}), known)["spec"] == {"inner": {"n": 7}}


def test_a_default_is_not_shared() -> None:
    known = schema(type="object", properties={"list": {"type": "array", "default": [1]}})
    apply_defaults(thing({}), known)["spec"]["list"].append(2)
    assert apply_defaults(thing({}), known)["spec"]["list"] == [1]


def test_a_wrong_type_is_told_in_the_servers_words() -> None:
    assert words({"type": "integer"}, "x") == [
        'spec: Invalid value: "string": spec in body must be of type integer: "string"'
    ]


def test_an_update_is_not_blamed_for_what_was_there() -> None:
    spec = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5}}}
    assert words(spec, {"a": 1}, {"a": 1}) == []
    assert words(spec, {"a": 2}, {"a": 1}) != []


def rule(text: str, **more: Any) -> Json:
    fields = {"a": {"type": "integer"}, "b": {"type": "string"}}
    rules = [{"rule": text, **more}]
    return {"type": "object", "properties": fields, "x-kubernetes-validations": rules}


def test_a_rule_that_does_not_hold_says_its_message() -> None:
    assert words(rule("self.a > 1", message="too small"), {"a": 1}) == [
        "spec: Invalid value: too small"
    ]
    assert words(rule("self.a > 1"), {"a": 1}) == ["spec: Invalid value: failed rule: self.a > 1"]


def test_a_message_may_be_computed() -> None:
    said = rule("self.a > 1", messageExpression="'got ' + string(self.a)", message="x")
    assert words(said, {"a": 1}) == ["spec: Invalid value: got 1"]


def test_a_rule_on_changes_is_asked_only_if_there_was_something() -> None:
    kept = rule("self.a == oldSelf.a", message="fixed")
    assert words(kept, {"a": 1}) == []
    assert words(kept, {"a": 1}, {"a": 2}) == ["spec: Invalid value: fixed"]


def test_a_rule_on_changes_may_ask_for_more() -> None:
    kept = rule("!oldSelf.hasValue() || self.a == oldSelf.value().a", optionalOldSelf=True)
    assert words(kept, {"a": 1}) == []
    assert words(kept, {"a": 1}, {"a": 2}) != []


def test_rules_wait_until_the_types_are_right() -> None:
    (first, second) = words(rule("self.a > 1"), {"a": "x"})
    assert "must be of type integer" in first
    assert second.startswith("<nil>: Invalid value: null: some validation rules were not checked")


def test_a_rule_that_fails_says_why() -> None:
    assert words(rule("self.a / 0 == 1"), {"a": 1}) == [
        'spec: Invalid value: "object": division by zero evaluating rule: self.a / 0 == 1'
    ]


def test_what_we_cannot_evaluate_is_named() -> None:
    with pytest.raises(UnsupportedError, match="sets"):
        words(rule("sets.contains([1], [self.a])"), {"a": 1})
    with pytest.raises(UnsupportedError, match="optional syntax"):
        words(rule("self.?a.orValue(1) == 1"), {"a": 1})


@pytest.mark.parametrize(
    "expression",
    [
        "quantity('1Gi').isGreaterThan(quantity('1Mi'))",
        "quantity('1k').add(quantity('24')).compareTo(quantity('1024')) == 0",
        "isQuantity('1Gi') && !isQuantity('much')",
        "url('https://example.com:80/a?b=c').getPort() == '80'",
        "isURL('https://example.com') && !isURL('example com')",
        "ip('10.0.0.1').family() == 4 && isIP('::1') && !isIP('x')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').prefixLength() == 8",
        "'abc'.substring(1) == 'bc' && 'a,b'.split(',') == ['a', 'b']",
        "['a', 'b'].join('-') == 'a-b' && 'ABC'.lowerAscii() == 'abc'",
        "[1, 2, 3].isSorted() && [1, 2].sum() == 3 && [1, 3].max() == 3 && [4, 2].min() == 2",
        "['a', 'b'].indexOf('b') == 1 && 'hello'.find('l+') == 'll'",
        "'a1b2'.findAll('[0-9]') == ['1', '2'] && 'aaa'.replace('a', 'b', 2) == 'bba'",
        "' a '.trim() == 'a' && 'abc'.charAt(1) == 'b'",
    ],
)
def test_functions_that_kubernetes_adds(expression: str) -> None:
    assert words(rule(expression), {}) == []


def test_a_schema_that_is_not_structural_is_told_where() -> None:
    faults = structural_errors({"type": "object", "properties": {"spec": {}}}, "schema")
    assert [(one.field, one.message) for one in faults] == [
        (
            "schema.properties[spec].type",
            "Required value: must not be empty for specified object fields",
        )
    ]


def test_the_same_fault_in_two_places_is_told_in_both() -> None:
    wrong: Json = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "no"}}}
    right: Json = {"type": "object", "properties": {"a": {"type": "number"}}}
    whole = {"type": "object", "properties": {"x": wrong, "y": right, "z": wrong, "w": right}}
    for _ in range(2):
        assert [one.field for one in structural_errors(whole, "s")] == [
            "s.properties[x].properties[b].type",
            "s.properties[z].properties[b].type",
        ]


def test_schemas_that_say_the_same_are_one() -> None:
    part: Json = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
    known = schema(type="object", properties={"x": part, "y": {**part}, "z": {"type": "object"}})
    parts = known.properties["spec"].properties
    assert parts["x"] is parts["y"]
    assert parts["x"] != parts["z"]


def test_a_rule_that_is_no_cel_is_refused_with_its_definition() -> None:
    spec = rule("self.a ==")
    (fault,) = structural_errors({"type": "object", "properties": {"spec": spec}}, "schema")
    assert fault.field == "schema.properties[spec].x-kubernetes-validations[0].rule"
    assert "compilation failed" in fault.message


def test_a_pattern_of_go_that_python_does_not_know_is_named() -> None:
    spec = {"type": "string", "pattern": r"^\p{L}+$"}
    with pytest.raises(UnsupportedError, match="pattern"):
        structural_errors({"type": "object", "properties": {"spec": spec}}, "schema")


def test_a_dollar_is_the_very_end() -> None:
    spec = {"type": "string", "pattern": "^a$"}
    assert words(spec, "a") == []
    assert words(spec, "a\n") != []
    assert words({"type": "string", "pattern": r"^[$]\$[[:alpha:]$]$"}, "$$x") == []
