"""The four ways to patch, on one object."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lws.client.requests import PatchType
from lws.sandbox.patch import (
    ApplyConflict,
    PatchError,
    json_patch,
    merge_patch,
    strategic_merge_patch,
)
from lws.sandbox.server import parsing, status, subresources, writes
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.documents import copied
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import ApiStatus, Cause

JsonObject = dict[str, Any]


async def patch(world: World, operation: Operation, body: Any, patch_type: PatchType) -> JsonObject:
    """JSON patch, merge patch, strategic merge patch."""
    kind = operation.kind
    if patch_type is PatchType.STRATEGIC and kind.is_custom:
        raise status.unsupported_media_type(
            (PatchType.JSON.value, PatchType.MERGE.value, PatchType.APPLY.value)
        )
    if operation.subresource == "scale":
        return await _patch_scale(world, operation, body, patch_type)
    expected = ""

    def change(old: JsonObject) -> JsonObject:
        new = copied(_patched(kind, old, body, patch_type))
        _require_version(operation, new, old)
        return writes.managed(world, operation, old=old, new=new)

    return await writes.update(world, operation, change, expected=expected)


def _require_version(operation: Operation, new: JsonObject, old: JsonObject) -> None:
    """A patch that sets resourceVersion is a compare-and-swap."""
    metadata = new.get("metadata")
    if not isinstance(metadata, dict):
        new["metadata"] = metadata = {}
    asked = status.checked_version(metadata.get("resourceVersion"))
    if asked and asked != old["metadata"]["resourceVersion"]:
        raise status.modified(operation.kind.subject(operation.name))


async def _patch_scale(
    world: World, operation: Operation, body: Any, patch_type: PatchType
) -> JsonObject:
    present = from_stored(operation.kind, writes.found(world, operation))
    old = subresources.scale_of(operation.kind, present)
    if patch_type is PatchType.STRATEGIC:
        patch_type = PatchType.MERGE  # a scale has no lists
    new = copied(_patched(operation.kind, old, body, patch_type))
    return await subresources.set_scale(world, operation, new)


def _patched(kind: Kind, old: JsonObject, body: Any, patch_type: PatchType) -> JsonObject:
    patchers: dict[PatchType, Callable[[], Any]] = {
        PatchType.JSON: lambda: json_patch(old, body),
        PatchType.MERGE: lambda: merge_patch(old, body),
        PatchType.STRATEGIC: lambda: strategic_merge_patch(old, body, kind.schema),
    }
    new = patchers[patch_type]()
    if not isinstance(new, dict):
        raise PatchError("the patched object is no object", 422)
    return new


async def apply(
    world: World, operation: Operation, body: JsonObject, *, force: bool
) -> tuple[JsonObject, bool]:
    """Server-side apply; makes the object if there is none, and says whether it did."""
    _require_applicable(operation, body, is_there=world.store.get(operation.key) is not None)
    try:
        if operation.subresource == "scale":
            writes.found(world, operation)
            scale = await subresources.apply_scale(world, operation, body, force=force)
            return scale, False
        if world.store.get(operation.key) is None:
            return await _apply_new(world, operation, body), True

        def change(old: JsonObject) -> JsonObject:
            _require_same(operation, body, old)
            return writes.applied_object(world, operation, old, body, force=force)

        return await writes.update(world, operation, change), False
    except ApplyConflict as conflict:
        raise _conflicting(conflict) from conflict


async def _apply_new(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    if operation.subresource:
        raise status.not_found(operation.kind.subject(operation.name))
    if body["metadata"].get("uid"):
        raise status.conflict(
            operation.kind.subject(operation.name),
            "uid mismatch: the provided object specified uid"
            f" {body['metadata']['uid']}, and no existing object was found",
        )
    made = writes.applied_object(world, operation, None, body, force=True)
    asked = replace(operation, is_by_update=True)
    return await writes.create(world, asked, made, is_managed=True)


def _require_same(operation: Operation, body: JsonObject, old: JsonObject) -> None:
    metadata, present = body["metadata"], old["metadata"]
    asked = status.checked_version(metadata.get("resourceVersion"))
    if asked and asked != present["resourceVersion"]:
        raise status.modified(operation.kind.subject(operation.name))
    if metadata.get("uid") not in (None, "", present["uid"]):
        raise status.conflict(
            operation.kind.subject(operation.name),
            f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta:"
            f" {present['uid']}",
        )


def _require_applicable(operation: Operation, body: Any, *, is_there: bool) -> None:
    """400 for a body that names nothing, or something else; what is there need not be named."""
    if body is None:
        raise status.bad_request("invalid object type: /, Kind=")
    if not isinstance(body, dict):
        shape = parsing.shape_of(body)
        raise status.bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot"
            f" unmarshal {shape} into Go value of type map[string]interface {{}}"
        )
    resource = operation.kind.resource
    said = (body.get("apiVersion") or "", body.get("kind") or "")
    expected = (resource.api_version, resource.kind)
    if operation.subresource == "scale":
        expected = ("autoscaling/v1", "Scale")
    if said != expected:
        group, _, version = str(said[0]).rpartition("/")
        shown = f"{group}/{version}, Kind={said[1]}"
        raise status.bad_request(f"invalid object type: {shown}")
    metadata = body.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise status.bad_request("metadata is no object")
    if metadata.get("managedFields"):
        raise status.bad_request("metadata.managedFields must be nil")
    if is_there:
        metadata.setdefault("name", operation.name)
    writes.require_place(operation, {"metadata": dict(metadata)})


def _conflicting(conflict: ApplyConflict) -> ApiStatus:
    causes = [Cause("FieldManagerConflict", one.message, one.path) for one in conflict.conflicts]
    return ApiStatus(
        conflict.message, code=409, reason="Conflict", subject=status.Subject(), causes=causes
    )


def refusal(error: PatchError) -> ApiStatus:
    """A patch that does not fit, as the client is told."""
    subject = status.Subject() if error.code == 422 else None
    return ApiStatus(error.message, code=error.code, reason=error.reason, subject=subject)
