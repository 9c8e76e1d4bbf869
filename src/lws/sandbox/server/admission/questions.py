"""What expressions of webhooks and policies may ask about a write."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation

JsonObject = dict[str, Any]


def request_of(operation: Operation, kind: Kind | None = None) -> Mapping[str, Any]:
    """The variable `request`; `kind` is the one as which the write is seen, if it is another."""
    seen = kind or operation.kind
    request = {
        "kind": _kind(operation, seen),
        "resource": _resource(seen),
        "subResource": operation.subresource,
        "requestKind": _kind(operation, operation.kind),
        "requestResource": _resource(operation.kind),
        "requestSubResource": operation.subresource,
        "name": operation.name,
        "namespace": operation.namespace,
        "operation": operation.verb,
        "userInfo": {"username": operation.caller.user, "groups": list(operation.caller.groups)},
        "dryRun": operation.caller.dry_run,
    }
    if operation.options:
        request["options"] = dict(operation.options)
    return request


def _kind(operation: Operation, kind: Kind) -> JsonObject:
    """That of the body, which of some parts (scale) is another than the object's."""
    resource = kind.resource
    part = kind.subresources.get(operation.subresource)
    if part is not None and part.kind:
        return {"group": part.group, "version": part.version or "v1", "kind": part.kind}
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _resource(kind: Kind) -> JsonObject:
    resource = kind.resource
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}
