"""Schemas as a real API server publishes them, for the functions that are judged by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.kube import Kube
from harness.waiting import eventually
from lws.sandbox.schema import MISSING, ListType, Schema

Json = dict[str, Any]
_REF = "#/components/schemas/"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


class PublishedSchemas:
    """The schemas of one group and version."""

    def __init__(self, kube: Kube, api_version: str) -> None:
        path = f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"
        self._known = eventually(lambda: _published(kube, path), what=f"schemas of {path}")
        self._api_version = api_version
        self._made_already: dict[str, Schema] = {}

    def of_kind(self, kind: str) -> Schema:
        """The schema of a kind."""
        group, _, version = self._api_version.rpartition("/")
        wanted = {"group": group, "kind": kind, "version": version}
        for name, each in self._known.items():
            if wanted in each.get("x-kubernetes-group-version-kind", []):
                return self._named(name)
        raise LookupError(f"the server publishes no {self._api_version} {kind}")

    def _named(self, name: str) -> Schema:
        known = self._made_already.get(name)
        if known is None:
            known = self._made_already[name] = self._make_named(name)
        return known

    def _make_named(self, name: str) -> Schema:
        if name == _RAW:
            return Schema(is_atomic_map=True)
        if name == _QUANTITY:
            return Schema(type="string", format="quantity")
        if name == _INT_OR_STRING:
            return Schema(int_or_string=True)
        raw = self._known[name]
        properties: dict[str, Schema] = {}
        made = replace(self._structural({**raw, "properties": {}}), properties=properties)
        self._made_already[name] = made  # a definition may hold itself
        for field, each in raw.get("properties", {}).items():
            properties[field] = self._made(each)
        return made

    def _made(self, raw: Json) -> Schema:
        inner = raw
        if "allOf" in raw and len(raw["allOf"]) == 1 and "$ref" in raw["allOf"][0]:
            inner = raw["allOf"][0]
        if "$ref" not in inner:
            return self._structural(raw)
        named = self._named(inner["$ref"].removeprefix(_REF))
        merged = {"x-kubernetes-map-type": "atomic" if named.is_atomic_map else None, **raw}
        return Schema(
            type=named.type,
            format=named.format,
            properties=named.properties,
            additional=named.additional,
            items=named.items,
            list_type=named.list_type,
            list_map_keys=named.list_map_keys,
            is_atomic_map=merged["x-kubernetes-map-type"] == "atomic",
            patch_merge_key=raw.get("x-kubernetes-patch-merge-key", ""),
            patch_strategies=_strategies(raw),
            default=raw.get("default", MISSING),
            int_or_string=named.int_or_string,
            preserves_unknown=named.preserves_unknown,
            required=named.required,
        )

    def _structural(self, raw: Json) -> Schema:
        more = raw.get("additionalProperties")
        return Schema(
            type=raw.get("type", ""),
            format=raw.get("format", ""),
            properties={name: self._made(each) for name, each in raw.get("properties", {}).items()},
            additional=self._made(more) if isinstance(more, dict) else None,
            items=self._made(raw["items"]) if "items" in raw else None,
            list_type=_list_type(raw),
            list_map_keys=tuple(raw.get("x-kubernetes-list-map-keys", ())),
            is_atomic_map=raw.get("x-kubernetes-map-type") == "atomic",
            patch_merge_key=raw.get("x-kubernetes-patch-merge-key", ""),
            patch_strategies=_strategies(raw),
            default=raw.get("default", MISSING),
            int_or_string=raw.get("x-kubernetes-int-or-string", False),
            preserves_unknown=raw.get("x-kubernetes-preserve-unknown-fields", False),
            required=frozenset(raw.get("required", ())),
        )


def _published(kube: Kube, path: str) -> Json:
    found: Json = kube.request("GET", f"/openapi/v3/{path}")["components"]["schemas"]
    return found


def _strategies(raw: Json) -> frozenset[str]:
    text = raw.get("x-kubernetes-patch-strategy", "")
    return frozenset(text.split(",")) if text else frozenset()


def _list_type(raw: Json) -> ListType:
    written = raw.get("x-kubernetes-list-type")
    if written:
        return ListType(written)
    assert "merge" not in _strategies(raw), f"a list with a strategy and no type: {raw}"
    return ListType.ATOMIC
