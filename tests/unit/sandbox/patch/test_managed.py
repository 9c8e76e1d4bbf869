"""Who owns which field."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lws.sandbox.patch import ApplyConflict, PatchError, applied, updated
from lws.sandbox.patch.managed import with_old_times
from lws.sandbox.schema import ListType, Schema

Json = dict[str, Any]
TEXT = Schema(type="string")
COUNT = Schema(type="integer")
ITEM = Schema(
    type="object",
    properties={
        "port": COUNT,
        "protocol": Schema(type="string", default="TCP"),
        "name": TEXT,
        "inner": Schema(
            type="array",
            list_type=ListType.MAP,
            list_map_keys=("id",),
            items=Schema(type="object", properties={"id": TEXT, "value": COUNT}),
        ),
    },
)
SPEC = Schema(
    type="object",
    properties={
        "replicas": COUNT,
        "text": TEXT,
        "labels": Schema(type="object", additional=TEXT),
        "whole": Schema(type="object", additional=TEXT, is_atomic_map=True),
        "list": Schema(type="array", items=TEXT),
        "set": Schema(type="array", items=TEXT, list_type=ListType.SET),
        "ports": Schema(
            type="array",
            list_type=ListType.MAP,
            list_map_keys=("port", "protocol"),
            items=ITEM,
        ),
        "nested": Schema(type="object", properties={"a": TEXT, "b": TEXT}),
        "free": Schema(type="object", preserves_unknown=True),
    },
)
METADATA = Schema(
    type="object",
    properties={
        "name": TEXT,
        "uid": TEXT,
        "resourceVersion": TEXT,
        "labels": Schema(type="object", additional=TEXT),
        "managedFields": Schema(type="array", items=Schema()),
    },
)
STATUS = Schema(type="object", properties={"ready": COUNT})
WIDGET = Schema(
    type="object",
    properties={
        "apiVersion": TEXT,
        "kind": TEXT,
        "metadata": METADATA,
        "spec": SPEC,
        "status": STATUS,
    },
)
VERSION = "example.com/v1"


def widget(spec: Json | None = None, **metadata: Any) -> Json:
    obj: Json = {"apiVersion": VERSION, "kind": "Widget", "metadata": {"name": "x", **metadata}}
    return obj if spec is None else {**obj, "spec": spec}


def update(old: Json | None, new: Json, manager: str, now: float = 0, **more: Any) -> Json:
    before = copy.deepcopy((old, new))
    options = {"schema": WIDGET, "api_version": VERSION, "now": now, "manager": manager, **more}
    result = updated(old=old, new=new, **options)
    assert before == (old, new), "inputs were changed"
    if old is None:
        result["metadata"]["uid"] = "u"
    return result


def apply(live: Json | None, spec: Json | None, manager: str, now: float = 0, **more: Any) -> Json:
    body = widget(spec, **more.pop("metadata", {}))
    before = copy.deepcopy((live, body))
    options = {"schema": WIDGET, "api_version": VERSION, "now": now, "manager": manager, **more}
    result = applied(live=live, applied=body, **options)
    assert before == (live, body), "inputs were changed"
    if live is None:
        result["metadata"]["uid"] = "u"
    return result


def change(live: Json, manager: str, now: float = 0, **spec: Any) -> Json:
    """An update of some fields; None removes one."""
    merged = {name: value for name, value in {**live["spec"], **spec}.items() if value is not None}
    return update(live, {**live, "spec": merged}, manager, now)


def owners(obj: Json) -> dict[str, Any]:
    """What each manager owns of the spec."""
    return {
        f"{each['manager']} {each['operation']}": each["fieldsV1"].get("f:spec", {})
        for each in obj["metadata"].get("managedFields", [])
    }


# Update


def test_who_creates_an_object_owns_its_fields() -> None:
    spec = {"replicas": 1, "labels": {"a": "1"}, "whole": {"a": "1"}, "set": ["a"], "list": ["b"]}
    created = update(None, widget(spec, labels={"l": "1"}), "ann")
    assert created["metadata"]["managedFields"] == [
        {
            "manager": "ann",
            "operation": "Update",
            "apiVersion": VERSION,
            "time": "1970-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, "f:l": {}}},
                "f:spec": {
                    ".": {},
                    "f:labels": {".": {}, "f:a": {}},
                    "f:list": {},
                    "f:replicas": {},
                    "f:set": {".": {}, 'v:"a"': {}},
                    "f:whole": {},
                },
            },
        }
    ]


def test_what_is_always_there_is_not_owned_by_who_creates_a_built_in_kind() -> None:
    schema = Schema(type="object", properties={**WIDGET.properties, "spec": SPEC})
    obj = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {},
        "spec": {"text": ""},
    }
    made = updated(old=None, new=obj, schema=schema, manager="a", api_version="v1", now=0)
    assert owners(made) == {"a Update": {"f:text": {}}}


def test_a_changed_field_becomes_the_writers() -> None:
    live = update(None, widget({"replicas": 1, "text": "a"}), "ann")
    live = change(live, "bob", 5, replicas=2)
    assert owners(live) == {"ann Update": {".": {}, "f:text": {}}, "bob Update": {"f:replicas": {}}}
    assert live["metadata"]["managedFields"][1]["time"] == "1970-01-01T00:00:05Z"


def test_a_write_that_changes_nothing_leaves_no_trace() -> None:
    live = update(None, widget({"replicas": 1}), "ann")
    assert change(live, "bob", 5) == live
    assert change(live, "ann", 5) == live


def test_a_removed_field_is_nobodys() -> None:
    live = update(None, widget({"replicas": 1, "labels": {"a": "1"}}), "ann")
    live = change(live, "bob", text="b")
    live = change(live, "cid", labels=None)
    assert owners(live) == {
        "ann Update": {".": {}, "f:replicas": {}},
        "bob Update": {"f:text": {}},
    }


def test_items_are_owned_by_their_keys_defaults_filled_in() -> None:
    ports: list[Json] = [
        {"port": 80},
        {"port": 80, "protocol": "UDP", "inner": [{"id": "a", "value": 1}]},
    ]
    live = update(None, widget({"ports": ports}), "ann")
    inner: Json = {".": {}, 'k:{"id":"a"}': {".": {}, "f:id": {}, "f:value": {}}}
    udp = {".": {}, "f:inner": inner, "f:port": {}, "f:protocol": {}}
    assert owners(live)["ann Update"]["f:ports"] == {
        ".": {},
        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}},
        'k:{"port":80,"protocol":"UDP"}': udp,
    }
    ports = copy.deepcopy(ports)
    ports[1]["inner"] = [{"id": "a", "value": 2}]
    live = change(live, "bob", ports=ports)
    key = 'k:{"port":80,"protocol":"UDP"}'
    assert owners(live)["bob Update"] == {
        "f:ports": {key: {"f:inner": {'k:{"id":"a"}': {"f:value": {}}}}}
    }


def test_fields_of_the_status_are_not_owned_by_who_writes_the_rest() -> None:
    new = {**widget({"replicas": 1}), "status": {"ready": 1}}
    live = update(None, new, "ann", reset=(("status",),))
    assert "f:status" not in live["metadata"]["managedFields"][0]["fieldsV1"]
    new = {**live, "status": {"ready": 2}, "spec": {"replicas": 5}}
    live = update(live, new, "bob", subresource="status", reset=(("spec",), ("metadata",)))
    entry = live["metadata"]["managedFields"][1]
    assert entry["subresource"] == "status"
    assert entry["fieldsV1"] == {"f:status": {"f:ready": {}}}


def test_entries_are_sorted_by_operation_time_and_name() -> None:
    live = update(None, widget({"replicas": 1}), "zoe", 7)
    live = change(live, "bob", 9, text="b")
    live = change(live, "ann", 9, list=["a"])
    live = apply(live, {"labels": {"a": "1"}}, "late", 20)
    live = apply(live, {"labels": {"b": "1"}}, "early", 10)
    found = [each["manager"] for each in live["metadata"]["managedFields"]]
    assert found == ["early", "late", "zoe", "ann", "bob"]


def test_of_more_than_ten_updaters_the_oldest_become_one() -> None:
    live = update(None, widget({"labels": {}}), "m00", 0)
    for index in range(1, 13):
        labels = {**live["spec"]["labels"], f"k{index:02}": "1"}
        live = change(live, f"m{index:02}", index, labels=labels)
    entries = live["metadata"]["managedFields"]
    assert [each["manager"] for each in entries] == [
        "ancient-changes",
        *(f"m{index:02}" for index in range(4, 13)),
    ]
    assert entries[0]["time"] == "1970-01-01T00:00:03Z"
    assert set(owners(live)["ancient-changes Update"]["f:labels"]) == {
        ".",
        "f:k01",
        "f:k02",
        "f:k03",
    }


def test_managed_fields_that_cannot_be_read_are_not_believed() -> None:
    live = update(None, widget({"replicas": 1}), "ann")
    for garbage in ([{"operation": "No"}], "text", [1], None, []):
        new = {**live, "spec": {"replicas": 2}, "metadata": {"name": "x", "managedFields": garbage}}
        assert list(owners(update(live, new, "bob"))) == ["ann Update", "bob Update"]


def test_who_clears_managed_fields_ends_them() -> None:
    live = update(None, widget({"replicas": 1}), "ann")
    new = {**live, "metadata": {"name": "x", "uid": "u", "managedFields": [{}]}}
    live = update(live, new, "bob")
    assert "managedFields" not in live["metadata"]
    live = change(live, "bob", replicas=2)
    assert "managedFields" not in live["metadata"]
    live = apply(live, {"text": "a"}, "cid")
    assert owners(live) == {
        "cid Apply": {"f:text": {}},
        "before-first-apply Update": {".": {}, "f:replicas": {}},
    }


def test_an_object_that_does_not_fit_the_schema_is_nobodys() -> None:
    live = update(None, widget({"set": ["a"]}), "ann")
    assert "managedFields" not in change(live, "bob", set=[None])["metadata"]


def test_what_became_atomic_is_owned_as_a_whole() -> None:
    live = update(None, widget({"labels": {"a": "1"}, "text": "t"}), "ann")
    labels = Schema(type="object", additional=TEXT, is_atomic_map=True)
    spec = Schema(type="object", properties={**SPEC.properties, "labels": labels})
    schema = Schema(type="object", properties={**WIDGET.properties, "spec": spec})
    new = {**live, "spec": {**live["spec"], "text": "b"}}
    live = update(live, new, "bob", schema=schema)
    assert owners(live)["ann Update"] == {".": {}, "f:labels": {}}


def test_times_alone_are_no_change() -> None:
    old = update(None, widget({"replicas": 1}), "ann", 1)
    entries = [
        {**each, "time": "2026-01-01T00:00:00Z"} for each in old["metadata"]["managedFields"]
    ]
    new = {**old, "metadata": {**old["metadata"], "managedFields": entries}}
    assert with_old_times(new, old) == old
    other = {**new, "spec": {"replicas": 2}}
    assert with_old_times(other, old) == other


# Apply


def test_who_applies_a_new_object_owns_what_is_applied() -> None:
    live = apply(None, {"replicas": 1, "nested": {"a": "1"}}, "ann")
    assert live["spec"] == {"replicas": 1, "nested": {"a": "1"}}
    assert owners(live) == {"ann Apply": {"f:nested": {"f:a": {}}, "f:replicas": {}}}


def test_a_field_of_another_is_a_conflict() -> None:
    live = update(None, widget({"replicas": 1, "text": "a"}), "ann")
    with pytest.raises(ApplyConflict) as problem:
        apply(live, {"replicas": 2}, "bob")
    assert problem.value.message == (
        'Apply failed with 1 conflict: conflict with "ann" using example.com/v1: .spec.replicas'
    )
    (conflict,) = problem.value.conflicts
    assert conflict.message == 'conflict with "ann" using example.com/v1'
    assert conflict.path == ".spec.replicas"


def test_conflicts_are_told_manager_by_manager() -> None:
    live = apply(None, {"replicas": 1, "ports": [{"port": 80, "name": "a"}]}, "ann")
    live = change(live, "bob", text="b")
    with pytest.raises(ApplyConflict) as problem:
        apply(live, {"replicas": 2, "text": "c", "ports": [{"port": 80, "name": "b"}]}, "cid")
    assert problem.value.message == (
        "Apply failed with 3 conflicts: "
        'conflicts with "ann":\n'
        "- .spec.replicas\n"
        '- .spec.ports[port=80,protocol="TCP"].name\n'
        'conflicts with "bob" using example.com/v1:\n'
        "- .spec.text"
    )


def test_force_takes_the_field() -> None:
    live = update(None, widget({"replicas": 1, "text": "a"}), "ann")
    live = apply(live, {"replicas": 2}, "bob", 5, force=True)
    assert live["spec"]["replicas"] == 2
    assert owners(live) == {
        "bob Apply": {"f:replicas": {}},
        "ann Update": {".": {}, "f:text": {}},
    }


def test_the_same_value_is_shared() -> None:
    live = update(None, widget({"replicas": 1}), "ann")
    live = apply(live, {"replicas": 1}, "bob", 5)
    assert owners(live) == {
        "bob Apply": {"f:replicas": {}},
        "ann Update": {".": {}, "f:replicas": {}},
    }
    assert "time" not in live["metadata"]["managedFields"][0]


def test_what_is_no_longer_applied_goes_unless_somebody_else_owns_it() -> None:
    live = apply(None, {"replicas": 1, "text": "a", "labels": {"a": "1", "b": "2"}}, "ann")
    live = apply(live, {"text": "a", "labels": {"b": "2"}}, "bob")
    live = change(live, "cid", labels={"a": "1", "b": "2", "c": "3"})
    live = apply(live, {"replicas": 1}, "ann")
    assert live["spec"] == {"replicas": 1, "text": "a", "labels": {"b": "2", "c": "3"}}
    live = apply(live, None, "ann")
    assert live["spec"] == {"text": "a", "labels": {"b": "2", "c": "3"}}
    assert "ann Apply" not in owners(live)


def test_an_item_goes_with_who_applied_it_even_if_others_own_parts_of_it() -> None:
    one, two = {"port": 80, "name": "a"}, {"port": 81, "name": "b"}
    live = apply(None, {"ports": [one, two]}, "ann")
    live = change(live, "bob", ports=[{**one, "inner": [{"id": "q"}]}, two])
    live = apply(live, {"ports": [two]}, "ann")
    assert live["spec"]["ports"] == [two]
    assert owners(live) == {"ann Apply": owners(live)["ann Apply"]}


def test_an_item_stays_if_somebody_else_owns_it() -> None:
    one, two = {"port": 80, "name": "a"}, {"port": 81, "name": "b"}
    live = apply(None, {"ports": [one, two]}, "ann")
    live = apply(live, {"ports": [{"port": 80}]}, "bob")
    live = apply(live, {"ports": [two]}, "ann")
    assert live["spec"]["ports"] == [{"port": 80}, two]


def test_items_come_in_the_applied_order_others_stay_between() -> None:
    live = update(None, widget({"set": ["a", "b", "c", "d"]}), "ann")
    assert apply(live, {"set": ["d", "b", "e"]}, "bob")["spec"]["set"] == ["a", "c", "d", "b", "e"]


def test_atomic_values_are_replaced_as_a_whole() -> None:
    live = apply(None, {"whole": {"a": "1"}, "list": ["a"]}, "ann")
    live = apply(live, {"whole": {"b": "1"}, "list": ["b"]}, "ann")
    assert live["spec"] == {"whole": {"b": "1"}, "list": ["b"]}
    with pytest.raises(ApplyConflict) as problem:
        apply(live, {"whole": {"c": "1"}}, "bob")
    assert [each.path for each in problem.value.conflicts] == [".spec.whole"]


def test_null_is_owned_and_removes_no_members() -> None:
    live = update(None, widget({"labels": {"a": "1"}, "replicas": 1}), "ann")
    live = apply(live, {"labels": None, "replicas": None}, "bob", force=True)
    assert live["spec"] == {"labels": {"a": "1"}, "replicas": None}
    assert owners(live)["bob Apply"] == {"f:labels": {}, "f:replicas": {}}


def test_below_unknown_fields_objects_are_granular_and_lists_are_not() -> None:
    live = apply(None, {"free": {"a": {"b": [1], "c": 1}}}, "ann")
    live = apply(live, {"free": {"a": {"d": 1}, "e": {}}}, "bob")
    assert live["spec"]["free"] == {"a": {"b": [1], "c": 1, "d": 1}, "e": {}}
    everything: Json = {"f:a": {".": {}, "f:d": {}}, "f:e": {}}
    assert owners(live)["bob Apply"] == {"f:free": everything}
    with pytest.raises(ApplyConflict) as problem:
        apply(live, {"free": {"a": {"b": [2]}}}, "bob")
    assert [each.path for each in problem.value.conflicts] == [".spec.free.a.b"]


def test_an_apply_that_changes_nothing_keeps_its_time() -> None:
    live = apply(None, {"replicas": 1}, "ann", 1)
    assert apply(live, {"replicas": 1}, "ann", 9) == live
    live = apply(live, {"replicas": 2}, "ann", 9)
    assert live["metadata"]["managedFields"][0]["time"] == "1970-01-01T00:00:09Z"


def test_an_applier_is_the_same_in_every_version() -> None:
    live = apply(None, {"replicas": 1, "text": "a"}, "ann")
    live["metadata"]["managedFields"][0]["apiVersion"] = "example.com/v1beta1"
    live = apply(live, {"replicas": 1}, "ann")
    assert live["spec"] == {"replicas": 1}
    (entry,) = live["metadata"]["managedFields"]
    assert entry["apiVersion"] == VERSION


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"replicas": "1"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"none": 1}, ".spec.none: field not declared in schema"),
        ({"set": ["a", "a"]}, '.spec.set: duplicate entries for key [="a"]'),
        ({"ports": [{}, {}]}, '.spec.ports: duplicate entries for key [protocol="TCP"]'),
        ({"ports": [{"port": 1, "inner": [{}]}]}, "omits all key fields"),
        ({"ports": [None]}, "element 0: associative list with keys may not have a null element"),
        ({"whole": [1]}, ".spec.whole: expected map, got &{[1]}"),
        ({"labels": {"a": 1}}, "expected string, got &value.valueUnstructured{Value:1}"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(spec: Json, words: str) -> None:
    for live in (None, update(None, widget({"replicas": 1}), "ann")):
        with pytest.raises(PatchError) as problem:
            apply(live, spec, "bob")
        assert problem.value.code == 500
        start = "failed to create typed patch object (/x; example.com/v1, Kind=Widget): "
        assert problem.value.message.startswith(start)
        assert words in problem.value.message


def test_managed_fields_may_not_be_applied() -> None:
    with pytest.raises(PatchError) as problem:
        apply(None, None, "ann", metadata={"managedFields": []})
    assert (problem.value.code, problem.value.message) == (
        400,
        "metadata.managedFields must be nil",
    )


def test_another_kind_or_version_is_refused() -> None:
    live = update(None, widget({"replicas": 1}), "ann")
    options: Json = {"schema": WIDGET, "manager": "a", "api_version": VERSION, "now": 0}
    for change_ in ({"kind": "Gadget"}, {"apiVersion": "v2"}):
        with pytest.raises(PatchError) as problem:
            applied(live=live, applied={**widget(), **change_}, **options)
        assert problem.value.code == 400
        assert problem.value.message.startswith("invalid object type: ")
