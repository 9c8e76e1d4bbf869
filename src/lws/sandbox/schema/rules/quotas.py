"""Quotas and limit ranges."""

from collections.abc import Iterator, Mapping, Sequence

from lws.api.quantities import parse_quantity
from lws.sandbox.schema.errors import FieldError, duplicate, forbidden, invalid, required
from lws.sandbox.schema.naming import qualified_name
from lws.sandbox.schema.rules.resources import STANDARD, resource_name_faults
from lws.sandbox.schema.rules.words import NEGATIVE, Faults, Object, is_below, named

_HUGE = ("hugepages-", "requests.hugepages-")
_COUNTED = frozenset(
    (
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets"),
        *("configmaps", "persistentvolumeclaims", "services.nodeports"),
        "services.loadbalancers",
    )
)
_COMPUTED = frozenset(
    ("pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
)
_OF_SCOPE: Mapping[str, frozenset[str]] = {
    "BestEffort": frozenset(("pods",)),
    "NotBestEffort": _COMPUTED,
    "Terminating": _COMPUTED,
    "NotTerminating": _COMPUTED,
    "PriorityClass": _COMPUTED,
    "CrossNamespacePodAffinity": _COMPUTED,
    "VolumeAttributesClass": frozenset(("persistentvolumeclaims", "requests.storage")),
}
_OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_WITH_VALUES = frozenset(("PriorityClass", "VolumeAttributesClass"))
_ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
    " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
    " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def quota_rules(obj: Object, old: Object | None) -> Faults:
    """ResourceQuota."""
    spec = obj["spec"]
    hard = spec.get("hard") or {}
    yield from _amounts(hard, "spec.hard")
    yield from _scopes(spec, hard)
    yield from _scope_selector(spec, hard)
    if old is None:
        return
    if sorted(spec.get("scopes") or ()) != sorted(old["spec"].get("scopes") or ()):
        yield invalid("spec.scopes", spec.get("scopes"), "field is immutable")
    shown = obj.get("status") or {}
    yield from _amounts(shown.get("hard") or {}, "status.hard")
    yield from _amounts(shown.get("used") or {}, "status.used")


def _amounts(amounts: Mapping[str, str], path: str) -> Faults:
    for name, amount in sorted(amounts.items()):
        where = f"{path}[{name}]"
        yield from _quota_name(name, where)
        if is_below(amount):
            yield invalid(where, amount, NEGATIVE)
        is_counted = name in _COUNTED or name.startswith("count/")
        if is_counted and parse_quantity(amount).denominator != 1:
            yield invalid(where, amount, "must be an integer")


def _quota_name(name: str, path: str) -> Faults:
    faults = list(named(qualified_name, name, path))
    is_plain = "/" not in name and not name.startswith(_HUGE)
    if is_plain and not faults and name not in STANDARD:
        faults.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    if is_plain and name not in STANDARD - {"storage"}:
        faults.append(invalid(path, name, "must be a standard resource for quota"))
    yield from faults


def _scopes(spec: Object, hard: Mapping[str, str]) -> Faults:
    scopes: Sequence[str] = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _OF_SCOPE:
            yield invalid("spec.scopes", scopes, "unsupported scope")
        for _ in _unscoped(scope, hard):
            yield invalid("spec.scopes", scopes, "unsupported scope applied to resource")
    for pair in _OPPOSITES:
        if set(pair) <= set(scopes):
            yield invalid("spec.scopes", scopes, "conflicting scopes")


def _unscoped(scope: str, hard: Mapping[str, str]) -> Iterator[str]:
    """Plain resources that are not counted by the scope."""
    allowed = _OF_SCOPE.get(scope)
    for name in hard:
        if allowed is not None and "/" not in name and name not in allowed:
            yield name


def _scope_selector(spec: Object, hard: Mapping[str, str]) -> Faults:
    wanted = (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    path = "spec.scopeSelector.matchExpressions"
    for one in wanted:
        scope = one.get("scopeName") or ""
        if scope not in _OF_SCOPE:
            yield invalid(f"{path}.scopeName", scope, "unsupported scope")
        for _ in _unscoped(scope, hard):
            yield invalid(path, _shown(wanted), "unsupported scope applied to resource")
        yield from _scope_values(one, scope, path)
    names = {one.get("scopeName") for one in wanted}
    for pair in _OPPOSITES:
        if set(pair) <= names:
            yield invalid(path, None, "conflicting scopes")


def _shown(wanted: Sequence[Object]) -> Object:
    entries = [
        {
            "ScopeName": one.get("scopeName") or "",
            "Operator": one.get("operator") or "",
            "Values": one.get("values"),
        }
        for one in wanted
    ]
    return {"MatchExpressions": entries}


def _scope_values(one: Object, scope: str, path: str) -> Faults:
    operator, values = one.get("operator") or "", one.get("values") or []
    if scope in _OF_SCOPE and scope not in _WITH_VALUES and operator != "Exists":
        yield invalid(f"{path}.operator", operator, _ONLY_EXISTS)
        return
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(
                    f"{path}.values",
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope"
                    " selector",
                )
        case "Exists" | "DoesNotExist":
            if values:
                yield invalid(
                    f"{path}.values",
                    values,
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope"
                    " selector",
                )
        case _:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")


_LIMIT_TYPES = frozenset(("Container", "PersistentVolumeClaim", "Pod"))
_FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def limit_range_rules(obj: Object, old: Object | None) -> Faults:
    """LimitRange."""
    del old
    seen: set[str] = set()
    for index, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", item.get("type") or ""
        yield from _limit_type(kind, f"{path}.type")
        if kind in seen:
            yield duplicate(f"{path}.type", kind)
        seen.add(kind)
        yield from _limit_fields(item, kind, path)
        for name in sorted({name for field in _FIELDS for name in item.get(field) or ()}):
            yield from _limit(item, name, path)


def _limit_type(kind: str, path: str) -> Faults:
    faults = list(named(qualified_name, kind, path))
    if not faults and "/" not in kind and kind not in _LIMIT_TYPES:
        faults.append(invalid(path, kind, "must be a standard limit type or fully qualified"))
    yield from faults


def _limit_fields(item: Object, kind: str, path: str) -> Faults:
    fields = ["max", "min"]
    for field in ("default", "defaultRequest"):
        if kind != "Pod":
            fields.append(field)
        elif item.get(field):
            yield forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
    of_container = kind in ("Container", "Pod")
    for field in fields:
        for name in sorted(item.get(field) or ()):
            where = f"{path}.{field}[{name}]"
            yield from resource_name_faults(name, where, of_container=of_container)
    if kind == "PersistentVolumeClaim":
        is_sized = any("storage" in (item.get(field) or {}) for field in ("max", "min"))
        if not is_sized:
            words = "either minimum or maximum storage value is required, but neither was provided"
            yield required(f"{path}.limits", words)


def _limit(item: Object, name: str, path: str) -> Faults:
    """The bounds and defaults of one resource must leave room."""
    most, least, default, request, ratio = ((item.get(field) or {}).get(name) for field in _FIELDS)
    yield from _above(least, most, f"{path}.min[{name}]", "min value", "max value", shows=least)
    yield from _request_bounds(request, (least, most, default), f"{path}.defaultRequest[{name}]")
    where = f"{path}.default[{name}]"
    yield from _above(least, default, where, "min value", "default value", shows=least)
    yield from _above(default, most, where, "default value", "max value", shows=most)
    is_counted = "/" in name and "kubernetes.io/" not in name
    if is_counted and default and request and parse_quantity(default) != parse_quantity(request):
        words = f"default value {default} must equal to defaultRequest value {request} in {name}"
        yield invalid(f"{path}.defaultRequest[{name}]", request, words)
    yield from _ratio(ratio, least, most, f"{path}.maxLimitRequestRatio[{name}]")


def _request_bounds(
    request: str | None, bounds: tuple[str | None, str | None, str | None], where: str
) -> Faults:
    least, most, default = bounds
    words = "default request value"
    yield from _above(least, request, where, "min value", words, shows=request)
    yield from _above(request, most, where, words, "max value", shows=request)
    yield from _above(request, default, where, words, "default limit value", shows=request)


def _above(
    low: str | None,
    high: str | None,
    path: str,
    low_name: str,
    high_name: str,
    *,
    shows: str | None,
) -> Iterator[FieldError]:
    if low is not None and high is not None and is_below(high, low):
        words = f"{low_name} {low} is greater than {high_name} {high}"
        yield invalid(path, shows, words)


def _ratio(ratio: str | None, least: str | None, most: str | None, path: str) -> Faults:
    if ratio is None:
        return
    if is_below(ratio, "1"):
        yield invalid(path, ratio, f"ratio {ratio} is less than 1")
    if least is None or most is None or not parse_quantity(least):
        return
    widest = parse_quantity(most) / parse_quantity(least)
    if parse_quantity(ratio) > widest:
        words = f"ratio {ratio} is greater than max/min = {float(widest):f}"
        yield invalid(path, ratio, words)
