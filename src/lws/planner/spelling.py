"""JSON as the public controller spells it: every field as its Go type has it.

Two things of that controller are told apart by bytes, the roles of a DisaggregatedSet and the data
of a ControllerRevision. What the Go types are is a table (`lws.api.schema.gotypes`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from lws.api.quantities import canonical_quantity
from lws.api.schema.gotypes import GoField, GoType, parse_type, struct_fields

# What Go's encoder escapes beyond JSON's own needs, so that its output may stand in a page.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_ZEROES: dict[str, str] = {
    "string": '""',
    "bool": "false",
    "int32": "0",
    "int64": "0",
    "quantity": '"0"',
    "intorstring": "0",
}


def spelled(value: object, go: str) -> str:
    """Compact JSON of a value of that Go type, every object's fields in the order of the type."""
    return _encoded(value, parse_type(go))


def _encoded(value: object, go: GoType) -> str:
    if value is None:
        return _nothing(go)
    if go.kind == "struct" and isinstance(value, Mapping):
        return _struct(value, go.struct)
    if go.kind == "map" and isinstance(value, Mapping):
        assert go.item is not None
        item = go.item
        pairs = (f"{_string(str(key))}:{_encoded(value[key], item)}" for key in sorted(value))
        return f"{{{','.join(pairs)}}}"
    if go.kind == "list" and isinstance(value, Sequence) and not isinstance(value, str):
        assert go.item is not None
        item = go.item
        return f"[{','.join(_encoded(each, item) for each in value)}]"
    return _leaf(value, go.kind)


def _leaf(value: object, kind: str) -> str:
    if kind == "quantity" and isinstance(value, str | int | float):
        return _string(_quantity(value))
    if kind == "time" and isinstance(value, str):
        return _string(_time(value))
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # Numbers and booleans; and what the schema let through against its type, so as not to fail.
    return _escaped(json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False))


def _nothing(go: GoType) -> str:
    """What Go writes for a field that was absent or null and is not left out."""
    if go.pointer:
        return "null"
    if go.kind == "struct":
        return _struct({}, go.struct)
    return _ZEROES.get(go.kind, "null")


def _struct(value: Mapping[str, object], struct: str) -> str:
    pairs = (
        f"{_string(name)}:{_encoded(value.get(name), field.type)}"
        for name, field in struct_fields(struct).items()
        if not _is_left_out(value.get(name), field)
    )
    return f"{{{','.join(pairs)}}}"


def _is_left_out(value: object, field: GoField) -> bool:
    if field.omit_zero and field.type.kind == "time":
        return value is None
    if not field.omit_empty:
        return False
    if field.type.pointer:
        return value is None
    if field.type.kind in ("struct", "time", "quantity", "intorstring"):
        return False
    return value is None or value in ("", 0, False, [], {})


def _string(value: str) -> str:
    whole = _SURROGATE.sub("\ufffd", value)
    return _escaped(json.dumps(whole, ensure_ascii=False))


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


def _quantity(value: str | int | float) -> str:
    try:
        return canonical_quantity(value)
    except ValueError:
        return str(value)


def _time(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    if moment.tzinfo is None:
        return value
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
