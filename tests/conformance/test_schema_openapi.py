"""The OpenAPI documents: each type is described as a real API server describes it."""

from typing import Any

import pytest

from harness.kube import Kube
from lws.api.crds import custom_resource_definitions
from lws.sandbox.schema.builtin import KINDS
from lws.sandbox.schema.openapi import ServedKind, openapi_v2, openapi_v3
from lws.sandbox.schema.tables import INT_OR_STRING, META, QUANTITY
from tests.conformance.schema.base import Json

pytestmark = pytest.mark.real

GROUPS = sorted({kind[:2] for kind in KINDS if kind[0] or kind[1] == "v1"})
CUSTOM = [("leaderworkerset.x-k8s.io", "v1"), ("disaggregatedset.x-k8s.io", "v1")]


def served(group: str, version: str) -> list[ServedKind]:
    built_in = [
        ServedKind(group=one[0], version=one[1], kind=one[2], plural=one[2].lower())
        for one in KINDS
        if one[:2] == (group, version)
    ]
    custom = [
        ServedKind(
            group=group,
            version=version,
            kind=one["spec"]["names"]["kind"],
            plural=one["spec"]["names"]["plural"],
        )
        for one in custom_resource_definitions()
        if one["spec"]["group"] == group
    ]
    return built_in + custom


@pytest.mark.parametrize(("group", "version"), [*GROUPS, *CUSTOM])
def test_the_types_of_a_group_are_described_alike(
    group: str, version: str, quiet_kube: Kube
) -> None:
    root = f"apis/{group}/{version}" if group else f"api/{version}"
    theirs = quiet_kube.request("GET", f"/openapi/v3/{root}")["components"]["schemas"]
    document = openapi_v3(group, version, served(group, version), custom_resource_definitions())
    ours = document["components"]["schemas"]
    assert_described_alike(ours, theirs)


def test_the_types_are_described_alike_in_the_older_document(quiet_kube: Kube) -> None:
    theirs = quiet_kube.request("GET", "/openapi/v2")["definitions"]
    kinds = [one for group, version in [*GROUPS, *CUSTOM] for one in served(group, version)]
    ours = openapi_v2(kinds, custom_resource_definitions())["definitions"]
    assert_described_alike(ours, theirs)


# Leaves without prose in the public data; options, whose groups depend on what else is served.
_TOLD_OTHERWISE = {QUANTITY, INT_OR_STRING, f"{META}.DeleteOptions"}


def assert_described_alike(ours: Json, theirs: Json) -> None:
    """Ours may hold a few types more, which no kind of the group refers to."""
    assert len(ours.keys() & theirs.keys()) > 10
    for name in sorted((ours.keys() & theirs.keys()) - _TOLD_OTHERWISE):
        assert comparable(ours[name]) == comparable(theirs[name]), name


def comparable(schema: Any) -> Any:
    """Without defaults, which no client reads, and without lists of a word's possible values, which
    the public schema data does not have; a lone allOf is what it refers to.
    """
    if isinstance(schema, list):
        return [comparable(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: comparable(one) for key, one in schema.items() if key not in ("default", "enum")}
    if isinstance(made.get("description"), str):
        made["description"] = made["description"].partition("\n\nPossible enum")[0].strip()
    match made.get("allOf"):
        case [{"$ref": str()} as reference]:
            del made["allOf"]
            made |= reference
    if isinstance(made.get("required"), list):
        made["required"] = sorted(made["required"])
    return made
