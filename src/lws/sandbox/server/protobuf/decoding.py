"""Protobuf to JSON, by field numbers."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import orjson

from lws.base.times import format_micro_time, format_time

JsonObject = dict[str, Any]

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_GROUPS = {
    "": "io.k8s.api.core.v1",
    "authentication.k8s.io": "io.k8s.api.authentication.v1",
    "authorization.k8s.io": "io.k8s.api.authorization.v1",
    "rbac.authorization.k8s.io": "io.k8s.api.rbac.v1",
}
_OPTION_KINDS = frozenset(("DeleteOptions", "Status"))


class Malformed(ValueError):
    """The bytes are no protobuf of a kind that we know."""


class _Field(NamedTuple):
    name: str
    shape: str
    """one, many, map, or inline: its fields are those of the message around it."""
    type: str


def is_protobuf(media_type: str) -> bool:
    """Is a body of this type for us?"""
    return media_type == MEDIA_TYPE


def decode_object(body: bytes) -> JsonObject:
    """The object in a body, as if it had come as JSON. `Malformed` if there is none."""
    if not body.startswith(_MAGIC):
        raise Malformed("no Kubernetes protobuf")
    try:
        envelope = _parts(memoryview(body)[len(_MAGIC) :])
        said = _parts(envelope[1])
        api_version, kind = _text(said[1]), _text(said[2])
        obj = _message(envelope.get(2, memoryview(b"")), _type_name(api_version, kind))
    except (IndexError, KeyError, ValueError, RecursionError) as error:
        raise Malformed(f"no Kubernetes protobuf: {error}") from error
    return {"kind": kind, "apiVersion": api_version, **obj}


def _type_name(api_version: str, kind: str) -> str:
    if kind in _OPTION_KINDS:
        return f"{_META}.{kind}"
    group, _, version = api_version.rpartition("/")
    package = _GROUPS.get(group) or f"io.k8s.api.{group.removesuffix('.k8s.io')}.{version}"
    return f"{package}.{kind}"


@cache
def _messages() -> Mapping[str, Mapping[int, _Field]]:
    text = resources.files(__package__).joinpath("fields.json").read_bytes()
    return {
        name: {int(number): _Field(*parts) for number, parts in fields.items()}
        for name, fields in orjson.loads(text).items()
    }


def _message(data: memoryview, name: str) -> JsonObject:
    fields = _messages()[name]
    found: JsonObject = {}
    for number, value in _pairs(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.shape == "map":
            key, item = _entry(value, field.type)
            found.setdefault(field.name, {})[key] = item
        elif field.shape == "many":
            found.setdefault(field.name, []).append(_value(value, field.type))
        elif field.shape == "inline":
            found |= _message(value, field.type)
        else:
            found[field.name] = _value(value, field.type)
    return found


def _entry(data: Any, kind: str) -> tuple[str, Any]:
    key, item = "", _ZEROS.get(kind, "")
    for number, value in _pairs(data):
        if number == 1:
            key = str(value, "utf-8")
        elif number == 2:
            item = _value(value, kind)
    return key, item


def _pairs(data: memoryview) -> Iterator[tuple[int, Any]]:
    """Field numbers and raw values: an int, or a view of the bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise Malformed(f"wire type {wire}")
        if at + size > len(data):
            raise Malformed("cut off")
        yield number, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise Malformed("a number without end")


def _value(value: Any, kind: str) -> Any:
    reader = _READERS.get(kind)
    return reader(value) if reader is not None else _message(value, kind)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _text(value: memoryview) -> str:
    return str(value, "utf-8")


def _parts(value: memoryview) -> dict[int, Any]:
    return dict(_pairs(value))


def _time(value: memoryview) -> str | None:
    parts = _parts(value)
    return format_time(_signed(parts.get(1, 0))) if parts else None


def _micro_time(value: memoryview) -> str | None:
    parts = _parts(value)
    if not parts:
        return None
    return format_micro_time(_signed(parts.get(1, 0)) + parts.get(2, 0) / 1e9)


def _int_or_string(value: memoryview) -> int | str:
    parts = _parts(value)
    return _text(parts.get(3, memoryview(b""))) if parts.get(1) else _signed(parts.get(2, 0))


def _json(value: memoryview) -> Any:
    raw = _parts(value).get(1)
    return orjson.loads(raw) if raw else None


_ZEROS: Mapping[str, Any] = {"int32": 0, "int64": 0, "bool": False}
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "bytes": lambda value: b64encode(value).decode(),
    "bool": bool,
    "int32": _signed,
    "int64": _signed,
    f"{_META}.Time": _time,
    f"{_META}.MicroTime": _micro_time,
    f"{_META}.FieldsV1": _json,
    f"{_META}.Verbs": lambda value: [_text(one) for _, one in _pairs(value)],
    "io.k8s.apimachinery.pkg.api.resource.Quantity": lambda value: _text(
        _parts(value).get(1, memoryview(b""))
    ),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _json,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _int_or_string,
}
