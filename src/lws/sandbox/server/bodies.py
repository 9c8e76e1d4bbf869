"""From a body to an object of its kind: what it says it is, types, unknown fields, defaults."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from lws.base.errors import LwsError
from lws.sandbox.schema.builtin import defaulted, validated
from lws.sandbox.schema.errors import DecodeError, FieldError, UnsupportedError
from lws.sandbox.schema.structural import apply_defaults, prune, validate
from lws.sandbox.schema.unknown import unknown_fields
from lws.sandbox.server import names
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation
from lws.sandbox.server.status import (
    ApiStatus,
    Cause,
    Subject,
    bad_request,
    invalid,
    not_implemented,
)

JsonObject = dict[str, Any]

_SHOWN_CHARACTERS = 30


def require_kind(kind: Kind, obj: JsonObject) -> None:
    """Fills in apiVersion and kind of a built-in kind; 400 if they say something else."""
    resource = kind.resource
    if kind.is_custom:
        _require_custom_kind(kind, obj)
        return
    api_version = obj.get("apiVersion") or resource.api_version
    said = obj.get("kind") or resource.kind
    if (api_version, said) != (resource.api_version, resource.kind):
        raise _other_kind(kind, str(api_version), str(said))
    obj["apiVersion"], obj["kind"] = api_version, said


def _require_custom_kind(kind: Kind, obj: JsonObject) -> None:
    """An object of a custom kind has to say what it is."""
    resource = kind.resource
    said, api_version = obj.get("kind"), obj.get("apiVersion") or ""
    if not said:
        shown = orjson.dumps(obj).decode()
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): Object 'Kind'"
            f" is missing in '{shown}' ({shown[:_SHOWN_CHARACTERS]} ...)"
        )
    if api_version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version"
            f" ({resource.api_version})"
        )
    if said != resource.kind:
        causes = names.invalid_causes("kind", said, [f"must be {resource.kind}"])
        metadata = obj.get("metadata")
        name = metadata.get("name") or "" if isinstance(metadata, dict) else ""
        raise invalid(Subject(resource.group, str(said), str(name)), causes)


def _other_kind(kind: Kind, api_version: str, said: str) -> ApiStatus:
    resource = kind.resource
    version = api_version.rpartition("/")[2]
    if said == resource.kind:
        return bad_request(
            f'{said} in version "{version}" cannot be handled as a {said}: no kind "{said}" is'
            f' registered for version "{api_version}" in scheme "pkg/runtime/scheme.go:111"'
        )
    package = resource.group.partition(".")[0] or "core"
    return bad_request(
        f'{said} in version "{version}" cannot be handled as a {resource.kind}: converting'
        f" ({version}.{said}) to ({package}.{resource.kind}): unknown conversion"
    )


class Unfit(LwsError):
    """The object does not fit the types of its kind, or has fields that a strict client forbids."""


def typed(operation: Operation, obj: JsonObject) -> JsonObject:
    """The object with the kind's fields alone, and defaults; 400 if its types do not fit.

    Unknown fields are dropped; Strict makes them an error, Warn a warning.
    """
    require_kind(operation.kind, obj)
    try:
        return fitted(operation, obj)
    except Unfit as error:
        raise _cannot_handle(operation.kind, str(error)) from error


def typed_patched(operation: Operation, obj: JsonObject) -> JsonObject:
    """`typed` of what a patch made; 422 with all of it if its types do not fit."""
    try:
        _require_patched_kind(operation.kind, obj)
        return fitted(operation, obj)
    except Unfit as error:
        shown = _as_patched(operation.kind, obj)
        message = f"Invalid value: {names.shown(shown)}: {error}"
        raise invalid(Subject(), [Cause("FieldValueInvalid", message, "patch")]) from error


def _require_patched_kind(kind: Kind, obj: JsonObject) -> None:
    """A patch must not make another kind of it."""
    try:
        require_kind(kind, obj)
    except ApiStatus as refusal:
        if kind.is_custom:
            raise
        raise Unfit(refusal.message) from refusal


def _as_patched(kind: Kind, obj: JsonObject) -> str:
    """The whole object in one line, its names sorted as deep as the real server sorts them."""
    if kind.is_custom:
        return orjson.dumps(obj, option=orjson.OPT_SORT_KEYS).decode()
    return orjson.dumps({name: obj[name] for name in sorted(obj)}).decode()


def fitted(operation: Operation, obj: JsonObject) -> JsonObject:
    """`typed`, but `Unfit` for what does not fit."""
    try:
        made, unknown = (_pruned if operation.kind.is_custom else _decoded)(operation, obj)
    except DecodeError as error:
        raise Unfit(str(error)) from error
    except UnsupportedError as error:
        raise not_implemented(error.what) from error
    complaints = [f'unknown field "{path}"' for path in unknown]
    complaints += [f'duplicate field "{path}"' for path in operation.duplicates]
    _judge(operation, complaints)
    return made


def with_defaults(kind: Kind, obj: JsonObject) -> JsonObject:
    """The object with what the kind fills in."""
    if kind.is_custom:
        return apply_defaults(obj, kind.schema)
    resource = kind.resource
    made = defaulted(resource.group, resource.version, resource.kind, obj)
    if kind.storage == "/pods":
        _list_address(made)
    elif kind.storage == "/secrets":
        _fold_plain_data(made)
    return made


def _fold_plain_data(secret: JsonObject) -> None:
    """What a secret says in plain text is kept as the rest is."""
    plain = secret.pop("stringData", None)
    if plain:
        coded = {key: b64encode(value.encode()).decode() for key, value in plain.items()}
        secret["data"] = {**(secret.get("data") or {}), **coded}


def _list_address(pod: JsonObject) -> None:
    """A pod with one address has a list of one."""
    status = pod.get("status") or {}
    if status.get("podIP") and not status.get("podIPs"):
        pod["status"] = {**status, "podIPs": [{"ip": status["podIP"]}]}


def _pruned(operation: Operation, obj: JsonObject) -> tuple[JsonObject, Sequence[str]]:
    schema = operation.kind.schema
    fitting, unknown = prune(obj, schema)
    return apply_defaults(fitting, schema), unknown


def _decoded(operation: Operation, obj: JsonObject) -> tuple[JsonObject, Sequence[str]]:
    kind = operation.kind
    is_ignored = operation.caller.field_validation == "Ignore"
    unknown = () if is_ignored else unknown_fields(obj, kind.schema)
    return with_defaults(kind, obj), unknown


def _cannot_handle(kind: Kind, why: str) -> ApiStatus:
    resource = kind.resource
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a'
        f" {resource.kind}: {why}"
    )


def _judge(operation: Operation, complaints: Sequence[str]) -> None:
    if not complaints or operation.caller.field_validation == "Ignore":
        return
    if operation.caller.field_validation == "Warn":
        for text in complaints:
            operation.warn(text)
        return
    raise Unfit(f"strict decoding error: {', '.join(complaints)}")


def object_problems(kind: Kind, obj: JsonObject, old: JsonObject | None) -> list[Cause]:
    """What is wrong with an object, metadata aside."""
    resource = kind.resource
    errors: Sequence[FieldError]
    try:
        if kind.is_custom:
            errors = validate(obj, kind.schema, old)
        else:
            errors = validated(resource.group, resource.version, resource.kind, obj, old)
    except UnsupportedError as error:
        raise not_implemented(error.what) from error
    causes = [Cause(one.reason, one.message, one.field) for one in errors]
    if kind.is_custom and kind.scale is not None:
        causes += _scale_problems(kind.scale.replicas, obj)
    return causes


def _scale_problems(path: tuple[str, ...], obj: JsonObject) -> list[Cause]:
    """What can be scaled must have a number of replicas, if it has any."""
    replicas, field = part(obj, *path), "." + ".".join(path)
    if replicas is None:
        return []
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        kind = {str: "string", bool: "bool", float: "float64"}.get(type(replicas), "object")
        shown = replicas if isinstance(replicas, str) else names.shown(replicas)
        problem = f"{field} accessor error: {shown} is of the type {kind}, expected int64"
        return names.invalid_causes(field, 0, [problem])
    if replicas < 0:
        return names.invalid_causes(field, replicas, ["should be a non-negative integer"])
    return []


def own_fields(obj: Mapping[str, Any]) -> JsonObject:
    """The object but for apiVersion and kind."""
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
