"""Where a pod may run: tolerations, affinity, spreading, gates."""

from collections.abc import Sequence

from lws.sandbox.schema.errors import duplicate, forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import dns_label, label_value, qualified_name
from lws.sandbox.schema.rules.words import Faults, Object, named, selector

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def toleration_errors(tolerations: Sequence[Object], path: str) -> Faults:
    """Tolerations of taints."""
    for index, one in enumerate(tolerations):
        here = f"{path}[{index}]"
        operator, key, effect = (one.get(name) or "" for name in ("operator", "key", "effect"))
        if key:
            yield from named(qualified_name, key, f"{here}.key")
        elif operator != "Exists":
            words = (
                "operator must be Exists when `key` is empty, which means"
                ' "match all values and all keys"'
            )
            yield invalid(f"{here}.operator", operator, words)
        if one.get("tolerationSeconds") is not None and effect != "NoExecute":
            words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{here}.effect", effect, words)
        yield from _operator(operator, one.get("value") or "", f"{here}.operator")
        if effect and effect not in _EFFECTS:
            yield not_supported(f"{here}.effect", effect, _EFFECTS)


def _operator(operator: str, value: str, path: str) -> Faults:
    if operator in ("", "Equal"):
        faults = label_value(value)
        if faults:
            yield invalid(path, value, ";".join(faults))
    elif operator == "Exists":
        if value:
            yield invalid(path, value, "value must be empty when `operator` is 'Exists'")
    elif operator in ("Lt", "Gt"):
        yield not_supported(path, operator, ("Equal", "Exists", "Lt", "Gt"))
    else:
        yield not_supported(path, operator, ("Equal", "Exists"))


def affinity_errors(affinity: Object | None, path: str) -> Faults:
    """To nodes, to pods and away from them."""
    if affinity is None:
        return
    if affinity.get("nodeAffinity") is not None:
        yield from _node_affinity(affinity["nodeAffinity"], f"{path}.nodeAffinity")
    for name in ("podAffinity", "podAntiAffinity"):
        if affinity.get(name) is not None:
            yield from _pod_affinity(affinity[name], f"{path}.{name}")


def _node_affinity(affinity: Object, path: str) -> Faults:
    must = affinity.get(_REQUIRED)
    if must is not None:
        terms = must.get("nodeSelectorTerms") or []
        here = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not terms:
            yield required(here, "must have at least one node selector term")
        for index, term in enumerate(terms):
            yield from _term(term, f"{here}[{index}]", checks_values=True)
    for index, one in enumerate(affinity.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(one, here)
        yield from _term(one.get("preference") or {}, f"{here}.preference", checks_values=False)


def _weight(one: Object, path: str) -> Faults:
    weight = one.get("weight", 0)
    if not 0 < weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _term(term: Object, path: str, *, checks_values: bool) -> Faults:
    for index, one in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        yield from _node_requirement(one, here)
        if checks_values:
            for place, value in enumerate(one.get("values") or ()):
                yield from named(label_value, value, f"{here}.values[{place}]")


def _node_requirement(one: Object, path: str) -> Faults:
    values = one.get("values") or []
    match one.get("operator"):
        case "In" | "NotIn":
            if not values:
                words = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required(f"{path}.values", words)
        case "Exists" | "DoesNotExist":
            if values:
                words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{path}.values", words)
        case "Gt" | "Lt":
            if len(values) != 1:
                words = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield required(f"{path}.values", words)
        case other:
            yield invalid(f"{path}.operator", other or "", "not a valid selector operator")
    yield from named(qualified_name, one.get("key") or "", f"{path}.key")


def _pod_affinity(affinity: Object, path: str) -> Faults:
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        yield from _pod_term(term, f"{path}.{_REQUIRED}[{index}]")
    for index, one in enumerate(affinity.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(one, here)
        yield from _pod_term(one.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")


def _pod_term(term: Object, path: str) -> Faults:
    for name in ("labelSelector", "namespaceSelector"):
        yield from selector(term.get(name), f"{path}.{name}")
    for name in term.get("namespaces") or ():
        yield from named(dns_label, name, f"{path}.namespace")
    key = term.get("topologyKey") or ""
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from named(qualified_name, key, f"{path}.topologyKey")


def spreading_errors(constraints: Sequence[Object], path: str) -> Faults:
    """Topology spread constraints."""
    for index, one in enumerate(constraints):
        here = f"{path}[{index}]"
        if one.get("maxSkew", 0) <= 0:
            yield invalid(f"{here}.maxSkew", one.get("maxSkew", 0), "must be greater than zero")
        if not one.get("topologyKey"):
            yield required(f"{here}.topologyKey", "can not be empty")
        action = one.get("whenUnsatisfiable") or ""
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            known = ("DoNotSchedule", "ScheduleAnyway")
            yield not_supported(f"{here}.whenUnsatisfiable", action, known)
        if any(_is_same(one, other) for other in constraints[index + 1 :]):
            words = f"{{{one.get('topologyKey', '')}, {action}}}"
            yield duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", words)
        yield from selector(one.get("labelSelector"), f"{here}.labelSelector")


def _is_same(one: Object, other: Object) -> bool:
    return all(one.get(key) == other.get(key) for key in ("topologyKey", "whenUnsatisfiable"))


def gate_errors(gates: Sequence[Object], path: str) -> Faults:
    """Scheduling gates."""
    seen: set[str] = set()
    for index, one in enumerate(gates):
        name = one.get("name") or ""
        yield from named(qualified_name, name, f"{path}[{index}]")
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
