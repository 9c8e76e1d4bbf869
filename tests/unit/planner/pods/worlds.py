"""Groups for the tests of the pods' planner: made by hand, or read from the golden worlds."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lws.api import leaderworkerset, names
from lws.api.apps import StatefulSet, decode_revision, decode_statefulset
from lws.api.core import Pod, Service, decode_pod, decode_service
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.planner.pods.membership import Membership, initial
from lws.planner.pods.restart_policy import restart_scope
from lws.planner.pods.size import group_size
from lws.planner.pods.snapshot import GroupSnapshot, LeaderNode
from lws.planner.revision import Revision, read_revision

_GOLDEN = Path(__file__).parents[3] / "golden" / "pods"
GOLDEN = sorted(path.stem for path in _GOLDEN.glob("*.json"))

NAMESPACE = "default"
EARLY = "2026-08-01T10:00:00Z"
"""When everything is created, unless a test says otherwise."""
KEY = "abc123"


def at(seconds: int) -> str:
    """A time of the wire, so many seconds (less than an hour) after EARLY."""
    return f"2026-08-01T10:{seconds // 60:02}:{seconds % 60:02}Z"


def encoded(document: Any) -> bytes:
    """As the API server sends it."""
    return msgspec.json.encode(document)


def a_set(*, policy: str = "RecreateGroupOnPodRestart", **changes: Any) -> LeaderWorkerSet:
    """A LeaderWorkerSet `lws`; `template`, `spec`, `metadata` and `status` overlay its parts."""
    document = {
        "metadata": {
            "name": "lws",
            "namespace": NAMESPACE,
            "uid": "lws-uid",
            "resourceVersion": "1",
        }
        | changes.get("metadata", {}),
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 3, "restartPolicy": policy, "workerTemplate": {}}
            | changes.get("template", {}),
        }
        | changes.get("spec", {}),
        "status": changes.get("status", {}),
    }
    return leaderworkerset.decode(encoded(document))


def container(
    name: str = "serve",
    *,
    started: str | None = EARLY,
    restarted: int = 0,
    finished: str | None = None,
    code: int = 1,
    reason: str = "Error",
) -> dict[str, Any]:
    """A container status; `finished` is the end of the run before this one."""
    last = {"exitCode": code, "reason": reason, "finishedAt": finished}
    return {
        "name": name,
        "restartCount": restarted,
        "state": {"running": {"startedAt": started}} if started else {"waiting": {"reason": "X"}},
        "lastState": {"terminated": last} if finished else {},
    }


def a_pod(
    name: str = "lws-0",
    *,
    uid: str = "",
    owner: str = "",
    key: str = KEY,
    phase: str = "Running",
    ready: bool = True,
    created: str = EARLY,
    deleted: str | None = None,
    containers: list[dict[str, Any]] | None = None,
    **more: Any,
) -> Pod:
    """A pod of group 0; its UID is its name with `-uid`, its owner the right StatefulSet."""
    is_leader = name == "lws-0"
    annotations = {names.SIZE: "3"} | more.get("annotations", {})
    if not is_leader:
        annotations[names.LEADER_NAME] = "lws-0"
    owner = owner or ("lws-sts-uid" if is_leader else "lws-0-sts-uid")
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": created}
    document = {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": uid or f"{name}-uid",
            "resourceVersion": "5",
            "creationTimestamp": created,
            "deletionTimestamp": deleted,
            "labels": {
                names.NAME: "lws",
                names.GROUP_INDEX: "0",
                names.GROUP_KEY: names.group_key(NAMESPACE, "lws-0"),
                names.REVISION_KEY: key,
            },
            "annotations": annotations,
            "ownerReferences": [
                {"kind": "StatefulSet", "name": "lws", "uid": owner, "controller": True}
            ],
        },
        "spec": {"nodeName": more.get("node", "node-1")},
        "status": {
            "phase": phase,
            "reason": more.get("why", ""),
            "conditions": more.get("conditions", [condition]),
            "containerStatuses": [container()] if containers is None else containers,
            "initContainerStatuses": more.get("init_containers", []),
        },
    }
    return decode_pod(encoded(document))


def a_worker(index: int, **changes: Any) -> Pod:
    """Worker of that index in group 0."""
    return a_pod(f"lws-0-{index}", **changes)


def a_statefulset(
    *,
    uid: str = "lws-0-sts-uid",
    owner: str | None = "lws-0-uid",
    replicas: int = 2,
    available: int = 2,
    deleted: str | None = None,
    **more: Any,
) -> StatefulSet:
    """The worker StatefulSet of group 0."""
    reference = {"kind": "Pod", "name": "lws-0", "uid": owner, "controller": True}
    document = {
        "metadata": {
            "name": "lws-0",
            "namespace": NAMESPACE,
            "uid": uid,
            "generation": more.get("generation", 1),
            "deletionTimestamp": deleted,
            "labels": {
                names.NAME: "lws",
                names.GROUP_INDEX: "0",
                names.REVISION_KEY: more.get("key", KEY),
            },
            "ownerReferences": more.get("references", [reference] if owner else []),
        },
        "spec": {"replicas": replicas, "template": more.get("template", {})},
        "status": {
            "availableReplicas": available,
            "currentRevision": more.get("current", "r1"),
            "updateRevision": more.get("update", "r1"),
        },
    }
    return decode_statefulset(encoded(document))


def a_revision(template: dict[str, Any] | None = None, **more: Any) -> Revision:
    """The revision that group 0 is made from."""
    parts = {
        "leaderWorkerTemplate": {"$patch": "replace", "size": 3, "workerTemplate": {}}
        | (template or {}),
        "networkConfig": {"$patch": "replace", "subdomainPolicy": more.get("subdomain", "Shared")},
    }
    document = {
        "metadata": {
            "name": f"lws-{KEY}-1",
            "uid": "revision-uid",
            "labels": {names.NAME: "lws", names.REVISION_KEY: KEY},
            "annotations": more.get("annotations", {}),
        },
        "revision": 1,
        "data": {"spec": parts},
    }
    return read_revision(decode_revision(encoded(document)))


def a_service(*, owner: str | None = "lws-0-uid", kind: str = "Pod") -> Service:
    """The Service named like group 0."""
    reference = {"kind": kind, "name": "lws-0", "uid": owner, "controller": True}
    metadata = {"name": "lws-0", "ownerReferences": [reference] if owner else []}
    return decode_service(encoded({"metadata": metadata}))


def pods_of_a_group() -> tuple[Pod, ...]:
    """Leader and two workers, running and ready."""
    return (a_pod(), a_worker(1), a_worker(2))


def a_group(**changes: Any) -> GroupSnapshot:
    """A group of three, ready, as a freshly started controller finds it."""
    parts: dict[str, Any] = {
        "lws": a_set(),
        "index": 0,
        "leader": a_pod(),
        "workers": (a_worker(1), a_worker(2)),
        "statefulset": a_statefulset(),
        "service": None,
        "revision": a_revision(),
        "node": None,
    } | changes
    parts.setdefault("membership", found(**parts))
    return GroupSnapshot(**parts)


def found(**parts: Any) -> Membership:
    """What a freshly started controller makes of these parts of a snapshot."""
    lws, leader = parts["lws"], parts["leader"]
    return initial(
        name=names.leader_pod_name(lws.metadata.name, parts["index"]),
        scope=restart_scope(lws),
        size=group_size(leader=leader, revision=parts["revision"], lws=lws),
        leader=leader,
        workers=parts["workers"],
        statefulset=parts["statefulset"],
    )


def with_membership(membership: Membership, **changes: Any) -> GroupSnapshot:
    """The group at rest, with this memory."""
    return replace(a_group(**changes), membership=membership)


@cache
def golden(world: str) -> dict[str, Any]:
    """One golden world; not to be changed."""
    loaded: dict[str, Any] = json.loads((_GOLDEN / f"{world}.json").read_text())
    return loaded


def golden_groups(world: str) -> list[GroupSnapshot]:
    """The groups of a golden world, as a freshly started controller finds them."""
    parts = golden(world)
    lws = leaderworkerset.decode(encoded(parts["leaderworkerset"]))
    pods = [decode_pod(encoded(pod)) for pod in parts["pods"]]
    by_name = {pod.metadata.name: pod for pod in pods}
    statefulsets = [decode_statefulset(encoded(one)) for one in parts["statefulsets"]]
    services = [decode_service(encoded(one)) for one in parts["services"]]
    revision = read_revision(decode_revision(encoded(parts["revision"])))
    return [
        a_group(
            lws=lws,
            index=index,
            leader=by_name[one.metadata.name],
            workers=tuple(p for p in pods if p.metadata.name.startswith(one.metadata.name + "-")),
            statefulset=one,
            service=next((s for s in services if s.metadata.name == one.metadata.name), None),
            revision=revision,
            node=LeaderNode(known=True, topology=by_name[one.metadata.name].spec.node_name),
        )
        for index, one in enumerate(statefulsets)
    ]
