"""The golden worlds, and what the API server and the StatefulSet controller did in them."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[2] / "golden" / "admission"
WORLDS = sorted(path.stem for path in _FOLDER.glob("*.json"))


@cache
def world(name: str) -> dict[str, Any]:
    """One world; not to be changed."""
    loaded: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text())
    return loaded


def pods() -> list[tuple[str, dict[str, Any]]]:
    """Every pod of every world, with the world's name."""
    return [(name, pod) for name in WORLDS for pod in world(name)["pods"]]


def as_created(name: str, pod: dict[str, Any]) -> dict[str, Any]:
    """The pod as the StatefulSet controller asked for it, before any webhook."""
    metadata = pod["metadata"]
    revision = metadata["labels"]["controller-revision-hash"]
    template = copy.deepcopy(world(name)["podTemplates"][revision])
    owner = metadata["ownerReferences"][0]["name"]
    pod_name = metadata["name"]
    labels = {
        **template["metadata"]["labels"],
        "apps.kubernetes.io/pod-index": pod_name.rpartition("-")[2],
        "controller-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": pod_name,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name,
            "generateName": metadata["generateName"],
            "labels": labels,
            "annotations": template["metadata"].get("annotations", {}),
            "ownerReferences": metadata["ownerReferences"],
        },
        "spec": {
            **template["spec"],
            "hostname": pod_name,
            "subdomain": world(name)["serviceNames"][owner],
        },
    }


def merged(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    """What the user's manifests, applied in order, ask for."""
    result: Any = {}
    for manifest in manifests:
        result = _merge(result, manifest)
    assert isinstance(result, dict)
    return result


def with_schema_defaults(value: Any) -> Any:
    """The one default of the schema that lies deep in a pod template: the protocol of a port."""
    if isinstance(value, list):
        return [with_schema_defaults(item) for item in value]
    if not isinstance(value, dict):
        return value
    defaulted = {key: with_schema_defaults(item) for key, item in value.items()}
    return {"protocol": "TCP", **defaulted} if "containerPort" in value else defaulted


def _merge(old: Any, new: Any) -> Any:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {**old, **{key: _merge(old.get(key), value) for key, value in new.items()}}
