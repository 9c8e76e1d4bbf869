"""An OpenAPI v2 document in protobuf, which kubectl asks for before it checks a List.

The messages and the numbers of their fields are those of gnostic's `openapi.v2` package, as far as
our documents use them. A field that is not among them is a KeyError: nothing is left out in
silence.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED_FOR = "com.github.proto-openapi.spec.v2"
"""What is in an Accept header that asks for it."""

JsonObject = Mapping[str, Any]
Encode = Callable[[int, Any], bytes]
"""A field of this number with this value, its tag included."""

_VARINT, _DOUBLE, _LENGTH = 0, 1, 2
_EXTENSION = "x-"


def encoded_v2(document: JsonObject) -> bytes:
    """The whole document."""
    return _fields(_DOCUMENT, document)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _whole(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _real(number: int, value: float) -> bytes:
    return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _message(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(body)) + body


def _text(number: int, value: str) -> bytes:
    return _message(number, value.encode())


def _any(number: int, value: Any) -> bytes:
    """A value of any shape travels as YAML, which JSON is."""
    return _message(number, _message(2, orjson.dumps(value)))


def _each(encode: Encode) -> Encode:
    return lambda number, values: b"".join(encode(number, value) for value in values)


def _named(number: int, entries: Iterable[tuple[str, bytes]]) -> bytes:
    """Entries of a map: each a message of a name and what it names."""
    return b"".join(_message(number, _text(1, name) + _message(2, body)) for name, body in entries)


def _fields(table: Mapping[str, tuple[int, Encode]], value: JsonObject) -> bytes:
    parts = []
    for name, content in value.items():
        if name.startswith(_EXTENSION):
            entry = _text(1, name) + _any(2, content)
            parts.append(_message(table[_EXTENSION][0], entry))
        else:
            number, encode = table[name]
            parts.append(encode(number, content))
    return b"".join(parts)


def _schema(number: int, value: JsonObject) -> bytes:
    return _message(number, _fields(_SCHEMA, value))


def _wrapped_schema(number: int, value: JsonObject) -> bytes:
    return _message(number, _schema(1, value))


def _schemas(number: int, value: Mapping[str, JsonObject]) -> bytes:
    entries = ((name, _fields(_SCHEMA, schema)) for name, schema in value.items())
    return _message(number, _named(1, entries))


def _additional(number: int, value: bool | JsonObject) -> bytes:
    content = _whole(2, value) if isinstance(value, bool) else _schema(1, value)
    return _message(number, content)


def _type(number: int, value: str | list[str]) -> bytes:
    return _message(number, _each(_text)(1, [value] if isinstance(value, str) else value))


def _paths(number: int, value: Mapping[str, JsonObject]) -> bytes:
    return _message(number, _named(2, ((path, _fields(_PATH, one)) for path, one in value.items())))


def _operation(number: int, value: JsonObject) -> bytes:
    return _message(number, _fields(_OPERATION, value))


def _parameter(number: int, value: JsonObject) -> bytes:
    """Parameters of the query are the only ones that our documents tell of."""
    assert value["in"] == "query", "no other parameters are published"
    query = _message(3, _fields(_QUERY, value))
    return _message(number, _message(1, _message(2, query)))


def _responses(number: int, value: Mapping[str, JsonObject]) -> bytes:
    entries = ((code, _message(1, _fields(_RESPONSE, one))) for code, one in value.items())
    return _message(number, _named(1, entries))


def _info(number: int, value: JsonObject) -> bytes:
    return _message(number, _fields({"title": (1, _text), "version": (2, _text)}, value))


_DOCUMENT: Mapping[str, tuple[int, Encode]] = {
    "swagger": (1, _text),
    "info": (2, _info),
    "paths": (8, _paths),
    "definitions": (9, _schemas),
}
_PATH: Mapping[str, tuple[int, Encode]] = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "patch": (8, _operation),
}
_OPERATION: Mapping[str, tuple[int, Encode]] = {
    "consumes": (7, _each(_text)),
    "parameters": (8, _each(_parameter)),
    "responses": (9, _responses),
    _EXTENSION: (13, _any),
}
_QUERY: Mapping[str, tuple[int, Encode]] = {
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _whole),
}
_RESPONSE: Mapping[str, tuple[int, Encode]] = {
    "description": (1, _text),
    "schema": (2, _wrapped_schema),
}
_SCHEMA: Mapping[str, tuple[int, Encode]] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _real),
    "maximum": (7, _real),
    "exclusiveMaximum": (8, _whole),
    "minimum": (9, _real),
    "exclusiveMinimum": (10, _whole),
    "maxLength": (11, _whole),
    "minLength": (12, _whole),
    "pattern": (13, _text),
    "maxItems": (14, _whole),
    "minItems": (15, _whole),
    "uniqueItems": (16, _whole),
    "maxProperties": (17, _whole),
    "minProperties": (18, _whole),
    "required": (19, _each(_text)),
    "enum": (20, _each(_any)),
    "additionalProperties": (21, _additional),
    "type": (22, _type),
    "items": (23, _wrapped_schema),
    "allOf": (24, _each(_schema)),
    "properties": (25, _schemas),
    "example": (30, _any),
    _EXTENSION: (31, _any),
}
