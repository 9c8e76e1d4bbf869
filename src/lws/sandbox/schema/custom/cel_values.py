"""What a rule in CEL sees: the value by its schema, with names that CEL can say."""

import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lws.sandbox.schema.model import Schema

Json = Any

_RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    )
)
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_NAME = re.compile(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*")


def cel_value(value: Json, schema: Schema) -> Json:
    """The value for CEL: undeclared fields cannot be seen, times are times."""
    if isinstance(value, dict):
        return _object(value, schema)
    if isinstance(value, list):
        items = schema.items
        return [cel_value(item, items) for item in value] if items else value
    if isinstance(value, str) and not schema.int_or_string:
        return _text(value, schema.format)
    if isinstance(value, int) and not isinstance(value, bool) and schema.type == "number":
        return float(value)
    return value


def _object(value: dict[str, Json], schema: Schema) -> dict[str, Json]:
    if schema.additional is not None and not schema.properties:
        return {name: cel_value(one, schema.additional) for name, one in value.items()}
    seen: dict[str, Json] = {}
    for name, member in value.items():
        known = schema.properties.get(name)
        said = escaped(name)
        if known is not None and said is not None:
            seen[said] = cel_value(member, known)
    if schema.is_embedded_resource:
        seen |= _own(value)
    return seen


def _own(value: Mapping[str, Json]) -> dict[str, Json]:
    """Of a resource's metadata only the names."""
    metadata = value.get("metadata") or {}
    names = {name: metadata[name] for name in ("name", "generateName") if name in metadata}
    kinds = {name: value[name] for name in ("apiVersion", "kind") if name in value}
    return {**kinds, "metadata": names}


def escaped(name: str) -> str | None:
    """A field's name in CEL; None if it cannot be said."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    for character, word in _ESCAPES:
        name = name.replace(character, word)
    return name


def _text(value: str, form: str) -> Json:
    try:
        match form:
            case "date-time":
                moment = datetime.fromisoformat(value)
                return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            case "byte":
                return base64.b64decode(value)
    except ValueError:
        return value
    return value
