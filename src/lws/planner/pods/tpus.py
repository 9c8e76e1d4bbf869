"""Whether a pod template asks for TPUs: workers must know it of their leader."""

from collections.abc import Mapping
from typing import Any

from lws.api.quantities import parse_quantity

RESOURCE = "google.com/tpu"


def requests_tpus(pod_template: Mapping[str, Any]) -> bool:
    """Whether a container or init container requests, or is limited to, more than none."""
    spec = pod_template.get("spec") or {}
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return any(_asks(container.get("resources") or {}) for container in containers)


def _asks(resources: Mapping[str, Any]) -> bool:
    amounts = ((resources.get(part) or {}).get(RESOURCE) for part in ("limits", "requests"))
    return any(amount is not None and _is_some(amount) for amount in amounts)


def _is_some(amount: Any) -> bool:
    try:
        return parse_quantity(amount) > 0
    except ValueError:
        return False
