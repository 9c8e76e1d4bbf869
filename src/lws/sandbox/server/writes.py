"""Create and update: the road of an object from a body into the store."""

from collections.abc import Awaitable, Callable
from typing import Any

from lws.base.times import format_time
from lws.sandbox.patch.managed import applied, updated
from lws.sandbox.server import metadata as meta
from lws.sandbox.server import status
from lws.sandbox.server.allocation import allocate
from lws.sandbox.server.authorization.escalation import require_creation, require_no_escalation
from lws.sandbox.server.bodies import object_problems, typed, typed_patched, with_defaults
from lws.sandbox.server.conversions import from_stored, to_stored
from lws.sandbox.server.documents import copied, in_order, is_unchanged, sharing
from lws.sandbox.server.intake import admit_builtin, resets_of
from lws.sandbox.server.lifecycle import require_namespace
from lws.sandbox.server.names import shown
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import Cause
from lws.sandbox.server.strategies import (
    prepare_creation,
    prepare_status_update,
    prepare_update,
)
from lws.sandbox.store import Changed, Exists, Missing

JsonObject = dict[str, Any]
Change = Callable[[JsonObject], Awaitable[JsonObject] | JsonObject]
"""From the object that is there to the one that is wanted, decoded and with managedFields."""

_ATTEMPTS = 5  # of a write without resourceVersion, when somebody else is faster
_NAME_ATTEMPTS = 8


async def create(
    world: World, operation: Operation, body: JsonObject, *, is_managed: bool = False
) -> JsonObject:
    """A new object, as it is stored.

    `is_managed`: the body is what apply made; it has its managedFields.
    """
    operation.verb = "CREATE"
    obj = body if is_managed else _decoded(world, operation, body)
    _place(operation, obj)
    operation.name = obj["metadata"].get("name") or ""
    if not is_managed:
        obj = _managed(world, operation, old=None, new=obj)
    require_namespace(world, operation, obj)
    obj = await _mutated(world, operation, obj, None)
    admit_builtin(world, operation, obj)
    require_no_escalation(world, operation, obj, None)
    _fill_in(world, operation, obj)
    prepare_creation(operation.kind, obj, obj["metadata"]["creationTimestamp"])
    allocate(world, operation.kind, obj, None)
    _require_valid(operation, obj, None)
    if operation.is_by_update:
        require_creation(world, operation)
    await world.admission.validate(operation, obj, None)
    if operation.caller.dry_run:
        return _dry_created(world, operation, obj)
    require_namespace(world, operation, obj)  # it may have gone while webhooks were asked
    try:
        stored = world.store.create(operation.key, to_stored(operation.kind, in_order(obj)))
    except Exists:
        raise status.already_exists(operation.kind.subject(operation.name)) from None
    world.after_write(operation.kind, stored, None)
    await world.store.durable()
    return from_stored(operation.kind, stored)


async def update(
    world: World,
    operation: Operation,
    change: Change,
    *,
    expected: str = "",
) -> JsonObject:
    """Another object in the place of one that is there.

    `change` makes it from the present one, again if somebody else was faster. `expected`: the
    resourceVersion that the writer saw; then faster means refused.
    """
    operation.verb = "UPDATE"
    for _ in range(_ATTEMPTS):
        stored = found(world, operation)
        old = from_stored(operation.kind, stored)
        if expected and expected != old["metadata"]["resourceVersion"]:
            raise status.modified(operation.kind.subject(operation.name))
        made = change(old)
        new = made if isinstance(made, dict) else await made
        try:
            done = await _replaced(world, operation, old, new, stored=stored)
            return from_stored(operation.kind, done) if done is not new else new
        except Changed:
            continue
        except Missing:
            break
    if world.store.get(operation.key) is None:
        raise status.not_found(operation.kind.subject(operation.name))
    raise status.modified(operation.kind.subject(operation.name))


def found(world: World, operation: Operation) -> JsonObject:
    """The object that is there; 404 if none is."""
    obj = world.store.get(operation.key)
    if obj is None:
        raise status.not_found(operation.kind.subject(operation.name))
    return obj


def replacement(world: World, operation: Operation, body: JsonObject) -> Change:
    """For `update`: what a PUT asks for."""
    new = _decoded(world, operation, body)
    require_place(operation, new)

    def change(old: JsonObject) -> JsonObject:
        _require_uid(operation, new, old)
        return _managed(world, operation, old=old, new=copied(new))

    return change


def managed(world: World, operation: Operation, *, old: JsonObject, new: JsonObject) -> JsonObject:
    """For `update`: a patched object, decoded, with managedFields."""
    typed_object = typed_patched(operation, new)
    require_place(operation, typed_object)
    if typed_object["metadata"].get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
        said = typed_object["metadata"]["uid"]
        problem = f"Invalid value: {shown(said)}: field is immutable"
        causes = [Cause("FieldValueInvalid", problem, "metadata.uid")]
        raise status.invalid(operation.kind.kind_subject(operation.name), causes * 2)
    return _managed(world, operation, old=old, new=typed_object)


def applied_object(
    world: World, operation: Operation, live: JsonObject | None, body: JsonObject, *, force: bool
) -> JsonObject:
    """What server-side apply makes of the live object, with defaults and managedFields."""
    kind = operation.kind
    made = applied(
        live=live,
        applied=body,
        schema=kind.schema,
        manager=operation.caller.field_manager,
        api_version=kind.resource.api_version,
        subresource=operation.subresource,
        now=world.clock.now(),
        force=force,
        reset=resets_of(kind, operation.subresource),
    )
    return with_defaults(kind, copied(made))


def asked(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    """A question, decoded; it is not stored, but says who asked, as stored objects do."""
    operation.verb = "CREATE"
    obj = _decoded(world, operation, body)
    return _managed(world, operation, old=None, new=obj)


def version_missing(operation: Operation) -> status.ApiStatus:
    """422: objects of this kind are not replaced blindly."""
    cause = Cause(
        "FieldValueInvalid",
        "Invalid value: 0: must be specified for an update",
        "metadata.resourceVersion",
    )
    return status.invalid(operation.kind.subject(operation.name), [cause])


def _decoded(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    del world
    obj = typed(operation, body)
    obj.setdefault("metadata", {})
    return obj


def _managed(
    world: World, operation: Operation, *, old: JsonObject | None, new: JsonObject
) -> JsonObject:
    kind = operation.kind
    return copied(
        updated(
            old=old,
            new=new,
            schema=kind.schema,
            manager=operation.caller.field_manager,
            api_version=kind.resource.api_version,
            subresource=operation.subresource,
            now=world.clock.now(),
            reset=resets_of(kind, operation.subresource),
        )
    )


def _place(operation: Operation, obj: JsonObject) -> None:
    """The namespace of the path is that of the object."""
    metadata = obj["metadata"]
    if metadata.get("resourceVersion"):
        raise status.ApiStatus(
            "resourceVersion should not be set on objects to be created", code=500
        )
    _place_in_namespace(operation, metadata)
    obj["metadata"] = meta.without_server_fields(metadata)


def _place_in_namespace(operation: Operation, metadata: JsonObject) -> None:
    said = metadata.get("namespace") or operation.namespace
    if operation.kind.resource.namespaced:
        if said != operation.namespace:
            raise status.bad_request(
                "the namespace of the provided object does not match the namespace sent on the"
                " request"
            )
        metadata["namespace"] = said
    else:
        metadata.pop("namespace", None)


def require_place(operation: Operation, obj: JsonObject) -> None:
    """400 if the object says that it is elsewhere than the path."""
    metadata = obj.setdefault("metadata", {})
    name = metadata.get("name")
    if not name:
        raise status.bad_request(
            f"the name of the object ({operation.name} based on URL) was undeterminable: name must"
            " be provided"
        )
    if name != operation.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({operation.name})"
        )
    _place_in_namespace(operation, metadata)


def _require_uid(operation: Operation, new: JsonObject, old: JsonObject) -> None:
    asked, present = new["metadata"].get("uid"), old["metadata"]["uid"]
    if asked and asked != present:
        key = operation.key
        where = "/".join(
            part for part in (key.resource.strip("/"), key.namespace, key.name) if part
        )
        raise status.conflict(
            operation.kind.subject(operation.name),
            f"StorageError: invalid object, Code: 4, Key: /registry/{where}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, UID in"
            f" object meta: {present}",
        )


async def _mutated(
    world: World, operation: Operation, obj: JsonObject, old: JsonObject | None
) -> JsonObject:
    """What webhooks make of it, fit for the kind again."""
    if not operation.is_asked:
        return obj
    mutated = await world.admission.mutate(operation, obj, old)
    assert mutated is not None, "only a deletion has no object"
    if mutated is obj:
        return obj
    return copied(typed(operation, mutated))


def _fill_in(world: World, operation: Operation, obj: JsonObject) -> None:
    metadata = obj["metadata"]
    prefix = metadata.get("generateName")
    if prefix and not metadata.get("name"):
        for _ in range(_NAME_ATTEMPTS):
            operation.name = meta.generated_name(prefix, world.clock)
            if world.store.get(operation.key) is None:
                break
        metadata["name"] = operation.name
    operation.name = metadata.get("name") or ""
    metadata["uid"] = meta.new_uid(world.clock)
    metadata["creationTimestamp"] = format_time(world.clock.now())


def _require_valid(operation: Operation, obj: JsonObject, old: JsonObject | None) -> None:
    causes: list[Cause]
    kind = operation.kind
    if old is None:
        causes = list(meta.creation_problems(kind, obj["metadata"]))
    else:
        causes = list(meta.update_problems(obj["metadata"], old["metadata"]))
        causes *= 2  # the real server checks metadata twice, and says so
    causes += object_problems(kind, obj, old)
    if causes:
        raise status.invalid(kind.kind_subject(obj["metadata"].get("name") or ""), causes)


def _dry_created(world: World, operation: Operation, obj: JsonObject) -> JsonObject:
    if world.store.get(operation.key) is not None:
        raise status.already_exists(operation.kind.subject(operation.name))
    return obj


async def _replaced(
    world: World, operation: Operation, old: JsonObject, new: JsonObject, *, stored: JsonObject
) -> JsonObject:
    """The rest of the road of an update; `Changed` if the old object is not there any more."""
    kind = operation.kind
    new = await _mutated(world, operation, new, old)
    require_no_escalation(world, operation, new, old)
    meta.carried_over(new["metadata"], old["metadata"])
    if operation.subresource == "status":
        prepare_status_update(kind, new, old)
    else:
        prepare_update(kind, new, old)
        allocate(world, kind, new, old)
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    _require_valid(operation, new, old)
    if operation.is_asked:
        await world.admission.validate(operation, new, old)
    if is_unchanged(new, old):
        return stored
    if operation.caller.dry_run:
        return new
    if _is_over(new):
        world.store.delete(operation.key, expected=stored)
        world.after_write(kind, None, stored)
        await world.store.durable()
        return new
    put = world.store.update(
        operation.key, to_stored(kind, in_order(sharing(new, old))), expected=stored
    )
    world.after_write(kind, put, stored)
    await world.store.durable()
    return put


def _is_over(obj: JsonObject) -> bool:
    """Has the last finalizer of an object that was to go gone?"""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    if obj["kind"] == "Namespace" and obj["apiVersion"] == "v1" and obj["spec"].get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")
