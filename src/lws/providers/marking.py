"""How a pod is marked."""

from typing import Any


def with_metadata(pod: dict[str, Any], part: str, key: str, value: str) -> dict[str, Any]:
    """The pod with one label or annotation more; the argument is not changed."""
    metadata = pod.get("metadata") or {}
    marked = {**(metadata.get(part) or {}), key: value}
    return {**pod, "metadata": {**metadata, part: marked}}
