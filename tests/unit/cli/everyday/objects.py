"""Plain objects as an API server gives them, for the words that are told of them."""

from typing import Any

from lws.api import names


def lws(
    *, replicas: int = 2, size: int = 3, conditions: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A set; `conditions` by type."""
    listed = [
        {"type": type_, "status": status, "reason": "Why", "message": f"words of {type_}"}
        for type_, status in (conditions or {}).items()
    ]
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {
            "name": "chat",
            "namespace": "team",
            "uid": "u1",
            "generation": 4,
            "resourceVersion": "77",
        },
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": size}, **spec},
        "status": {"conditions": listed, "observedGeneration": 4, "readyReplicas": 1},
    }


def pod(group: int, worker: int = 0, *, ready: bool = True, **status: Any) -> dict[str, Any]:
    """A pod on a node; a `message` is a scheduler's that has found none."""
    message = status.pop("message", None)
    name = f"chat-{group}" + (f"-{worker}" if worker else "")
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    if message is not None:
        conditions.append({"type": "PodScheduled", "status": "False", "message": message})
    return {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{name}",
            "labels": {
                names.NAME: "chat",
                names.GROUP_INDEX: str(group),
                names.WORKER_INDEX: str(worker),
                names.REVISION_KEY: "abc",
            },
            "annotations": {names.SIZE: "3"},
        },
        "spec": {} if message is not None else {"nodeName": f"node-{group}"},
        "status": {
            "phase": "Pending" if message is not None else "Running",
            "conditions": conditions,
            **status,
        },
    }


def container(state: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A container's status."""
    return {"name": "main", "image": "some/image:1", "state": state, **more}
