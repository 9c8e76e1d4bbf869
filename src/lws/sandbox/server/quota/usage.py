"""Of each kind: which resources of a quota count its objects, and how much one uses."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lws.client.resources import Resource
from lws.sandbox.schema.amounts import ONE, Amounts, amount, whole
from lws.sandbox.server.documents import part
from lws.sandbox.server.quota import pods
from lws.sandbox.server.quota.scopes import Selector, selectors_of, selects_pod

JsonObject = dict[str, Any]

_CLASS = ".storageclass.storage.k8s.io/"
_CLAIMS, _STORAGE = "persistentvolumeclaims", "requests.storage"
_SERVICES, _NODE_PORTS, _BALANCERS = "services", "services.nodeports", "services.loadbalancers"
_OLD_NAMES = frozenset(("configmaps", "replicationcontrollers", "resourcequotas", "secrets"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """How objects of one kind are counted."""

    covers: Callable[[str], bool]
    """Does a quota of this resource count the kind's objects?"""
    usage: Callable[[JsonObject, float], Amounts]
    """What an object uses, now."""
    selects: Callable[[Selector, JsonObject], bool] = lambda selector, obj: False  # noqa: ARG005
    """Is the object one of a quota's scope?"""
    missing: Callable[[JsonObject, Collection[str]], str] = lambda obj, names: ""  # noqa: ARG005
    """What the object must say to be counted."""
    frees: Callable[[JsonObject, JsonObject, float], bool] = lambda old, new, now: False  # noqa: ARG005
    """Does the object use less, now that it has changed from the old one?"""
    is_asked_about_updates: bool = False

    def counts(self, quota: JsonObject, obj: JsonObject) -> bool:
        """Is the object one of all scopes of the quota?"""
        return all(self.selects(one, obj) for one in selectors_of(quota))


def evaluator_of(resource: Resource) -> Evaluator | None:
    """None of what no quota counts: what is of no namespace, and events."""
    if not resource.namespaced or resource.plural == "events":
        return None
    return _OWN.get((resource.group, resource.plural)) or _objects_of(resource)


def _objects_of(resource: Resource) -> Evaluator:
    """Most kinds: an object is an object."""
    name = _object_name(resource.plural, resource.group)
    is_old = not resource.group and resource.plural in _OLD_NAMES
    names = frozenset((name, resource.plural) if is_old else (name,))
    used = dict.fromkeys(names, ONE)
    return Evaluator(covers=names.__contains__, usage=lambda obj, now: used)  # noqa: ARG005


def _object_name(plural: str, group: str = "") -> str:
    return f"count/{plural}.{group}" if group else f"count/{plural}"


def _covers_service(name: str) -> bool:
    return name in (_object_name(_SERVICES), _SERVICES, _NODE_PORTS, _BALANCERS)


def _service_usage(service: JsonObject, now: float) -> Amounts:
    del now
    spec = service.get("spec") or {}
    used = {_object_name(_SERVICES): ONE, _SERVICES: ONE}
    kind, ports = spec.get("type"), spec.get("ports") or ()
    if kind == "LoadBalancer":
        used[_BALANCERS] = ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
    if kind in ("LoadBalancer", "NodePort"):
        used[_NODE_PORTS] = whole(len(ports))
    return used


def _frees_service(old: JsonObject, new: JsonObject, now: float) -> bool:
    before, after = _service_usage(old, now), _service_usage(new, now)
    return any(name not in after or after[name].nanos < before[name].nanos for name in before)


def _covers_claim(name: str) -> bool:
    if name in (_object_name(_CLAIMS), _CLAIMS, _STORAGE):
        return True
    return name.endswith((f"{_CLASS}{_CLAIMS}", f"{_CLASS}{_STORAGE}"))


def _claim_usage(claim: JsonObject, now: float) -> Amounts:
    del now
    used = {_object_name(_CLAIMS): ONE, _CLAIMS: ONE}
    old_class = part(claim, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class")
    storage_class = old_class or part(claim, "spec", "storageClassName")
    if storage_class:
        used[f"{storage_class}{_CLASS}{_CLAIMS}"] = ONE
    asked = part(claim, "spec", "resources", "requests", "storage")
    if asked is not None:
        size = amount(str(asked))
        granted = amount(str(part(claim, "status", "allocatedResources", "storage") or 0))
        size = granted if granted.nanos > size.nanos else size
        used[_STORAGE] = size
        if storage_class:
            used[f"{storage_class}{_CLASS}{_STORAGE}"] = size
    return used


_OWN: Mapping[tuple[str, str], Evaluator] = {
    ("", "pods"): Evaluator(
        covers=pods.covers,
        usage=pods.usage,
        selects=selects_pod,
        missing=pods.missing,
        frees=pods.frees,
    ),
    ("", _SERVICES): Evaluator(
        covers=_covers_service,
        usage=_service_usage,
        frees=_frees_service,
        is_asked_about_updates=True,
    ),
    ("", _CLAIMS): Evaluator(covers=_covers_claim, usage=_claim_usage, is_asked_about_updates=True),
}
