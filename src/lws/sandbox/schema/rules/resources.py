"""Requests and limits."""

from collections.abc import Mapping

from lws.api.quantities import parse_quantity
from lws.sandbox.schema.errors import forbidden, invalid, not_supported, required
from lws.sandbox.schema.naming import qualified_name
from lws.sandbox.schema.rules.words import NEGATIVE, Faults, Object, is_below, named
from lws.sandbox.schema.totals import is_of_pods

_CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
STANDARD = frozenset(
    (
        *("cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory"),
        *("requests.ephemeral-storage", "limits.cpu", "limits.memory"),
        *("limits.ephemeral-storage", "pods", "resourcequotas", "services"),
        *("replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps"),
        *("requests.storage", "storage", "services.nodeports", "services.loadbalancers"),
    )
)
HUGE = "hugepages-"


def resource_errors(resources: Object | None, path: str) -> Faults:
    """What is wrong with a container's resources."""
    if not resources:
        return
    limits: Mapping[str, str] = resources.get("limits") or {}
    requests: Mapping[str, str] = resources.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(amounts.items()):
            yield from _amount(name, amount, f"{path}.{field}[{name}]")
    for name, amount in sorted(requests.items()):
        yield from _request(name, amount, limits, path)
    all_names = limits.keys() | requests.keys()
    has_huge = any(name.startswith(HUGE) for name in all_names)
    if has_huge and not all_names & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def pod_resource_errors(resources: Object | None, path: str) -> Faults:
    """What is wrong with the resources of a pod as a whole."""
    limits: Mapping[str, str] = (resources or {}).get("limits") or {}
    requests: Mapping[str, str] = (resources or {}).get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(amounts.items()):
            where = f"{path}.{field}[{name}]"
            if not is_of_pods(name):
                yield not_supported(where, name, ("cpu", HUGE, "memory"))
            elif is_below(amount):
                yield invalid(where, amount, NEGATIVE)
    for name, amount in sorted(requests.items()):
        yield from _request(name, amount, limits, path)


def resource_name_faults(name: str, path: str, *, of_container: bool = True) -> Faults:
    """What is wrong with the name of a resource, that of a container if it is to be one."""
    faults = list(named(qualified_name, name, path))
    is_plain = "/" not in name and not name.startswith(HUGE)
    if not faults and is_plain and name not in STANDARD:
        words = "must be a standard resource type or fully qualified"
        faults.append(invalid(path, name, words))
    if of_container and is_plain and name not in _CONTAINER:
        faults.append(invalid(path, name, "must be a standard resource for containers"))
    yield from faults


def _amount(name: str, amount: str, path: str) -> Faults:
    yield from resource_name_faults(name, path)
    if is_below(amount):
        yield invalid(path, amount, NEGATIVE)
    if _is_whole(name) and parse_quantity(amount).denominator != 1:
        yield invalid(path, amount, "must be an integer")


def _is_whole(name: str) -> bool:
    """Extended resources (and what is counted) come in whole numbers."""
    return "/" in name and "kubernetes.io/" not in name


def _request(name: str, amount: str, limits: Mapping[str, str], path: str) -> Faults:
    may_overcommit = not name.startswith(HUGE) and ("/" not in name or "kubernetes.io/" in name)
    limit = limits.get(name)
    if limit is None:
        if not may_overcommit:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif not may_overcommit and parse_quantity(amount) != parse_quantity(limit):
        yield invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limit}")
    elif is_below(limit, amount):
        words = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", amount, words)
