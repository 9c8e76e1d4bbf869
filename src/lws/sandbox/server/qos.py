"""How well a pod is provided for."""

from typing import Any

from lws.api.quantities import parse_quantity

JsonObject = dict[str, Any]

_COUNTED = ("cpu", "memory")


def qos_class(pod: JsonObject) -> str:
    """Guaranteed, Burstable or BestEffort."""
    spec = pod.get("spec") or {}
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if spec.get("resources"):
        containers = [spec]  # what the pod says itself outweighs them
    asked = [_counted(one, "requests") for one in containers]
    limits = [_counted(one, "limits") for one in containers]
    if not any(asked) and not any(limits):
        return "BestEffort"
    is_guaranteed = all(
        set(limit) == set(_COUNTED) and all(ask.get(n, limit[n]) == limit[n] for n in limit)
        for ask, limit in zip(asked, limits, strict=True)
    )
    return "Guaranteed" if is_guaranteed else "Burstable"


def _counted(container: JsonObject, which: str) -> dict[str, Any]:
    amounts = (container.get("resources") or {}).get(which) or {}
    counted = {name: parse_quantity(str(amounts[name])) for name in _COUNTED if name in amounts}
    return {name: amount for name, amount in counted.items() if amount}
