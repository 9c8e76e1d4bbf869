"""What the containers of a pod need together."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.schema.amounts import Amount, amounts, most, total

JsonObject = dict[str, Any]


def is_of_pods(name: str) -> bool:
    """Is it a resource that a pod may ask for as a whole?"""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def containers_together(spec: Mapping[str, Any], which: str) -> dict[str, Amount]:
    """`requests` or `limits` of all, or what the pod's start takes if that is more."""
    running = [_said(one, which) for one in spec.get("containers") or ()]
    sidecars: list[dict[str, Amount]] = []
    starting: list[dict[str, Amount]] = []
    for container in spec.get("initContainers") or ():
        said = _said(container, which)
        if container.get("restartPolicy") == "Always":
            sidecars.append(said)
            starting.append(total(sidecars))
        else:
            starting.append(total((*sidecars, said)))
    found = total((*running, *sidecars))
    return most((found, *starting)) if starting else found


def _said(container: Mapping[str, Any], which: str) -> dict[str, Amount]:
    return amounts((container.get("resources") or {}).get(which))
