"""Metadata: what the server fills in, what it lets nobody change, what is valid."""

from collections.abc import Iterator, Mapping
from typing import Any

from lws.base.clock import Clock
from lws.sandbox.server import names
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.names import invalid_causes
from lws.sandbox.server.status import Cause

JsonObject = dict[str, Any]

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no words
_SUFFIX_LENGTH = 5
_GENERATED_MAX = 63
_ANNOTATIONS_BYTES_MAX = 256 << 10
_STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))
_FIXED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_FILLED_IN = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


def new_uid(clock: Clock) -> str:
    """A random UUID (version 4), by the clock's dice."""
    digits = "".join(f"{int(clock.random() * 2**32):08x}" for _ in range(4))
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def generated_name(prefix: str, clock: Clock) -> str:
    """A name for generateName."""
    kept = prefix[: _GENERATED_MAX - _SUFFIX_LENGTH]
    suffix = (_SUFFIX[int(clock.random() * len(_SUFFIX))] for _ in range(_SUFFIX_LENGTH))
    return kept + "".join(suffix)


def without_server_fields(metadata: Mapping[str, Any]) -> JsonObject:
    """What a client may say about an object that is to be made."""
    return {name: value for name, value in metadata.items() if name not in _FILLED_IN}


def carried_over(new: JsonObject, old: Mapping[str, Any]) -> None:
    """Puts into new metadata what only the server sets."""
    for name in ("generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)
    for name in ("uid", "creationTimestamp"):
        if not new.get(name):
            new[name] = old.get(name)


def creation_problems(kind: Kind, metadata: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata of a new object."""
    rule = names.rule_of(kind.resource.kind, is_custom=kind.is_custom)
    prefix, name = metadata.get("generateName"), metadata.get("name")
    if prefix:  # what is generated ends well, whatever the prefix ends with
        masked = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        yield from invalid_causes("metadata.generateName", prefix, rule(masked))
    if not name:
        yield Cause(
            "FieldValueRequired",
            "Required value: name or generateName is required",
            "metadata.name",
        )
    else:
        yield from invalid_causes("metadata.name", name, rule(name))
    yield from _common_problems(metadata)
    yield from _finalizer_problems(kind, metadata.get("finalizers") or ())


def update_problems(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata that an update asks for."""
    if old.get("deletionTimestamp"):
        yield from _new_finalizer_problems(new, old)
    for name in _FIXED:
        if new.get(name) != old.get(name):
            yield from invalid_causes(f"metadata.{name}", new.get(name), ["field is immutable"])
    yield from _common_problems(new)


def _new_finalizer_problems(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Cause]:
    added = [one for one in new.get("finalizers") or () if one not in (old.get("finalizers") or ())]
    if added:
        listed = " ".join(f'"{one}"' for one in added).replace('" "', '", "')
        yield Cause(
            "FieldValueForbidden",
            "Forbidden: no new finalizers can be added if the object is being deleted, found new"
            f" finalizers []string{{{listed}}}",
            "metadata.finalizers",
        )


def _common_problems(metadata: Mapping[str, Any]) -> Iterator[Cause]:
    for key, value in sorted((metadata.get("labels") or {}).items()):
        yield from invalid_causes("metadata.labels", key, names.qualified_problems(key))
        yield from invalid_causes("metadata.labels", value, names.label_value_problems(value))
    annotations = metadata.get("annotations") or {}
    for key in sorted(annotations):
        problems = names.qualified_problems(key.lower())
        yield from invalid_causes("metadata.annotations", key, problems)
    if sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items()) > (
        _ANNOTATIONS_BYTES_MAX
    ):
        yield Cause(
            "FieldValueTooLong",
            f"Too long: may not be more than {_ANNOTATIONS_BYTES_MAX} bytes",
            "metadata.annotations",
        )
    yield from _owner_problems(metadata.get("ownerReferences") or ())


def _owner_problems(owners: Any) -> Iterator[Cause]:
    controller = ""
    for owner in owners:
        if not str(owner.get("apiVersion") or "").rpartition("/")[2]:
            yield from _owner_cause("apiVersion", owner, "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                yield from _owner_cause(name, owner, "must not be empty")
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            yield from invalid_causes(
                "metadata.ownerReferences",
                "Event",
                ["/v1, Kind=Event is disallowed from being an owner"],
            )
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                yield from _second_controller(owners, controller, this)
            controller = controller or this


def _owner_cause(name: str, owner: Mapping[str, Any], problem: str) -> Iterator[Cause]:
    field = f"metadata.ownerReferences.{name}"
    yield from invalid_causes(field, owner.get(name) or "", [problem])


def _second_controller(owners: Any, first: str, second: str) -> Iterator[Cause]:
    problem = (
        'Only one reference can have Controller set to true. Found "true" in references for'
        f" {first} and {second}"
    )
    yield Cause(
        "FieldValueInvalid",
        f"Invalid value: {owner_words(owners)}: {problem}",
        "metadata.ownerReferences",
    )


def owner_words(owners: Any) -> str:
    """Owner references in a message; the real server prints its own structs here."""
    return ", ".join(f"{owner.get('kind')}/{owner.get('name')}" for owner in owners)


def _finalizer_problems(kind: Kind, finalizers: Any) -> Iterator[Cause]:
    for one in finalizers:
        yield from invalid_causes("metadata.finalizers", one, names.qualified_problems(one))
    for index, one in enumerate(finalizers):
        if not kind.is_custom and "/" not in one and one not in _STANDARD_FINALIZERS:
            problem = "name is neither a standard finalizer name nor is it fully qualified"
            yield from invalid_causes(f"metadata.finalizers[{index}]", one, [problem])
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield Cause(
            "FieldValueInvalid",
            "Invalid value: "
            f"{list(finalizers)}: finalizer orphan and foregroundDeletion cannot be both set",
            "metadata.finalizers",
        )
