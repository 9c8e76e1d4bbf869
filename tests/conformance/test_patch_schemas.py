"""Apply and strategic merge patch see our schemas as they see those of a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.kube import Kube
from lws.api.crds import custom_resource_definitions, file_name
from lws.sandbox.patch.types import LIST, MAP, Type
from lws.sandbox.patch.values import MISSING
from lws.sandbox.schema import Schema
from lws.sandbox.schema.builtin import KINDS, schema_of
from lws.sandbox.schema.structural import read_crd_schema
from tests.conformance.patching.openapi import PublishedSchemas

pytestmark = pytest.mark.real

DEPTH = 14
NOT_PATCHED = frozenset(
    {
        *("Binding", "Eviction", "LocalSubjectAccessReview", "Scale", "SelfSubjectAccessReview"),
        *("SelfSubjectReview", "SelfSubjectRulesReview", "Status", "SubjectAccessReview"),
        *("TokenRequest", "TokenReview"),
    }
)


def differences(ours: Type | None, theirs: Type | None, path: str) -> Iterator[str]:
    """What is seen in another way, by path."""
    if ours is None or theirs is None:
        if ours is not theirs:
            yield f"{path}: only {'theirs' if ours is None else 'ours'}"
        return
    mine, real = seen(ours), seen(theirs)
    if mine != real:
        yield f"{path}: ours {mine}, theirs {real}"
        return
    if path.count("/") > DEPTH:
        return
    if MAP in ours.kinds:
        yield from _of_members(ours, theirs, path)
    if LIST in ours.kinds and (ours.schema.items or theirs.schema.items):
        yield from differences(ours.item, theirs.item, f"{path}/[]")


def _of_members(ours: Type, theirs: Type, path: str) -> Iterator[str]:
    names = {*ours.schema.properties, *theirs.schema.properties}
    for name in sorted(names):
        if not ours.declares(name) or not theirs.declares(name):
            yield f"{path}/{name}: only {'ours' if ours.declares(name) else 'theirs'}"
            continue
        yield from differences(ours.member(name), theirs.member(name), f"{path}/{name}")
    mine, real = ours.schema.additional, theirs.schema.additional
    if mine is not None or real is not None:
        yield from differences(ours.element, theirs.element, f"{path}/*")


def seen(of: Type) -> dict[str, object]:
    schema = of.schema
    result: dict[str, object] = {"kinds": of.kinds}
    if MAP in of.kinds:
        result |= {"atomic map": of.is_atomic_map, "takes anything": of.takes_only_the_unknown()}
    if of.kinds == (LIST,):
        result |= {"atomic list": of.is_atomic_list, "keys": of.keys}
        result |= {"defaults": [of.item.default(name) for name in of.keys]}
    if of.kinds not in ((LIST,), (MAP,)):
        result["scalar"] = of.scalar
    result |= {"merge key": schema.patch_merge_key, "strategies": schema.patch_strategies}
    return result


def differences_of(ours: Schema, theirs: Schema) -> list[str]:
    return list(differences(Type(ours), Type(theirs), ""))


@pytest.mark.parametrize(
    "kind", [each for each in KINDS if each[2] not in NOT_PATCHED], ids=lambda each: each[2]
)
def test_a_built_in_kind_is_seen_as_by_the_real_server(
    quiet_kube: Kube, kind: tuple[str, str, str]
) -> None:
    group, version, name = kind
    published = PublishedSchemas(quiet_kube, f"{group}/{version}" if group else version)
    ours = schema_of(*kind)
    assert ours is not None
    assert differences_of(ours, published.of_kind(name)) == []


@pytest.mark.parametrize("crd", custom_resource_definitions(), ids=file_name)
def test_our_definitions_are_seen_as_by_the_real_server(
    quiet_kube: Kube, crd: dict[str, Any]
) -> None:
    spec = crd["spec"]
    for version in spec["versions"]:
        published = PublishedSchemas(quiet_kube, f"{spec['group']}/{version['name']}")
        ours = read_crd_schema(version["schema"]["openAPIV3Schema"])
        assert differences_of(ours, published.of_kind(spec["names"]["kind"])) == []


def test_differences_are_found() -> None:
    items = Schema(type="object", properties={"a": Schema(type="string", default=MISSING)})
    one = Schema(type="object", properties={"l": Schema(type="array", items=items)})
    other = Schema(type="object", properties={"l": Schema(type="array", items=Schema())})
    assert differences_of(one, one) == []
    assert differences_of(one, other)
    assert differences_of(one, Schema(type="object", properties={"l": Schema(type="object")}))
