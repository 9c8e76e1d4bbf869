"""The Go types behind the wire: order of fields, pointers, what is left out when empty.

The table comes from `hack/gotypes`. A type is written there as a short expression: `string`,
`*int32`, `[]core.Container`, `{}quantity` (a map by string), `core.PodSpec`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import orjson

LEAVES = frozenset(
    {
        "string",
        "bool",
        "int32",
        "int64",
        "quantity",
        "intorstring",
        "time",
        "raw",
        "bytes",
    }
)


@dataclass(frozen=True, slots=True)
class GoType:
    """`kind` is a leaf's word, "list", "map" or "struct"; a struct has a name, a list an item."""

    kind: str
    pointer: bool = False
    item: GoType | None = None
    struct: str = ""


@dataclass(frozen=True, slots=True)
class GoField:
    name: str
    omit_empty: bool
    omit_zero: bool
    type: GoType


@dataclass(frozen=True, slots=True)
class _Table:
    types: dict[str, list[tuple[str, str, str]]]
    defaults: dict[str, dict[str, object]]


@cache
def _table() -> _Table:
    raw = resources.files("lws.api.data").joinpath("gotypes.json").read_bytes()
    return _Table(**orjson.loads(raw))


@cache
def parse_type(expression: str) -> GoType:
    if expression.startswith("*"):
        inner = parse_type(expression[1:])
        return GoType(inner.kind, pointer=True, item=inner.item, struct=inner.struct)
    if expression.startswith("[]"):
        return GoType("list", item=parse_type(expression[2:]))
    if expression.startswith("{}"):
        return GoType("map", item=parse_type(expression[2:]))
    if expression in LEAVES:
        return GoType(expression)
    assert expression in _table().types, f"no such Go type: {expression}"
    return GoType("struct", struct=expression)


@cache
def struct_fields(struct: str) -> dict[str, GoField]:
    """The fields of a struct by JSON name, in the order in which Go writes them."""
    return {
        name: GoField(name, "e" in flags, "z" in flags, parse_type(expression))
        for name, flags, expression in _table().types[struct]
    }


def struct_defaults(struct: str) -> dict[str, object]:
    """What the schema of a CRD fills in where a field of this struct is absent."""
    return _table().defaults.get(struct, {})


def struct_names() -> frozenset[str]:
    return frozenset(_table().types)
