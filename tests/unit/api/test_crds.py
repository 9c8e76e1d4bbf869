"""The definitions agree with the Go types, with our own reading of them, and with themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from lws.api import leaderworkerset
from lws.api.crds import custom_resource_definitions, file_name
from lws.api.schema.gotypes import GoType, parse_type, struct_fields

Json = dict[str, Any]
LWS, DS, SCALER = custom_resource_definitions()
LEAVES = {
    "int32": ("integer", "int32"),
    "int64": ("integer", "int64"),
    "quantity": (None, None),
    "intorstring": (None, None),
    "string": ("string", None),
    "bool": ("boolean", None),
    "time": ("string", "date-time"),
}


def spec_of(crd: Json) -> Json:
    spec: Json = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def walk(schema: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    yield path, schema
    for name, each in schema.get("properties", {}).items():
        yield from walk(each, f"{path}.{name}")
    if "items" in schema:
        yield from walk(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from walk(schema["additionalProperties"], f"{path}{{}}")


def mismatches(schema: Json, go: GoType, path: str) -> Iterator[str]:
    """Where a schema is not that of the Go type."""
    if go.kind == "struct" and go.struct != "meta.ObjectMeta":
        fields, properties = struct_fields(go.struct), schema["properties"]
        if fields.keys() != properties.keys():
            yield f"{path}: {fields.keys() ^ properties.keys()}"
        for name in fields.keys() & properties.keys():
            yield from mismatches(properties[name], fields[name].type, f"{path}.{name}")
    elif go.kind == "list" and go.item is not None:
        yield from mismatches(schema["items"], go.item, f"{path}[]")
    elif go.kind == "map" and go.item is not None:
        yield from mismatches(schema["additionalProperties"], go.item, f"{path}{{}}")
    elif (schema.get("type"), schema.get("format")) != LEAVES.get(go.kind, ("object", None)):
        yield f"{path}: {schema}"


@pytest.mark.parametrize("name", ["leaderTemplate", "workerTemplate", "volumeClaimTemplates"])
def test_each_field_of_a_go_type_is_in_the_schema(name: str) -> None:
    template = spec_of(LWS)["properties"]["leaderWorkerTemplate"]["properties"][name]
    go = struct_fields("lws.LeaderWorkerTemplate")[name].type
    assert list(mismatches(template, go, name)) == []


@pytest.mark.parametrize("crd", [LWS, DS, SCALER], ids=file_name)
def test_a_list_that_merges_has_keys_that_each_item_has(crd: Json) -> None:
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for path, schema in walk(root):
        for key in schema.get("x-kubernetes-list-map-keys", ()):
            item = schema["items"]
            given = key in item.get("required", ()) or "default" in item["properties"][key]
            assert given, f"{path}: {key}"


@pytest.mark.parametrize("crd", [LWS, DS, SCALER], ids=file_name)
def test_each_value_has_one_type(crd: Json) -> None:
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for path, schema in walk(root):
        is_either = schema.get("x-kubernetes-int-or-string", False)
        assert isinstance(schema.get("type"), str) != is_either, path


def test_no_word_of_a_pod_template_is_described() -> None:
    template = spec_of(LWS)["properties"]["leaderWorkerTemplate"]["properties"]["workerTemplate"]
    described = [path for path, schema in walk(template) if "description" in schema]
    assert described == [""]


@pytest.mark.parametrize(
    "kind", [leaderworkerset.LeaderWorkerSetSpec, leaderworkerset.LeaderWorkerSetStatus]
)
def test_what_our_controllers_read_is_in_the_schema(kind: type[msgspec.Struct]) -> None:
    root = LWS["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    schema = root["spec" if kind is leaderworkerset.LeaderWorkerSetSpec else "status"]
    assert {field.encode_name for field in msgspec.structs.fields(kind)} == set(
        schema["properties"]
    )


def test_a_role_is_specified_as_a_set_is() -> None:
    role = spec_of(DS)["properties"]["roles"]["items"]
    assert role["properties"]["spec"] == spec_of(LWS)


def test_definitions_are_new_each_time() -> None:
    first, _, _ = custom_resource_definitions()
    first["spec"]["group"] = "other"
    template = spec_of(first)["properties"]["leaderWorkerTemplate"]["properties"]["workerTemplate"]
    template["properties"]["metadata"]["properties"]["labels"].clear()
    spec_of(first)["properties"].clear()
    assert custom_resource_definitions()[0] == LWS
    assert spec_of(LWS)["properties"]


def test_names() -> None:
    assert [crd["metadata"]["name"] for crd in (LWS, DS, SCALER)] == [
        "leaderworkersets.leaderworkerset.x-k8s.io",
        "disaggregatedsets.disaggregatedset.x-k8s.io",
        "disaggregatedsetrolescalers.disaggregatedset.x-k8s.io",
    ]
    assert LWS["spec"]["names"]["shortNames"] == ["lws"]
    assert SCALER["spec"]["names"]["shortNames"] == ["dsrs"]
    assert {crd["spec"]["scope"] for crd in (LWS, DS, SCALER)} == {"Namespaced"}


def test_the_table_knows_no_other_word() -> None:
    with pytest.raises(AssertionError, match="no such Go type"):
        parse_type("core.Nothing")
