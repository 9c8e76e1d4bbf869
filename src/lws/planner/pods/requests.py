"""What a pod asks of a node, counted as the Kubernetes scheduler counts it (1.36).

The containers run together, with the sidecars (init containers that restart always); init
containers run one after the other before them, each beside the sidecars that started earlier. The
larger of the two is asked for, resource by resource, with the overhead on top. Requests of a pod as
a whole take the place of the sum. A limit without a request is a request.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from lws.api.quantities import format_quantity, parse_quantity

Amounts = dict[str, Fraction]
PodSpec = Mapping[str, Any]

_BINARY = ("memory", "ephemeral-storage", "storage")
"""Written with binary suffixes; `hugepages-…` too."""


def pod_requests(spec: PodSpec) -> Amounts:
    """Of one pod; an amount that is garbage counts as nothing."""
    running = _sum(_requests(one) for one in spec.get("containers") or ())
    sidecars: Amounts = {}
    starting: Amounts = {}
    for one in spec.get("initContainers") or ():
        if one.get("restartPolicy") == "Always":
            sidecars = _sum((sidecars, _requests(one)))
            starting = _max(starting, sidecars)
        else:
            starting = _max(starting, _sum((sidecars, _requests(one))))
    total = _max(_sum((running, sidecars)), starting)
    total |= _requests(spec)
    return _sum((total, _amounts(spec.get("overhead"))))


def group_requests(leader: PodSpec, worker: PodSpec, *, size: int) -> dict[str, str]:
    """Of a whole group, as canonical quantities."""
    workers = {name: amount * (size - 1) for name, amount in pod_requests(worker).items()}
    total = _sum((pod_requests(leader), workers))
    return {
        name: format_quantity(amount, binary=_is_binary(name))
        for name, amount in sorted(total.items())
        if amount
    }


def _is_binary(name: str) -> bool:
    return name in _BINARY or name.startswith("hugepages-")


def _requests(part: Mapping[str, Any]) -> Amounts:
    resources = part.get("resources") or {}
    return _amounts(resources.get("limits")) | _amounts(resources.get("requests"))


def _amounts(listed: Mapping[str, Any] | None) -> Amounts:
    amounts = {}
    for name, value in (listed or {}).items():
        try:
            amounts[name] = parse_quantity(value)
        except ValueError:  # no webhook saw it; the API server will refuse the pod
            continue
    return amounts


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def _max(one: Amounts, other: Amounts) -> Amounts:
    names = one.keys() | other.keys()
    nothing = Fraction(0)
    return {name: max(one.get(name, nothing), other.get(name, nothing)) for name in names}
