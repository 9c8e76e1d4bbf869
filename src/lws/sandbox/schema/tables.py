"""The generated tables: what the public schema data and the Go types say of each built-in type."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import orjson

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
OBJECT_META: Final = f"{META}.ObjectMeta"
QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
TIME: Final = f"{META}.Time"
MICRO_TIME: Final = f"{META}.MicroTime"
RAW: Final = ("io.k8s.apimachinery.pkg.runtime.RawExtension", f"{META}.FieldsV1")
EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
JSON: Final = f"{EXTENSIONS}.JSON"

Definition = dict[str, Any]


def _read(name: str) -> dict[str, Any]:
    raw = resources.files("lws.sandbox.schema.data").joinpath(name).read_bytes()
    table: dict[str, Any] = orjson.loads(raw)
    return table


@cache
def definitions() -> Mapping[str, Definition]:
    """By name, as OpenAPI has them without descriptions; a `$ref` is a bare name."""
    return _read("definitions.json")


@cache
def descriptions() -> Mapping[str, Mapping[str, str]]:
    """By definition and field; the definition's own under the empty string."""
    return _read("descriptions.json")


@cache
def wire() -> Mapping[str, list[list[str]]]:
    """By definition: [name, flags, word, Go type, embedding structs] of each field, in order."""
    return _read("wire.json")


@cache
def definition_names() -> Mapping[tuple[str, str, str], str]:
    """(group, version, kind) to the definition's name."""
    return dict(_named_kinds())


def _named_kinds() -> Iterator[tuple[tuple[str, str, str], str]]:
    for name, definition in definitions().items():
        kinds = definition.get("x-kubernetes-group-version-kind", ())
        if len(kinds) == 1:  # DeleteOptions and its like are of every group
            one = kinds[0]
            yield (one["group"], one["version"], one["kind"]), name
