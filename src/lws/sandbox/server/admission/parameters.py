"""The objects that a policy is told to go by: `paramKind` and `paramRef`."""

from collections.abc import Mapping, Sequence
from typing import Any

from lws.base.errors import LwsError
from lws.sandbox.server.conversions import from_stored
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import World
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.store import Key

JsonObject = dict[str, Any]


class ConfigurationError(LwsError):
    """A policy or its binding cannot be used as it is."""


def parameter_kind(world: World, policy: JsonObject) -> Kind | None:
    """The kind of its parameters; None if it has none."""
    said = policy["spec"].get("paramKind")
    if said is None:
        return None
    kind = world.registry.find_kind(said["apiVersion"], said["kind"])
    if kind is None:
        raise ConfigurationError(
            "failed to configure policy: failed to find resource referenced by paramKind:"
            f" '{said['apiVersion']}, Kind={said['kind']}'"
        )
    return kind


def parameters_of(
    world: World, kind: Kind | None, binding: JsonObject, namespace: str
) -> Sequence[JsonObject | None]:
    """Each is a judgement of its own; None is one without parameters."""
    reference = binding["spec"].get("paramRef")
    if kind is None or reference is None:
        return (None,)
    where = _namespace(kind, reference, namespace)
    found = [from_stored(kind, obj) for obj in _found(world, kind, reference, where)]
    if found:
        return found
    if reference.get("parameterNotFoundAction") == "Allow":
        return (None,)
    raise _unusable("no params found for policy binding with `Deny` parameterNotFoundAction")


def _unusable(why: str) -> ConfigurationError:
    return ConfigurationError(f"failed to configure binding: {why}")


def _namespace(kind: Kind, reference: Mapping[str, Any], namespace: str) -> str:
    said = str(reference.get("namespace") or "")
    if not kind.resource.namespaced:
        if said:
            raise _unusable(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        return ""
    if not said and not namespace:
        raise _unusable(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    return said or namespace


def _found(
    world: World, kind: Kind, reference: Mapping[str, Any], namespace: str
) -> Sequence[JsonObject]:
    if reference.get("name"):
        obj = world.store.get(Key(kind.storage, namespace, reference["name"]))
        return [] if obj is None else [obj]
    required = selector_requirements(reference.get("selector"))
    return [
        obj
        for _, obj in world.store.list(kind.storage, namespace=namespace).items
        if required is not None and matches_labels(required, part(obj, "metadata", "labels") or {})
    ]
