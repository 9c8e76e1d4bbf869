"""Laws of the sandbox's schemas, over objects made from the schemas themselves."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lws.api.crds import custom_resource_definitions
from lws.sandbox.schema.builtin import KINDS, defaulted, schema_of, validated
from lws.sandbox.schema.model import Schema
from lws.sandbox.schema.structural import apply_defaults, prune, read_crd_schema, validate
from lws.sandbox.schema.unknown import unknown_fields

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(("a", "b-c", "x1")),
    "integer": st.integers(0, 5),
    "number": st.integers(0, 5),
    "boolean": st.booleans(),
}
FORMATS: dict[str, st.SearchStrategy[Any]] = {
    "quantity": st.sampled_from(("1", "500m", "1000m", "0.5", "1Gi", "1024Mi", "1e3", 2)),
    "date-time": st.sampled_from(("2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00")),
    "byte": st.sampled_from(("YQ==", "")),
    "int-or-string": st.sampled_from((1, "25%")),
}


def values(schema: Schema, depth: int = 5) -> st.SearchStrategy[Any]:
    """Values of the schema's types; not all that they may be is valid."""
    key = id(schema), depth
    if key not in _MADE:
        _MADE[key] = schema, _values(schema, depth)
    return _MADE[key][1]


_MADE: dict[tuple[int, int], tuple[Schema, st.SearchStrategy[Any]]] = {}


def _values(schema: Schema, depth: int) -> st.SearchStrategy[Any]:
    if schema.int_or_string:
        return FORMATS["int-or-string"]
    if schema.format in FORMATS:
        return FORMATS[schema.format]
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.type in SCALARS:
        return SCALARS[schema.type]
    if schema.type == "array" and schema.items is not None:
        return st.lists(values(schema.items, depth - 1), max_size=1) if depth else st.just([])
    if schema.type == "object":
        return objects(schema, depth)
    return st.just({})


def objects(schema: Schema, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    if not depth:
        return st.just({})
    if schema.additional is not None:
        keys = st.sampled_from(("a", "b", "cpu"))
        return st.dictionaries(keys, values(schema.additional, depth - 1), max_size=2)
    names = sorted(schema.properties.keys() - {"managedFields"})
    if not names:
        return st.just({})

    @st.composite
    def made(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        must = [name for name in ("metadata", "spec", "template", "containers") if name in names]
        return {
            name: draw(values(schema.properties[name], depth - 1))
            for name in dict.fromkeys([*must, *sorted(schema.required), *chosen])
        }

    return made()


def schema(kind: tuple[str, str, str]) -> Schema:
    found = schema_of(*kind)
    assert found is not None
    return found


KIND_AND_OBJECT = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(st.just(kind), values(schema(kind)))
)


@given(KIND_AND_OBJECT)
@settings(max_examples=100, deadline=None)
def test_filling_in_twice_changes_nothing(
    case: tuple[tuple[str, str, str], dict[str, Any]],
) -> None:
    kind, obj = case
    before = copy.deepcopy(obj)
    once = defaulted(*kind, obj)
    assert obj == before
    assert defaulted(*kind, once) == once
    assert unknown_fields(once, schema(kind)) == []


@given(KIND_AND_OBJECT)
@settings(max_examples=100, deadline=None)
def test_any_object_of_the_right_types_is_judged(
    case: tuple[tuple[str, str, str], dict[str, Any]],
) -> None:
    kind, obj = case
    made = defaulted(*kind, {**obj, "metadata": obj.get("metadata") or {}})
    for fault in [*validated(*kind, made), *validated(*kind, made, made)]:
        assert fault.field
        assert fault.message


CUSTOM = [
    read_crd_schema(version["schema"]["openAPIV3Schema"])
    for crd in custom_resource_definitions()
    for version in crd["spec"]["versions"]
]
CUSTOM_AND_OBJECT = st.sampled_from(range(len(CUSTOM))).flatmap(
    lambda index: st.tuples(st.just(index), values(CUSTOM[index]))
)


@st.composite
def with_unknown(draw: st.DrawFn) -> tuple[Schema, dict[str, Any], dict[str, Any], list[str]]:
    """A schema, an object of it, the same with unknown fields, and their paths."""
    index, obj = draw(CUSTOM_AND_OBJECT)
    spoiled = copy.deepcopy(obj)
    added: list[str] = []
    _spoil(draw, spoiled, CUSTOM[index], "", added)
    return CUSTOM[index], obj, spoiled, sorted(added)


def _spoil(draw: st.DrawFn, value: Any, known: Schema, path: str, added: list[str]) -> None:
    if isinstance(value, list) and known.items is not None:
        for place, item in enumerate(value):
            _spoil(draw, item, known.items, f"{path}[{place}]", added)
    elif isinstance(value, dict) and not known.preserves_unknown and known.additional is None:
        for name, member in value.items():
            if path or name != "metadata":
                inner = f"{path}.{name}" if path else name
                _spoil(draw, member, known.properties[name], inner, added)
        is_spoiled: bool = draw(st.booleans())
        if known.properties and is_spoiled:
            value["unheardOf"] = draw(st.sampled_from((1, None, {"a": []})))
            added.append(f"{path}.unheardOf" if path else "unheardOf")


@given(with_unknown())
@settings(max_examples=30, deadline=None)
def test_pruning_removes_exactly_the_unknown(
    case: tuple[Schema, dict[str, Any], dict[str, Any], list[str]],
) -> None:
    known, obj, spoiled, added = case
    clean, none = prune(obj, known)
    assert none == []
    assert prune(spoiled, known) == (clean, added)
    assert prune(clean, known) == (clean, [])


@given(CUSTOM_AND_OBJECT)
@settings(max_examples=30, deadline=None)
def test_custom_defaults_are_filled_in_once(case: tuple[int, dict[str, Any]]) -> None:
    known = CUSTOM[case[0]]
    made = apply_defaults(prune(case[1], known)[0], known)
    assert apply_defaults(made, known) == made


@given(CUSTOM_AND_OBJECT)
@settings(max_examples=20, deadline=None)
def test_an_update_that_changes_nothing_is_never_refused_for_its_values(
    case: tuple[int, dict[str, Any]],
) -> None:
    known = CUSTOM[case[0]]
    made = apply_defaults(prune(case[1], known)[0], known)
    faults = validate(made, known, made)
    assert [one for one in faults if one.reason != "FieldValueDuplicate"] == []


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_the_schema_of_each_kind_knows_what_filling_in_writes(kind: tuple[str, str, str]) -> None:
    assert unknown_fields(defaulted(*kind, {}), schema(kind)) == []
