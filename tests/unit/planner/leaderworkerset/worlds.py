"""Snapshots of a LeaderWorkerSet, as small as a test needs them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from lws.api import names
from lws.api.apps import ControllerRevision, StatefulSet, decode_revision, decode_statefulset
from lws.api.core import Service, decode_service
from lws.api.leaderworkerset import LeaderWorkerSet, decode
from lws.base.ids import UID, ResourceVersion, RevisionKey
from lws.planner.actions import Action, Apply, Create, Delete, Emit, MergePatch
from lws.planner.leaderworkerset.plan import Plan
from lws.planner.leaderworkerset.revisions import read_wanted
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.pods.snapshot import GroupFacts
from lws.planner.revision import Revision, read_revision

NOW = 1_000_000.0
NAMESPACE = "models"
NAME = "vllm"
UID_OF_SET = UID("set-uid")
OLD_KEY = RevisionKey("old")
KEY = RevisionKey("key")


def pod_template(image: str = "serve:1") -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "serve", "image": image}]}}


def a_set(*, image: str = "serve:1", **spec: Any) -> LeaderWorkerSet:
    """Three groups of two; `spec` is merged over it, `metadata` and `status` likewise."""
    metadata = {
        "name": NAME,
        "namespace": NAMESPACE,
        "uid": UID_OF_SET,
        "generation": 4,
        "resourceVersion": "7",
        **spec.pop("metadata", {}),
    }
    status = spec.pop("status", {})
    template = {"size": 2, "workerTemplate": pod_template(image)} | spec.pop("template", {})
    document = {
        "metadata": metadata,
        "spec": {"replicas": 3, "leaderWorkerTemplate": template, **spec},
        "status": status,
    }
    return decode(msgspec.json.encode(document))


def rolling(**budgets: Any) -> dict[str, Any]:
    """A rollout strategy with these budgets."""
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": budgets}


def a_recorded(
    lws: LeaderWorkerSet, *, key: str = KEY, number: int = 1, **changes: Any
) -> ControllerRevision:
    """What the API server holds of a revision of this set's present template."""
    spec = {
        part: {**content, "$patch": "replace"}
        for part, content in read_wanted(lws).document.items()
    }
    is_retired = changes.pop("retired", False)
    label = names.HISTORY_OF if is_retired else names.NAME
    metadata = {
        "name": f"{NAME}-{key}-{number}",
        "namespace": NAMESPACE,
        "uid": f"{key}-{number}-uid",
        "resourceVersion": "3",
        "labels": {label: NAME, names.REVISION_KEY: key},
        **changes.pop("metadata", {}),
    }
    document = {"metadata": metadata, "revision": number, "data": {"spec": spec}, **changes}
    return decode_revision(msgspec.json.encode(document))


def a_revision(lws: LeaderWorkerSet, *, key: str = KEY, number: int = 1, **more: Any) -> Revision:
    return read_revision(a_recorded(lws, key=key, number=number, **more))


def statefulset_document(**changes: Any) -> dict[str, Any]:
    """The leader StatefulSet of three groups, at rest, as the public controller would leave it."""
    key = changes.get("key", KEY)
    strategy = {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": changes.get("partition", 0)},
    }
    labels = {names.NAME: NAME, names.REVISION_KEY: key}
    annotations = {names.REPLICAS: "3", **changes.get("annotations", {})}
    return {
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "uid": "sts-uid",
            "resourceVersion": "20",
            "generation": 2,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [
                {
                    "apiVersion": names.API_VERSION,
                    "kind": names.KIND,
                    "name": NAME,
                    "uid": changes.get("owner", UID_OF_SET),
                    "controller": True,
                }
            ],
            **changes.get("metadata", {}),
        },
        "spec": {
            "replicas": changes.get("replicas", 3),
            "serviceName": NAME,
            "updateStrategy": changes.get("strategy", strategy),
            "template": {
                "metadata": {"labels": {**labels, names.WORKER_INDEX: "0"}},
                **pod_template(changes.get("image", "serve:1")),
            },
        },
        "status": {"observedGeneration": 2, "replicas": 3, **changes.get("status", {})},
    }


def facts(index: int, **changes: Any) -> GroupFacts:
    """A ready group of the present key."""
    name = names.leader_pod_name(NAME, index)
    ready = changes.get("ready", True)
    key = changes.get("key", KEY)
    since = changes.pop("since", NOW - 100)
    base = GroupFacts(
        index=index,
        leader=name,
        leader_uid=UID(f"{name}-uid"),
        leader_resource_version=ResourceVersion("9"),
        leader_created=NOW - 1000,
        terminating=False,
        key=key,
        complete=True,
        updated_key=key,
        ready=True,
        ready_since=since if ready else None,
        unready_since=None if ready else since,
        keys=frozenset([key] if key else []),
        loss=None,
    )
    return replace(base, **changes)


def a_service() -> Service:
    return decode_service(msgspec.json.encode({"metadata": {"name": NAME, "uid": "service-uid"}}))


def at_rest(lws: LeaderWorkerSet | None = None, **changes: Any) -> LeaderWorkerSetSnapshot:
    """Three groups, ready, of the one revision; members can be exchanged."""
    lws = lws or a_set()
    document: Mapping[str, Any] = changes.pop("document", statefulset_document())
    statefulset = None if not document else as_statefulset(document)
    groups: Sequence[GroupFacts] = changes.pop("groups", [facts(index) for index in range(3)])
    return LeaderWorkerSetSnapshot(
        lws=lws,
        wanted=read_wanted(lws),
        statefulset=statefulset,
        document=document,
        revisions=tuple(changes.pop("revisions", [a_revision(lws)])),
        service=changes.pop("service", a_service()),
        groups=tuple(groups),
        foreign=tuple(changes.pop("foreign", ())),
        now=changes.pop("now", NOW),
        **changes,
    )


def as_statefulset(document: Mapping[str, Any]) -> StatefulSet:
    return decode_statefulset(msgspec.json.encode(document))


def updating(image: str = "serve:2", **changes: Any) -> LeaderWorkerSetSnapshot:
    """The spec asks for another image than the one that stands, which is recorded as `old`."""
    lws = changes.pop("lws", None) or a_set(image=image)
    old = a_revision(a_set(image="serve:1"), key=OLD_KEY)
    changes.setdefault("document", statefulset_document(key=OLD_KEY))
    changes.setdefault("groups", [facts(index, key=OLD_KEY) for index in range(3)])
    changes.setdefault("revisions", [old])
    return at_rest(lws, **changes)


def actions(planned: Plan) -> list[Action]:
    """All of a plan, in order."""
    return [action for strand in planned.strands for action in strand]


def writes(planned: Plan) -> list[Action]:
    """Without the events."""
    return [action for action in actions(planned) if not isinstance(action, Emit)]


def only_apply(planned: Plan) -> Apply:
    (apply,) = [action for action in actions(planned) if isinstance(action, Apply)]
    return apply


def creates(planned: Plan, kind: str) -> list[Create]:
    return [one for one in actions(planned) if isinstance(one, Create) and one.kind.kind == kind]


def patches(planned: Plan) -> list[MergePatch]:
    return [one for one in actions(planned) if isinstance(one, MergePatch)]


def deletes(planned: Plan) -> list[Delete]:
    return [one for one in actions(planned) if isinstance(one, Delete)]


def notes(planned: Plan) -> list[str]:
    """What is told, the events of writes too."""
    told = []
    for action in actions(planned):
        event = action if isinstance(action, Emit) else getattr(action, "event", None)
        if event is not None:
            told.append(event.note)
    return told
