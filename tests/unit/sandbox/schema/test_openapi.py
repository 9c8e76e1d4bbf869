"""OpenAPI documents: whole, and their addresses change with them."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from lws.api.crds import custom_resource_definitions
from lws.sandbox.schema.openapi import (
    ServedKind,
    encoded_v2,
    openapi_v2,
    openapi_v3,
    openapi_v3_index,
)

POD = ServedKind(group="", version="v1", kind="Pod", plural="pods", subresources=("status",))
LWS = ServedKind(
    group="leaderworkerset.x-k8s.io",
    version="v1",
    kind="LeaderWorkerSet",
    plural="leaderworkersets",
)
CRDS = custom_resource_definitions()


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rpartition("/")[2]
        for one in value.values():
            yield from references(one)
    elif isinstance(value, list):
        for one in value:
            yield from references(one)


def test_every_reference_leads_somewhere() -> None:
    older = openapi_v2([POD, LWS], CRDS)
    newer = openapi_v3(LWS.group, "v1", [POD, LWS], CRDS)
    assert set(references(older)) <= older["definitions"].keys()
    assert set(references(newer)) <= newer["components"]["schemas"].keys()


def test_a_patch_says_of_what_kind_it_is_and_that_fields_are_validated() -> None:
    document = openapi_v3("", "v1", [POD])
    patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Pod"
    assert "fieldValidation" in [one["name"] for one in patch["parameters"]]
    assert "/api/v1/namespaces/{namespace}/pods/{name}/status" in document["paths"]


def test_lists_say_how_they_merge() -> None:
    spec = openapi_v2([POD])["definitions"]["io.k8s.api.core.v1.PodSpec"]
    containers = spec["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"


def test_the_index_names_each_group_and_changes_with_a_definition() -> None:
    before = openapi_v3_index([POD, LWS], CRDS)["paths"]
    assert before.keys() == {"api/v1", "apis/leaderworkerset.x-k8s.io/v1"}
    changed = copy.deepcopy(list(CRDS))
    for one in changed:
        one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "else"
    after = openapi_v3_index([POD, LWS], changed)["paths"]
    assert after["api/v1"] == before["api/v1"]
    name = "apis/leaderworkerset.x-k8s.io/v1"
    assert after[name] != before[name]


def decoded(body: bytes) -> dict[int, list[Any]]:
    """The fields of a protobuf message by number; those inside stay bytes."""
    found: dict[int, list[Any]] = {}
    rest = memoryview(body)

    def varint() -> int:
        nonlocal rest
        value = shift = 0
        while True:
            byte, rest = rest[0], rest[1:]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while rest:
        number, wire = divmod(varint(), 8)
        value: Any = None
        if wire == 0:
            value = varint()
        else:
            length = {1: 8, 2: None}[wire] or varint()
            value, rest = bytes(rest[:length]), rest[length:]
        found.setdefault(number, []).append(value)
    return found


def test_the_older_document_says_the_same_in_protobuf() -> None:
    document = openapi_v2([POD, LWS], CRDS)
    whole = decoded(encoded_v2(document))
    assert whole[1] == [b"2.0"]
    schemas = {}
    for entry in decoded(whole[9][0])[1]:
        name, schema = (decoded(entry)[number][0] for number in (1, 2))
        schemas[name.decode()] = decoded(schema)
    assert schemas.keys() == document["definitions"].keys()
    pod = schemas["io.k8s.api.core.v1.Pod"]
    properties = [decoded(entry)[1][0].decode() for entry in decoded(pod[25][0])[1]]
    assert properties == list(document["definitions"]["io.k8s.api.core.v1.Pod"]["properties"])
    extensions = {decoded(entry)[1][0] for entry in pod[31]}
    assert b"x-kubernetes-group-version-kind" in extensions
    paths = [decoded(entry)[1][0].decode() for entry in decoded(whole[8][0])[2]]
    assert paths == list(document["paths"])


def test_no_field_is_left_out_of_the_protobuf_in_silence() -> None:
    document = openapi_v2([POD])
    document["definitions"]["io.k8s.api.core.v1.Pod"]["xml"] = {}
    with pytest.raises(KeyError, match="xml"):
        encoded_v2(document)
