"""Which pods a quota is about."""

from collections.abc import Iterator, Mapping
from typing import Any

from lws.sandbox.server.documents import part
from lws.sandbox.server.qos import qos_class

JsonObject = dict[str, Any]
Selector = Mapping[str, Any]
"""`scopeName`, `operator` and `values`."""


def selectors_of(quota: JsonObject) -> Iterator[Selector]:
    """All of which must match; its plain scopes are selectors, too."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from part(spec, "scopeSelector", "matchExpressions") or ()


def selects_pod(selector: Selector, pod: JsonObject) -> bool:
    """Is the pod one of the scope?"""
    spec = pod["spec"]
    match selector["scopeName"]:
        case "Terminating":
            return _has_deadline(spec)
        case "NotTerminating":
            return not _has_deadline(spec)
        case "BestEffort":
            return qos_class(pod) == "BestEffort"
        case "NotBestEffort":
            return qos_class(pod) != "BestEffort"
        case "PriorityClass":
            return _has_priority(selector, spec.get("priorityClassName") or "")
        case "CrossNamespacePodAffinity":
            return any(map(_looks_elsewhere, _affinity_terms(spec)))
    return False


def _has_deadline(spec: JsonObject) -> bool:
    return (spec.get("activeDeadlineSeconds") or -1) >= 0


def _has_priority(selector: Selector, name: str) -> bool:
    match selector.get("operator"):
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return name in (selector.get("values") or ())
        case "NotIn":
            return name not in (selector.get("values") or ())
    return False


def _affinity_terms(spec: JsonObject) -> Iterator[JsonObject]:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = part(spec, "affinity", kind) or {}
        yield from affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for one in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield one.get("podAffinityTerm") or {}


def _looks_elsewhere(term: JsonObject) -> bool:
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None
