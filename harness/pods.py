"""What befalls pods: containers that fail, pods that fail, are evicted, or vanish.

Each function writes what a kubelet (or another part of a cluster) would have written. Where a pod
runs, kwok's stages do not touch its status again until it is deleted, so what is set here stays.
A pod is named by namespace and name; every write carries the uid that was read before.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from harness.kube import ApiError, Json, Kube


def now() -> str:
    """The time as the API writes it, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fail_container(
    kube: Kube,
    namespace: str,
    name: str,
    *,
    container: str | None = None,
    exit_code: int = 137,
    reason: str = "OOMKilled",
    restarted: bool = True,
) -> Json:
    """A container (the first, if none is named; init containers too) ends and is restarted.

    With `restarted=False` it waits in CrashLoopBackOff and the pod is not Ready. Returns the pod.
    """

    def change(pod: Json) -> None:
        status = _container_status(pod, container)
        terminated = {
            "exitCode": exit_code,
            "reason": reason,
            "startedAt": _started_at(status),
            "finishedAt": now(),
        }
        status["restartCount"] = status.get("restartCount", 0) + 1
        status["lastState"] = {"terminated": terminated}
        status["ready"] = status["started"] = restarted
        waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
        status["state"] = {"running": {"startedAt": now()}} if restarted else waiting
        if not restarted:
            _set_conditions(pod, ready=False, reason="ContainersNotReady")

    return _change_status(kube, namespace, name, change)


def fail_pod(kube: Kube, namespace: str, name: str, *, reason: str = "", message: str = "") -> Json:
    """The pod as a whole fails for good: phase Failed (`reason="Evicted"`: by node pressure)."""

    def change(pod: Json) -> None:
        status = pod["status"]
        status.update({"phase": "Failed", "reason": reason, "message": message})
        for entry in status.get("containerStatuses", []):
            terminated = {"exitCode": 137, "reason": "Error", "finishedAt": now()}
            entry.update(ready=False, started=False, state={"terminated": terminated})
        _set_conditions(pod, ready=False, reason="PodFailed")

    return _change_status(kube, namespace, name, change)


def lose_contact(kube: Kube, namespace: str, name: str) -> Json:
    """Phase Unknown, not Ready."""

    def change(pod: Json) -> None:
        pod["status"]["phase"] = "Unknown"
        _set_conditions(pod, ready=False, reason="NodeLost")

    return _change_status(kube, namespace, name, change)


def set_ready(kube: Kube, namespace: str, name: str, ready: bool) -> Json:
    """The readiness probe's answer changes; the containers keep running."""

    def change(pod: Json) -> None:
        for entry in pod["status"].get("containerStatuses", []):
            entry["ready"] = ready
        _set_conditions(pod, ready=ready, reason="" if ready else "ContainersNotReady")

    return _change_status(kube, namespace, name, change)


def evict(kube: Kube, namespace: str, name: str) -> None:
    """The Eviction API, as `kubectl drain` uses it: a graceful deletion, budgets permitting."""
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    kube.request("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", eviction)


def force_delete(kube: Kube, namespace: str, name: str) -> None:
    """`kubectl delete --force`: gone at once, nobody waits for the containers."""
    uid = kube.get("pods", name, namespace)["metadata"]["uid"]
    kube.delete("pods", name, namespace, grace=0, uid=uid)


def annotate(kube: Kube, namespace: str, name: str, **annotations: str | None) -> Json:
    """Set annotations of a live pod, or take them away (None); `kwok.HOLD` and the like."""
    return kube.patch("pods", name, {"metadata": {"annotations": annotations}}, namespace)


def release(kube: Kube, namespace: str, name: str, annotation: str) -> None:
    """Take one annotation away, such as `kwok.HOLD` or `kwok.UNREADY`; from a pod that is there."""
    try:
        annotate(kube, namespace, name, **{annotation: None})
    except ApiError as problem:  # gone since it was looked up
        if problem.status != 404:
            raise


def is_ready(pod: Json) -> bool:
    """Is the pod Ready, and not being deleted?"""
    if "deletionTimestamp" in pod["metadata"]:
        return False
    conditions = pod.get("status", {}).get("conditions", [])
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def _change_status(kube: Kube, namespace: str, name: str, change: Callable[[Json], None]) -> Json:
    """Read, change, write with the version that was read; anew if somebody wrote in between."""
    uid = None
    for _ in range(20):
        pod = kube.get("pods", name, namespace)
        uid = uid or pod["metadata"]["uid"]
        assert pod["metadata"]["uid"] == uid, f"pod {name} was replaced meanwhile"
        pod.setdefault("status", {})
        change(pod)
        try:
            return kube.replace(pod, subresource="status")
        except ApiError as problem:
            if problem.status != 409:
                raise
    raise AssertionError(f"the status of pod {name} changed 20 times while we wrote it")


def _container_status(pod: Json, container: str | None) -> Json:
    """The status entry of a container, made if the pod has not started yet."""
    container = container or pod["spec"]["containers"][0]["name"]
    for specs, statuses in (
        ("containers", "containerStatuses"),
        ("initContainers", "initContainerStatuses"),
    ):
        names = [spec["name"] for spec in pod["spec"].get(specs, [])]
        if container not in names:
            continue
        entries = pod["status"].setdefault(statuses, [])
        if not entries:
            entries.extend(_waiting(spec) for spec in pod["spec"][specs])
        return next(entry for entry in entries if entry["name"] == container)
    raise AssertionError(f"pod {pod['metadata']['name']} has no container {container}")


def _waiting(spec: Json) -> Json:
    return {
        "name": spec["name"],
        "image": spec["image"],
        "imageID": "",
        "restartCount": 0,
        "ready": False,
        "started": False,
        "state": {"waiting": {"reason": "PodInitializing"}},
    }


def _started_at(status: Json) -> str:
    started: str = status.get("state", {}).get("running", {}).get("startedAt") or now()
    return started


def _set_conditions(pod: Json, *, ready: bool, reason: str) -> None:
    conditions: list[Json] = pod["status"].setdefault("conditions", [])
    for kind in ("ContainersReady", "Ready"):
        entry = next((entry for entry in conditions if entry["type"] == kind), None)
        if entry is None:
            entry = {"type": kind}
            conditions.append(entry)
        wanted = "True" if ready else "False"
        if entry.get("status") != wanted:
            entry["lastTransitionTime"] = now()
        entry.update(status=wanted, reason=reason)
