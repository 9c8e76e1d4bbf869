"""Laws of patches, of apply and of the sets of fields that it lives on."""

from __future__ import annotations

import contextlib
import copy
from random import Random
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lws.sandbox.patch import (
    ApplyConflict,
    PatchError,
    applied,
    fields,
    json_patch,
    merge_patch,
    strategic_merge_patch,
    updated,
)
from lws.sandbox.patch.desk import type_of
from lws.sandbox.patch.entries import read
from lws.sandbox.patch.ownership import changes, owned
from lws.sandbox.patch.values import same
from lws.sandbox.schema import Schema
from lws.sandbox.schema.builtin import schema_of
from lws.sandbox.schema.structural import read_crd_schema
from tests.conformance.patching import bodies
from tests.conformance.patching.changes import operations, strategic_change

Json = dict[str, Any]
VERSION = f"{bodies.WIDGET_GROUP}/v1"
SCHEMA = read_crd_schema(bodies.WIDGET_CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
PARTS = {name: make for name, make in bodies.WIDGET_SPEC.items() if name != "number"}
GRANULAR = tuple(name for name in PARTS if name not in ("anything", "free"))
"""Where an applied scalar may take the place of an object, others lose what is below unasked."""
SEEDS = st.integers(min_value=0, max_value=10_000).map(Random)
MANAGERS = st.sampled_from(["ann", "bob", "cid"])
UNOWNED = fields.of_paths((("apiVersion",), ("kind",), ("metadata", "name")))
LONG = settings(deadline=None, max_examples=150)


@st.composite
def specs(draw: st.DrawFn, *, names: tuple[str, ...] = tuple(PARTS)) -> Json:
    """The spec of a widget, without nulls."""
    rng = draw(SEEDS)
    made = bodies.some(rng, {name: PARTS[name] for name in names}, 0.5)
    clean: Json = without_nulls(made)
    return clean


def without_nulls(value: Any) -> Any:
    """Without members that are null."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def solid(value: Any) -> Any:
    """Without empty objects and lists: nobody owns them, or not as such."""
    if isinstance(value, dict):
        members = {name: solid(each) for name, each in value.items()}
        return {name: each for name, each in members.items() if each not in ({}, [])}
    if isinstance(value, list):
        return [each for each in map(solid, value) if each not in ({}, [])]
    return value


def widget(spec: Json | None) -> Json:
    obj: Json = {"apiVersion": VERSION, "kind": "Widget", "metadata": {"name": "x"}}
    return obj if spec is None else {**obj, "spec": spec}


def apply(live: Json | None, spec: Json | None, manager: str, *, force: bool = True) -> Json:
    before = copy.deepcopy((live, spec))
    result = applied(
        live=live,
        applied=widget(spec),
        schema=SCHEMA,
        manager=manager,
        api_version=VERSION,
        now=0,
        force=force,
    )
    assert before == (live, spec), "inputs were changed"
    result["metadata"]["uid"] = "u"
    return result


def update(old: Json | None, spec: Json, manager: str) -> Json:
    new = widget(spec) if old is None else {**old, "spec": spec}
    result = updated(old=old, new=new, schema=SCHEMA, manager=manager, api_version=VERSION, now=0)
    result["metadata"]["uid"] = "u"
    return result


def owned_by(obj: Json, manager: str, operation: str) -> fields.Fields:
    entries = read(obj["metadata"].get("managedFields"))
    found: fields.Fields = {}
    for each, entry in entries.items():
        if (each.name, each.operation) == (manager, operation):
            found = entry.fields
    return found


def set_of(obj: Json) -> fields.Fields:
    return fields.difference(owned(obj, type_of(SCHEMA)), UNOWNED)


@LONG
@given(before=specs(), spec=specs(), manager=MANAGERS)
def test_apply_is_idempotent(before: Json, spec: Json, manager: str) -> None:
    live = apply(update(None, before, "ann"), spec, manager)
    assert apply(live, spec, manager, force=False) == live


@LONG
@given(before=specs(), spec=specs(), manager=MANAGERS)
def test_an_applier_owns_just_what_it_applies(before: Json, spec: Json, manager: str) -> None:
    live = apply(apply(update(None, before, "ann"), before, manager), spec, manager)
    assert owned_by(live, manager, "Apply") == set_of(widget(spec))


@LONG
@given(before=specs(), spec=specs())
def test_what_is_applied_is_there(before: Json, spec: Json) -> None:
    spec = solid(spec)
    assume(spec)
    live = apply(update(None, before, "ann"), spec, "bob")
    wanted = set_of(widget(spec))
    assert fields.difference(wanted, set_of(live)) == {}
    found = changes(widget(spec), {**live, "metadata": {"name": "x"}}, type_of(SCHEMA))
    assert fields.intersection(fields.union(found.modified, found.removed), wanted) == {}


@LONG
@given(
    one=specs(names=("text", "map", "list", "set", "items")),
    other=specs(names=("fraction", "wholeMap", "numberSet", "deepMap", "free", "nested")),
    before=specs(names=("flag", "port")),
)
def test_applies_of_disjoint_fields_commute(one: Json, other: Json, before: Json) -> None:
    live = apply(None, before, "cid")
    left = apply(apply(live, one, "ann", force=False), other, "bob", force=False)
    right = apply(apply(live, other, "bob", force=False), one, "ann", force=False)
    assert same(left, right)


@LONG
@given(before=specs(), spec=specs())
def test_what_only_one_applied_goes_when_it_applies_nothing(before: Json, spec: Json) -> None:
    before, spec = solid(before), solid(spec)
    live = apply(None, before, "ann")
    after = apply(apply(live, {**spec, **before}, "bob"), None, "bob")
    assert same(solid(without_nulls(after.get("spec") or {})), solid(live["spec"]))


@LONG
@given(before=specs(names=GRANULAR), spec=specs(names=GRANULAR))
def test_without_force_apply_conflicts_or_takes_nothing(before: Json, spec: Json) -> None:
    live = apply(None, before, "ann")
    was = owned_by(live, "ann", "Apply")
    try:
        after = apply(live, spec, "bob", force=False)
    except ApplyConflict as conflict:
        forced = apply(live, spec, "bob")
        lost = fields.difference(was, owned_by(forced, "ann", "Apply"))
        told = {each.path for each in conflict.conflicts}
        assert told
        assert told <= {fields.path_words(path) for path in fields.paths(lost)}
    else:
        assert owned_by(after, "ann", "Apply") == was


@LONG
@given(before=specs(), after=specs(), manager=MANAGERS)
def test_who_updates_owns_what_changed_and_nobody_what_is_gone(
    before: Json, after: Json, manager: str
) -> None:
    live = update(update(None, before, "zoe"), after, manager)
    found = changes(widget(before), widget(after), type_of(SCHEMA))
    mine, zoes = owned_by(live, manager, "Update"), owned_by(live, "zoe", "Update")
    assert fields.difference(found.taken, UNOWNED) == mine
    assert fields.intersection(zoes, found.taken) == {}
    for each in (mine, zoes):
        assert fields.intersection(each, found.removed) == {}
    kept = fields.difference(set_of(widget(before)), fields.union(found.taken, found.removed))
    assert fields.difference(kept, zoes) == {}


@LONG
@given(spec=specs(), manager=MANAGERS)
def test_an_update_that_changes_nothing_leaves_no_trace(spec: Json, manager: str) -> None:
    live = update(None, spec, "ann")
    assert update(live, spec, manager) == live


@LONG
@given(one=specs(names=GRANULAR), other=specs(names=GRANULAR))
def test_changes_are_those_of_the_sets_of_fields(one: Json, other: Json) -> None:
    of, one, other = type_of(SCHEMA), solid(one), solid(other)
    assume(one and other)
    found = changes(widget(one), widget(other), of)
    old, new = owned(widget(one), of), owned(widget(other), of)
    assert fields.difference(new, fields.union(old, found.added)) == {}
    assert fields.difference(fields.difference(old, new), found.removed) == {}
    assert fields.intersection(found.added, found.modified) == {}
    assert fields.intersection(found.removed, found.added) == {}
    assert (not any((found.added, found.modified, found.removed))) == same(one, other)


@LONG
@given(one=specs(), other=specs())
def test_sets_of_fields_are_sets(one: Json, other: Json) -> None:
    left, right = set_of(widget(one)), set_of(widget(other))
    both, rest = fields.intersection(left, right), fields.difference(left, right)
    assert fields.union(left, right) == fields.union(right, left)
    assert both == fields.intersection(right, left)
    assert fields.union(both, rest) == left
    assert fields.intersection(rest, right) == {}
    assert fields.from_json(fields.to_json(left)) == left
    listed = list(fields.paths(left))
    assert len(listed) == len(set(listed))
    assert all(fields.has(left, path) for path in listed)


@LONG
@given(one=specs(), other=specs())
def test_a_merge_patch_is_idempotent_and_changes_no_input(one: Json, other: Json) -> None:
    before = copy.deepcopy((one, other))
    once = merge_patch(one, other)
    assert merge_patch(once, other) == once
    assert before == (one, other)


@LONG
@given(rng=SEEDS, one=specs(), other=specs())
def test_a_json_patch_changes_no_input(rng: Random, one: Json, other: Json) -> None:
    live = {**widget(one), "metadata": {"name": "x", "labels": {"a": "b"}}}
    ops = [each for each in operations(rng, live, widget(other)) if each["op"] != "test"]
    before = copy.deepcopy((live, ops))
    for count in range(len(ops)):
        with contextlib.suppress(PatchError):
            json_patch(live, ops[: count + 1])
    assert before == (live, ops)


@LONG
@given(rng=SEEDS, with_directives=st.booleans())
def test_a_strategic_merge_patch_is_idempotent_and_changes_no_input(
    rng: Random, with_directives: bool
) -> None:
    schema = schema_of("apps", "v1", "StatefulSet")
    assert schema is not None
    live = {"metadata": {"name": "x"}, "spec": bodies.some(rng, bodies.STATEFUL_SPEC, 0.6)}
    patch: Json = {"spec": without_doubles(bodies.some(rng, bodies.STATEFUL_SPEC, 0.6))}
    if with_directives:
        patch = strategic_change(rng, patch, {"containers": "name", "env": "name"})
    before = copy.deepcopy((live, patch))
    once = outcome(live, patch, schema)
    assert before == (live, patch)
    if not with_directives:
        assert once is not None
        assert in_order(outcome(once, patch, schema)) == in_order(once)


def without_doubles(value: Any) -> Any:
    """Without lists that may have two items of one merge key."""
    doubtful = ("topologySpreadConstraints", "ports")
    if isinstance(value, dict):
        return {name: without_doubles(each) for name, each in value.items() if name not in doubtful}
    return [without_doubles(each) for each in value] if isinstance(value, list) else value


def in_order(value: Any) -> Any:
    """New items go in front of old ones, so their order is another the second time."""
    if isinstance(value, dict):
        return {name: in_order(each) for name, each in value.items()}
    return sorted(map(in_order, value), key=str) if isinstance(value, list) else value


def outcome(document: Json, patch: Json, schema: Schema) -> Json | None:
    try:
        return strategic_merge_patch(document, patch, schema)
    except PatchError:
        return None
