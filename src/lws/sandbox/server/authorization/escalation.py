"""Nobody gives away by a role or a binding what he does not have himself."""

from collections.abc import Sequence
from typing import Any

from lws.sandbox.server import status
from lws.sandbox.server.authentication.users import MASTERS
from lws.sandbox.server.authorization.attributes import Attributes
from lws.sandbox.server.authorization.authorizer import RBAC, gathered
from lws.sandbox.server.authorization.rules import Rule, missing, quoted
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import ApiStatus, Subject

JsonObject = dict[str, Any]

_EVERYTHING: Sequence[Rule] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_PLURALS = {"ClusterRole": "clusterroles", "Role": "roles"}
_UNCOUNTED = ("finalizers", "managedFields", "ownerReferences", "resourceVersion")
"""What the garbage collector writes into a role without having its rights."""


def require_no_escalation(
    world: World, operation: Operation, new: JsonObject, old: JsonObject | None
) -> None:
    """403 if a role or a binding (others are none of this) gives more than its writer has."""
    if operation.kind.resource.group != RBAC or MASTERS in operation.caller.groups:
        return
    if old is not None and _is_same(new, old):
        return
    if operation.kind.resource.kind.endswith("Binding"):
        _require_binding(world, operation, new)
    else:
        _require_role(world, operation, new, old)


def _is_same(new: JsonObject, old: JsonObject) -> bool:
    return _counted(new) == _counted(old)


def _counted(obj: JsonObject) -> JsonObject:
    metadata = obj["metadata"].items()
    kept = {name: value for name, value in metadata if name not in _UNCOUNTED and value}
    return {**obj, "metadata": kept}


def _require_role(
    world: World, operation: Operation, new: JsonObject, old: JsonObject | None
) -> None:
    if _may(world, operation, "escalate"):
        return
    name = new["metadata"].get("name") or ""
    _require_held(world, operation, new.get("rules") or (), name)
    if any((one or {}).get("aggregationRule") for one in (new, old)):
        said = "must have cluster-admin privileges to use the aggregationRule"
        _require_held(world, operation, _EVERYTHING, name, said=said)


def _require_binding(world: World, operation: Operation, new: JsonObject) -> None:
    ref = new.get("roleRef") or {}
    kind, name = ref.get("kind", ""), ref.get("name", "")
    if kind not in _PLURALS:
        raise ApiStatus(f'unsupported role reference kind: "{kind}"', code=500)
    if _may(world, operation, "bind", resource=_PLURALS[kind], name=name):
        return
    if kind == "Role" and not operation.namespace:
        raise status.bad_request("Namespace parameter required.")
    if not name:
        raise status.bad_request("Name parameter required.")
    role = world.authorizer.role(ref, operation.namespace)
    if role is None:
        raise status.not_found(operation.kind.subject(name))
    own = new["metadata"].get("name") or ""
    _require_held(world, operation, role.get("rules") or (), own)


def _may(
    world: World, operation: Operation, verb: str, *, resource: str = "", name: str = ""
) -> bool:
    caller = operation.caller
    asked = Attributes(
        user=caller.user,
        groups=caller.groups,
        verb=verb,
        group=RBAC,
        version="v1",
        resource=resource or operation.kind.resource.plural,
        namespace=operation.namespace,
        name=name or operation.name,
    )
    return world.authorizer.decide(asked).is_allowed


def _require_held(
    world: World, operation: Operation, rules: Sequence[Rule], name: str, *, said: str = ""
) -> None:
    caller, subject = operation.caller, operation.kind.subject(name)
    owned, faults = world.authorizer.rules_of(caller.user, caller.groups, operation.namespace)
    lacking = missing(owned, rules)
    if not lacking:
        return
    raise status.forbidden(
        subject, said or _words(operation, lacking, _unresolved(faults, subject))
    )


def _words(operation: Operation, lacking: Sequence[str], unresolved: str) -> str:
    caller = operation.caller
    return (
        f'user "{caller.user}" (groups={quoted(caller.groups)}) is attempting to grant RBAC'
        " permissions not currently held:\n" + "\n".join(lacking) + unresolved
    )


def _unresolved(faults: Sequence[str], subject: Subject) -> str:
    """Roles that are missing, called as what is written here, as the real server does."""
    if not faults:
        return ""
    names = [fault.partition(" ")[2] for fault in faults]
    return f"; resolution errors: [{gathered([f'{subject.qualified} {one}' for one in names])}]"


def require_creation(world: World, operation: Operation) -> None:
    """403 if what an update or an apply is about to make may not be created by its caller."""
    caller, resource = operation.caller, operation.kind.resource
    world.authorizer.require(
        Attributes(
            user=caller.user,
            groups=caller.groups,
            verb="create",
            group=resource.group,
            version=resource.version,
            resource=resource.plural,
            namespace=operation.namespace,
            name=operation.name,
        )
    )
