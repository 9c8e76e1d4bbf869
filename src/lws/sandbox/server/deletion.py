"""Delete: graceful for pods, held up by finalizers, marked for the garbage collector."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lws.base.times import format_time, parse_time
from lws.client.requests import Propagation
from lws.sandbox.server import status
from lws.sandbox.server.definitions import CLEANUP, DEFINITIONS
from lws.sandbox.server.documents import part
from lws.sandbox.server.lifecycle import NAMESPACES, require_mortal
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.verbs import DeleteOptions
from lws.sandbox.server.writes import found
from lws.sandbox.store import Changed, Missing

JsonObject = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_UNCOLLECTED = frozenset(("Event",))  # nothing of theirs is collected, so nothing is marked
_DEFAULT_CHOICE = {  # older than the collector
    "Job": Propagation.ORPHAN,
    "ReplicationController": Propagation.ORPHAN,
}
_JOB_WORDS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to"
    " remove them or set propagationPolicy=Orphan to suppress this warning"
)
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Deleted:
    """The object as the deletion left it, or as it was at its end."""

    object: JsonObject
    is_gone: bool


async def delete(world: World, operation: Operation, options: DeleteOptions) -> Deleted:
    """Ends an object, or begins to."""
    operation.verb = "DELETE"
    for _ in range(_ATTEMPTS):
        old = found(world, operation)
        _require_preconditions(operation, old, options)
        require_mortal(operation)
        await world.admission.mutate(operation, None, old)
        await world.admission.validate(operation, None, old)
        if world.store.get(operation.key) is not old:
            continue
        try:
            return await _deleted(world, operation, old, options)
        except (Changed, Missing):
            continue
    raise status.modified(operation.kind.subject(operation.name))


def _require_preconditions(operation: Operation, old: JsonObject, options: DeleteOptions) -> None:
    metadata = old["metadata"]
    subject = operation.kind.kind_subject(metadata["name"])
    if options.uid and options.uid != metadata["uid"]:
        raise status.conflict(
            subject,
            f"the UID in the precondition ({options.uid}) does not match the UID in record"
            f" ({metadata['uid']}). The object might have been deleted and then recreated",
        )
    asked = options.resource_version
    if asked and asked != metadata["resourceVersion"]:
        raise status.conflict(
            subject,
            f"the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion"
            f" in record ({metadata['resourceVersion']}). The object might have been modified",
        )


async def _deleted(
    world: World, operation: Operation, old: JsonObject, options: DeleteOptions
) -> Deleted:
    if operation.kind.storage == NAMESPACES:
        return await _namespace_deleted(world, operation, old)
    if operation.kind.storage == DEFINITIONS and not old["metadata"].get("deletionTimestamp"):
        return await _definition_deleted(world, operation, old)
    new, is_graceful, is_pending = old, False, False
    if operation.kind.storage == "/pods":
        new, is_graceful, is_pending = _with_grace(world, old, options)
    if is_pending:
        return Deleted(old, is_gone=False)
    new = _with_finalizers(operation, new, options)
    if new["metadata"].get("finalizers"):
        marked = new if is_graceful else _marked(world, new)
        return Deleted(await _put(world, operation, old, marked), is_gone=False)
    if is_graceful and new["metadata"]["deletionGracePeriodSeconds"] > 0:
        return Deleted(await _put(world, operation, old, new), is_gone=False)
    return Deleted(await _end(world, operation, old, new), is_gone=True)


async def _put(world: World, operation: Operation, old: JsonObject, new: JsonObject) -> JsonObject:
    if new is old or new == old or operation.caller.dry_run:
        return new
    stored = world.store.update(operation.key, new, expected=old)
    world.after_write(operation.kind, stored, old)
    await world.store.durable()
    return stored


async def _end(world: World, operation: Operation, old: JsonObject, last: JsonObject) -> JsonObject:
    """A pod's end is written down before it comes, as its watchers see it on a real cluster."""
    if operation.caller.dry_run:
        return last
    if last is not old:
        last = world.store.update(operation.key, last, expected=old)
        world.after_write(operation.kind, last, old)
    gone = world.store.delete(operation.key, expected=last)
    world.after_write(operation.kind, None, last)
    await world.store.durable()
    return gone


def _with_grace(
    world: World, pod: JsonObject, options: DeleteOptions
) -> tuple[JsonObject, bool, bool]:
    """The pod with the time of its end, whether that is news, and whether it was known."""
    metadata = pod["metadata"]
    asked = options.grace_period_seconds
    if metadata.get("deletionTimestamp"):
        return _with_shorter_grace(world, pod, asked)
    seconds = asked if asked is not None else part(pod, "spec", "terminationGracePeriodSeconds")
    is_over = part(pod, "status", "phase") in ("Failed", "Succeeded")
    if is_over or not part(pod, "spec", "nodeName"):
        seconds = 0
    seconds = 1 if (seconds or 0) < 0 else seconds or 0
    fields = {
        "deletionTimestamp": format_time(world.clock.now() + seconds),
        "deletionGracePeriodSeconds": seconds,
    }
    if metadata.get("generation"):
        fields["generation"] = metadata["generation"] + 1
    return {**pod, "metadata": {**metadata, **fields}}, True, False


def _with_shorter_grace(
    world: World, pod: JsonObject, asked: int | None
) -> tuple[JsonObject, bool, bool]:
    metadata = pod["metadata"]
    present = metadata.get("deletionGracePeriodSeconds") or 0
    if not present:
        return pod, False, False
    if asked is None or asked >= present:
        return pod, False, True
    seconds = 1 if asked < 0 else asked
    now = world.clock.now()
    end = parse_time(metadata["deletionTimestamp"]) - present + seconds
    if end < now:
        end, seconds = now, min(seconds, 1)
    fields = {"deletionTimestamp": format_time(end), "deletionGracePeriodSeconds": seconds}
    return {**pod, "metadata": {**metadata, **fields}}, True, False


def _with_finalizers(operation: Operation, obj: JsonObject, options: DeleteOptions) -> JsonObject:
    """With the garbage collector's finalizer that the propagation asks for."""
    if operation.kind.resource.kind in _UNCOLLECTED:
        return obj
    present: Sequence[str] = obj["metadata"].get("finalizers") or ()
    wanted = [one for one in present if one not in (ORPHAN, FOREGROUND)]
    choice = options.propagation
    if choice is None and operation.kind.storage == "batch/jobs":
        operation.warn(_JOB_WORDS)
    if choice is None and not set(present) & {ORPHAN, FOREGROUND}:
        choice = _DEFAULT_CHOICE.get(operation.kind.resource.kind)
    if choice is None:
        wanted += [one for one in present if one in (ORPHAN, FOREGROUND)][:1]
    elif choice is Propagation.ORPHAN:
        wanted.append(ORPHAN)
    elif choice is Propagation.FOREGROUND:
        wanted.append(FOREGROUND)
    if set(wanted) == set(present):
        return obj
    metadata = {key: value for key, value in obj["metadata"].items() if key != "finalizers"}
    if wanted:
        metadata["finalizers"] = wanted
    return {**obj, "metadata": metadata}


def _marked(world: World, obj: JsonObject) -> JsonObject:
    """On its way out, but for its finalizers."""
    metadata = dict(obj["metadata"])
    now = world.clock.now()
    present = metadata.get("deletionTimestamp")
    if present is None and metadata.get("generation"):
        metadata["generation"] += 1
    if present is None or parse_time(present) > now:
        metadata["deletionTimestamp"] = format_time(now)
    metadata["deletionGracePeriodSeconds"] = 0
    return {**obj, "metadata": metadata}


async def _namespace_deleted(world: World, operation: Operation, old: JsonObject) -> Deleted:
    """A namespace first turns away what is new; it is emptied, then it goes."""
    if not part(old, "spec", "finalizers") and not old["metadata"].get("finalizers"):
        return Deleted(await _end(world, operation, old, old), is_gone=True)
    if old["metadata"].get("deletionTimestamp"):
        return Deleted(old, is_gone=False)
    metadata = {**old["metadata"], "deletionTimestamp": format_time(world.clock.now())}
    phase = {**(old.get("status") or {}), "phase": "Terminating"}
    new = {**old, "metadata": metadata, "status": phase}
    return Deleted(await _put(world, operation, old, new), is_gone=False)


async def _definition_deleted(world: World, operation: Operation, old: JsonObject) -> Deleted:
    """A definition waits for its objects; its status says so."""
    now = format_time(world.clock.now())
    finalizers = old["metadata"].get("finalizers") or []
    if CLEANUP not in finalizers:
        finalizers = [*finalizers, CLEANUP]
    condition = {
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will"
        " begin soon",
    }
    shown = old.get("status") or {}
    conditions = [*(shown.get("conditions") or ()), condition]
    metadata = {**old["metadata"], "deletionTimestamp": now, "finalizers": finalizers}
    new = {**old, "metadata": metadata, "status": {**shown, "conditions": conditions}}
    return Deleted(await _put(world, operation, old, new), is_gone=False)


async def delete_all(
    world: World, operation: Operation, objects: Sequence[JsonObject], options: DeleteOptions
) -> list[JsonObject]:
    """Each of the objects, one by one; those that went by themselves are left out."""
    done = []
    for obj in objects:
        metadata = obj["metadata"]
        one = replace(operation, namespace=metadata.get("namespace", ""), name=metadata["name"])
        try:
            done.append((await delete(world, one, options)).object)
        except status.ApiStatus as refusal:
            if refusal.code != 404:
                raise
    return done
