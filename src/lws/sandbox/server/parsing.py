"""Bytes to JSON, in the types that an API server reads."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import yaml

from lws.client.requests import PatchType
from lws.sandbox.server import status
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.protobuf import Malformed, decode_object, is_protobuf
from lws.sandbox.server.status import ApiStatus

JsonObject = dict[str, Any]

BODY_BYTES_MAX = 3 << 20
OBJECT_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_ENDED = "unexpected end of JSON input"


def media_type(content_type: str | None) -> str:
    """Without its parameters; JSON if nothing is said."""
    return (content_type or "application/json").partition(";")[0].strip().lower()


def require_size(body: bytes | None) -> None:
    """413 for a body that is too long."""
    if body is not None and len(body) > BODY_BYTES_MAX:
        raise status.too_large_body(BODY_BYTES_MAX)


def object_of(body: bytes, content_type: str | None, kind: Kind) -> JsonObject:
    """The object in a body; 400 and 415 in the server's words."""
    chosen = media_type(content_type)
    if is_protobuf(chosen):
        return _of_protobuf(body)
    if chosen not in OBJECT_TYPES[:2]:
        raise status.unsupported_media_type(OBJECT_TYPES)
    expected = f"the object provided is unrecognized (must be of type {kind.resource.kind})"
    value = _decoded(body, is_yaml=chosen == OBJECT_TYPES[1], what=expected)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise status.bad_request(f"{expected}: {_no_kind(value)} ({body[:64].hex()})")
    for name in ("apiVersion", "kind"):
        said = value.get(name)
        if said is not None and not isinstance(said, str):
            raise status.bad_request(
                f"{expected}: {_UNKNOWN_KIND}: json: cannot unmarshal {shape_of(said)} into Go"
                f" struct field .{name} of type string ({_beginning(body)})"
            )
    return value


_UNKNOWN_KIND = "couldn't get version/kind; json parse error"


def _no_kind(value: object) -> str:
    """What has no kind, as it is no object."""
    return (
        f"{_UNKNOWN_KIND}: json: cannot unmarshal {shape_of(value)} into Go value of type struct"
        ' { APIVersion string "json:\\"apiVersion,omitempty\\"";'
        ' Kind string "json:\\"kind,omitempty\\"" }'
    )


def _beginning(body: bytes) -> str:
    """Of a body, as the server shows it."""
    text = body.decode("utf-8", "replace")
    if not text:
        return "<empty>"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]} ..."


_SHOWN_CHARACTERS = 30


def _of_protobuf(body: bytes) -> JsonObject:
    try:
        return decode_object(body)
    except Malformed as error:
        raise status.bad_request(f"the body of the request cannot be read: {error}") from None


def _decoded(body: bytes, *, is_yaml: bool, what: str) -> Any:
    if is_yaml:
        return _yaml(body, what)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise status.bad_request(
            f"{what}: {_UNKNOWN_KIND}: {_json_words(body, error)} ({_beginning(body)})"
        ) from None


def _json_words(body: bytes, error: orjson.JSONDecodeError) -> str:
    is_cut = not body.strip() or error.pos >= len(body.decode("utf-8", "replace").rstrip())
    return _ENDED if is_cut else str(error)


def _yaml(body: bytes, what: str) -> Any:
    try:
        value = yaml.load(body, Loader=_Loader)  # noqa: S506 - a safe loader without dates
        if _expanded_size(value, {}) > _YAML_VALUES_MAX:
            raise ValueError("yaml: document contains excessive aliasing")
        return orjson.loads(orjson.dumps(value))
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise status.bad_request(f"{what}: error converting YAML to JSON: {error}") from None


_YAML_VALUES_MAX = 2 * BODY_BYTES_MAX  # without aliases, a value takes a byte at least


def _expanded_size(value: Any, known: dict[int, int]) -> int:
    """How many values there are when each alias is written out."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = _YAML_VALUES_MAX  # as long as it is looked at: it may hold itself
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_expanded_size(part, known) for part in parts)
    return known[id(value)]


class _Loader(yaml.CSafeLoader):
    """What YAML and JSON have in common: no dates, they are text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def options_of(body: bytes, content_type: str | None) -> JsonObject:
    """DeleteOptions in a body."""
    if is_protobuf(media_type(content_type)):
        return _of_protobuf(body)
    is_yaml = media_type(content_type) == OBJECT_TYPES[1]
    if not is_yaml and media_type(content_type) != OBJECT_TYPES[0]:
        raise status.unsupported_media_type(OBJECT_TYPES)
    try:
        value = _yaml(body, "options") if is_yaml else orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise status.bad_request(f"{_UNKNOWN_KIND}: {_json_words(body, error)}") from None
    if not isinstance(value, dict):
        raise status.bad_request(_no_kind(value))
    said, version = value.get("kind"), value.get("apiVersion")
    if said not in (None, "", "DeleteOptions"):
        raise status.bad_request(
            f'no kind "{said}" is registered for version "{version}" in scheme'
            ' "pkg/runtime/scheme.go:111"'
        )
    return value


def patch_type_of(content_type: str | None, kind: Kind) -> PatchType:
    """415 for what is no patch."""
    try:
        chosen = PatchType(media_type(content_type))
    except ValueError:
        chosen = None
    if chosen is None:
        raise _no_patch()
    if chosen is PatchType.STRATEGIC and kind.is_custom:
        raise status.unsupported_media_type(
            (PatchType.JSON.value, PatchType.MERGE.value, PatchType.APPLY.value)
        )
    return chosen


def _no_patch() -> ApiStatus:
    return ApiStatus(
        "415: Unsupported Media Type",
        code=415,
        reason="UnsupportedMediaType",
        subject=status.Subject(),
    )


def patch_of(body: bytes, patch_type: PatchType) -> Any:
    """The patch in a body, of the shape that its type has."""
    if patch_type is PatchType.APPLY:
        return _applied(body)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise status.bad_request(f"error decoding patch: {_json_words(body, error)}") from None
    if value is None:
        return _empty_patch(patch_type)
    is_list = patch_type is PatchType.JSON
    expected = list if is_list else dict
    if not isinstance(value, expected):
        shape = "[]handlers.jsonPatchOp" if is_list else "map[string]interface {}"
        head = "" if patch_type is PatchType.STRATEGIC else "error decoding patch: "
        raise status.bad_request(
            f"{head}json: cannot unmarshal {shape_of(value)} into Go value of type {shape}"
        )
    return value


def _empty_patch(patch_type: PatchType) -> Any:
    """A null is no change, but to a merge patch."""
    if patch_type is PatchType.MERGE:
        raise status.bad_request("Invalid JSON Patch")
    return [] if patch_type is PatchType.JSON else {}


def _applied(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _yaml(body, "error decoding YAML")


def shape_of(value: object) -> str:
    """What Go calls a value of JSON."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "number"


def duplicate_fields(body: bytes | None) -> Sequence[str]:
    """Paths that JSON has twice; the last one counts."""
    if not body or body.lstrip()[:1] != b"{":
        return ()
    try:
        value = json.loads(body, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return ()
    return list(_duplicates(value, ""))


class _Pairs:
    """An object with all that was said."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _duplicates(value: object, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{index}]")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, inner in value.pairs:
            where = f"{path}.{name}" if path else name
            if name in seen:
                yield where
            seen.add(name)
            yield from _duplicates(inner, where)
