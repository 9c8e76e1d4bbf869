"""Namespaces: what may be made in one, and how one that goes is emptied."""

from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.documents import part
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import Cause
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

NAMESPACES = "/namespaces"
SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_UNDYING = frozenset(("default", "kube-public", "kube-system"))


def require_namespace(world: World, operation: Operation, obj: JsonObject) -> None:
    """404 if the namespace is not there, 403 if it goes."""
    if not operation.kind.resource.namespaced:
        return
    namespace = world.store.get(Key(NAMESPACES, "", operation.namespace))
    if namespace is None:
        raise status.not_found(status.Subject("", "namespaces", operation.namespace))
    if part(namespace, "metadata", "deletionTimestamp"):
        raise _terminating(operation, obj)


def _terminating(operation: Operation, obj: JsonObject) -> status.ApiStatus:
    name, namespace = operation.asked_name(obj), operation.namespace
    cause = Cause(
        "NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace"
    )
    return status.forbidden(
        operation.kind.subject(name),
        f"unable to create new content in namespace {namespace} because it is being terminated",
        causes=[cause],
    )


def require_mortal(operation: Operation) -> None:
    """403 for namespaces that no cluster can do without."""
    is_namespace = operation.kind.storage == NAMESPACES
    if is_namespace and operation.name in _UNDYING:
        raise status.forbidden(
            operation.kind.subject(operation.name), "this namespace may not be deleted"
        )
