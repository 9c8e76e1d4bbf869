"""What the webhook writes into an object that leaves it open (spec: api.md sections 2 and 3).

A null counts as left open. What has a wrong type stays as it is: validation names it. The
argument is never changed; what did not change is shared with the answer.
"""

from lws.admission.documents import JsonObject, is_being_deleted
from lws.api.leaderworkerset import (
    RestartPolicy,
    StartupPolicy,
    SubdomainPolicy,
    SubGroupPolicyType,
)

ROLLING_UPDATE = "RollingUpdate"
REPLICAS = 1
SIZE = 1
MAX_UNAVAILABLE = 1
MAX_SURGE = 0
SLICES = 1
STATIC = "Static"
NO_PLACEMENT = "None"

_BUDGETS: JsonObject = {
    "partition": 0,
    "maxUnavailable": MAX_UNAVAILABLE,
    "maxSurge": MAX_SURGE,
}


def default_leaderworkerset(obj: JsonObject) -> JsonObject:
    """The object with every default written out; the very same object if nothing was open.

    One that is being deleted stays as it is: removing a finalizer must never change a spec.
    """
    if is_being_deleted(obj):
        return obj
    spec = _opened(obj, "spec")
    if spec is None:
        return obj
    spec = _filled(spec, {"replicas": REPLICAS, "startupPolicy": StartupPolicy.LEADER_CREATED})
    template = _opened(spec, "leaderWorkerTemplate")
    if template is not None:
        template = _renamed(_template(template))
        spec = _with(spec, "leaderWorkerTemplate", template)
    strategy = _opened(spec, "rolloutStrategy")
    if strategy is not None:
        spec = _with(spec, "rolloutStrategy", _strategy(strategy))
    network = _opened(spec, "networkConfig")
    if network is not None:
        network = _filled(network, {"subdomainPolicy": SubdomainPolicy.SHARED})
        spec = _with(spec, "networkConfig", network)
    return _with(obj, "spec", spec)


def default_disaggregatedset(obj: JsonObject) -> JsonObject:
    """The object as the schema of its kind completes it; a role's own LeaderWorkerSet gets the
    rest of the defaults when it is made."""
    if is_being_deleted(obj):
        return obj
    spec = _opened(obj, "spec")
    if spec is None:
        return obj
    spec = _filled(spec, {"slices": SLICES})
    spec = _filled_if_set(spec, "placementPolicy", {"type": NO_PLACEMENT})
    roles = spec.get("roles")
    if isinstance(roles, list):
        defaulted = [_role(role) if isinstance(role, dict) else role for role in roles]
        if any(new is not old for new, old in zip(defaulted, roles, strict=True)):
            spec = _with(spec, "roles", defaulted)
    return _with(obj, "spec", spec)


def _role(role: JsonObject) -> JsonObject:
    role = _filled_if_set(role, "scaling", {"mode": STATIC})
    spec = role.get("spec")
    if not isinstance(spec, dict):
        return role
    spec = _filled(spec, {"startupPolicy": StartupPolicy.LEADER_CREATED})
    template = spec.get("leaderWorkerTemplate")
    if isinstance(template, dict):
        spec = _with(spec, "leaderWorkerTemplate", _template(template))
    strategy = spec.get("rolloutStrategy")
    if isinstance(strategy, dict):
        strategy = _filled(strategy, {"type": ROLLING_UPDATE})
        strategy = _filled_if_set(strategy, "rollingUpdateConfiguration", _BUDGETS)
        spec = _with(spec, "rolloutStrategy", strategy)
    return _with(role, "spec", spec)


def _template(template: JsonObject) -> JsonObject:
    template = _filled(
        template,
        {"size": SIZE, "restartPolicy": RestartPolicy.RECREATE_GROUP_ON_POD_RESTART},
    )
    subgroups = {"subGroupPolicyType": SubGroupPolicyType.LEADER_WORKER}
    return _filled_if_set(template, "subGroupPolicy", subgroups)


def _renamed(template: JsonObject) -> JsonObject:
    if template["restartPolicy"] == RestartPolicy.DEFAULT:
        return _with(template, "restartPolicy", RestartPolicy.NONE.value)
    return template


def _strategy(strategy: JsonObject) -> JsonObject:
    strategy = _filled(strategy, {"type": ROLLING_UPDATE})
    if strategy["type"] != ROLLING_UPDATE:
        return strategy
    budgets = _opened(strategy, "rollingUpdateConfiguration")
    if budgets is None:
        return strategy
    return _with(strategy, "rollingUpdateConfiguration", _filled(budgets, _BUDGETS))


def _opened(parent: JsonObject, key: str) -> JsonObject | None:
    """The object under `key`, a new one if it is left open, None if it has a wrong type."""
    value = parent.get(key)
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


def _filled(parent: JsonObject, defaults: JsonObject) -> JsonObject:
    missing = {
        key: _plain(default)
        for key, default in defaults.items()
        if _is_open(parent.get(key), default)
    }
    return {**parent, **missing} if missing else parent


def _is_open(value: object, default: object) -> bool:
    """Absent or null; for a choice also empty, as Go writes it."""
    return value is None or (value == "" and isinstance(default, str))


def _filled_if_set(parent: JsonObject, key: str, defaults: JsonObject) -> JsonObject:
    value = parent.get(key)
    return _with(parent, key, _filled(value, defaults)) if isinstance(value, dict) else parent


def _with(parent: JsonObject, key: str, value: object) -> JsonObject:
    return parent if parent.get(key) is value else {**parent, key: value}


def _plain(value: object) -> object:
    """An enumeration's member as the string that it is on the wire."""
    return str(value) if isinstance(value, str) else value
