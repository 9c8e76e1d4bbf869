"""The OpenAPI documents that clients ask for: what kubectl explains, validates and merges by."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import orjson

from lws.sandbox.schema.publishing.builtin import built_in_schemas
from lws.sandbox.schema.publishing.custom import custom_schemas
from lws.sandbox.schema.publishing.kinds import ServedKind, custom_versions, schema_name
from lws.sandbox.schema.publishing.paths import paths_of
from lws.sandbox.schema.publishing.protobuf import ASKED_FOR, encoded_v2
from lws.sandbox.schema.publishing.protobuf import MEDIA_TYPE as OPENAPI_PROTOBUF
from lws.sandbox.schema.tables import META, OBJECT_META

JsonObject = dict[str, Any]
Definitions = Sequence[Mapping[str, Any]]

__all__ = [
    "OPENAPI_PROTOBUF",
    "ServedKind",
    "encoded_v2",
    "is_protobuf_asked_for",
    "openapi_v2",
    "openapi_v3",
    "openapi_v3_index",
]

_INFO = {"title": "Kubernetes", "version": "v1.36.3"}
_V2, _V3 = "#/definitions/", "#/components/schemas/"
_KINDS = "x-kubernetes-group-version-kind"
_DELETE_OPTIONS = f"{META}.DeleteOptions"
_SHARED = (OBJECT_META, f"{META}.ListMeta", _DELETE_OPTIONS, f"{META}.Status")


def is_protobuf_asked_for(accept: str) -> bool:
    """Whether a client wants `openapi_v2` as `encoded_v2`."""
    return ASKED_FOR in accept


def openapi_v2(served: Sequence[ServedKind], crds: Definitions = ()) -> JsonObject:
    """All kinds in one document (`/openapi/v2`)."""
    schemas, paths = _parts(served, crds, prefix=_V2, is_v3=False)
    return {"swagger": "2.0", "info": _INFO, "paths": paths, "definitions": schemas}


def openapi_v3(
    group: str, version: str, served: Sequence[ServedKind], crds: Definitions = ()
) -> JsonObject:
    """One group and version; of `served` and `crds` only what is of it is taken."""
    mine = [one for one in served if (one.group, one.version) == (group, version)]
    schemas, paths = _parts(mine, crds, prefix=_V3, is_v3=True)
    options = schemas[_DELETE_OPTIONS]
    options[_KINDS] = [one for one in options[_KINDS] if _is_of(one, group, version)]
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": paths,
        "components": {"schemas": schemas},
    }


def openapi_v3_index(served: Sequence[ServedKind], crds: Definitions = ()) -> JsonObject:
    """Where each group's and version's document is; the address changes when the document does."""
    paths = {}
    ordered = sorted(served, key=lambda one: (one.root, one.plural))
    specs = [crd["spec"] for crd in crds]
    for root, kinds in groupby(ordered, key=lambda one: one.root):
        mine = list(kinds)
        own = [spec for spec in specs if spec["group"] == mine[0].group]
        text = repr(mine).encode() + orjson.dumps(own, option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(text).hexdigest().upper()
        name = root.removeprefix("/")
        paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
    return {"paths": paths}


def _is_of(kind: Mapping[str, str], group: str, version: str) -> bool:
    """Kinds of every group are told as the core's and the document's own."""
    return (kind["group"], kind["version"]) in (("", "v1"), (group, version))


def _parts(
    served: Sequence[ServedKind], crds: Definitions, *, prefix: str, is_v3: bool
) -> tuple[dict[str, JsonObject], dict[str, JsonObject]]:
    names = {kind: schema_name(kind) for kind in served}
    wanted = [*_SHARED, *names.values(), *(f"{name}List" for name in names.values())]
    schemas = built_in_schemas(wanted, prefix=prefix, is_v3=is_v3)
    kinds = {(one.group, one.version, one.kind) for one in served}
    for version in custom_versions(crds):
        if (version.group, version.version, version.kind) in kinds:
            schemas |= custom_schemas(version, prefix=prefix, is_v3=is_v3)
    paths: dict[str, JsonObject] = {}
    for kind, name in names.items():
        if name in schemas:
            paths |= paths_of(kind, name, prefix=prefix, is_v3=is_v3)
    return schemas, paths
