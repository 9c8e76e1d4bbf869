"""A DisaggregatedSet at any step of an update, out of the golden one in mid-update.

The new groups there cannot be placed; here they run, with what running pods of the old revision
carry in their status, as kubelets would have written it.
"""

import copy
import json
import uuid
from typing import Any

from lws.api import names
from tests.golden.states import Objects, Sample, merged, placed, sample, starting
from tests.golden.worlds import Document, World, load

OLD, NEW = "f0650f18", "b60b9b30"
ROLES = ("prefill", "decode")
INITIAL = {"prefill": 2, "decode": 3}
Counts = dict[str, int]
_SPACE = uuid.UUID("5d0c0a52-0000-4000-8000-000000000001")


def role_set(revision: str, role: str) -> str:
    """Name of a role's LeaderWorkerSet."""
    return names.role_lws(ds="pd", slice_index=0, revision=revision, role=role)


def world_at(old: Counts, new: Counts, *, is_starting: bool = False) -> World:
    """Replicas of each role; with `is_starting` the last new group of each is not ready yet."""
    golden = load("ds-mid-update")
    groups, sets, leaders = [], [], []
    ready: dict[str, dict[str, int]] = {OLD: dict(old), NEW: dict(new)}
    for role in ROLES:
        for revision, count in ((OLD, old[role]), (NEW, new[role])):
            name = role_set(revision, role)
            group = _running(golden, revision, role)
            for index in range(count):
                stands = placed(group, lws=name, index=index)
                late = is_starting and revision == NEW and index == count - 1
                ready[revision][role] -= late
                groups.append(starting(stands) if late else stands)
            lws = _find(golden["leaderworkersets"], name)
            sets.append(_scaled(lws, count, ready=ready[revision][role]))
            leaders.append(_led(_find(golden["statefulsets"], name), count))
    found = merged(groups)
    return {
        "disaggregatedsets": [_summed(golden, old, new, ready)],
        "leaderworkersets": sets,
        "statefulsets": [*leaders, *found.statefulsets],
        "controllerrevisions": _own_revisions(golden, found),
        "services": _services(golden, serves=all(ready[NEW].values())),
        "pods": found.pods,
    }


def _find(documents: list[Document], name: str) -> Document:
    return copy.deepcopy(next(one for one in documents if one["metadata"]["name"] == name))


def _running(golden: World, revision: str, role: str) -> Sample:
    """The first group of a role, as it is when it runs."""
    group = sample(golden, role_set(revision, role), 0)
    if revision == OLD:
        return group
    like = sample(golden, role_set(OLD, role), 0)
    objects = copy.deepcopy(dict(group.objects))
    for pod, model in zip(objects["pods"], like.objects["pods"], strict=True):
        status = copy.deepcopy(model["status"])
        for container, own in zip(
            status["containerStatuses"], pod["spec"]["containers"], strict=True
        ):
            container["image"] = own["image"]
        pod["status"] = status
        pod["spec"]["nodeName"] = model["spec"]["nodeName"]
        entries = pod["metadata"]["managedFields"]
        kubelets = [e for e in model["metadata"]["managedFields"] if e["manager"] == "kwok"]
        entries[:] = [e for e in entries if e["manager"] != "kube-scheduler"] + kubelets
    (statefulset,), (model,) = objects["statefulsets"], like.objects["statefulsets"]
    for count in ("readyReplicas", "availableReplicas"):
        statefulset["status"][count] = model["status"][count]
    return Sample(group.lws, group.index, objects)


def _scaled(lws: Document, count: int, *, ready: int) -> Document:
    lws["spec"]["replicas"] = count
    counts = {"replicas": count, "updatedReplicas": count, "readyReplicas": ready}
    for name, number in counts.items():
        lws["status"].pop(name, None)
        lws["status"] |= {name: number} if number else {}
    available = "True" if ready == count else "False"
    other = {"True": "False", "False": "True"}
    model = _condition(lws, "Progressing")
    words = {
        "Available": (available, "AllGroupsReady", "All replicas are ready"),
        "Progressing": (other[available], model["reason"], model["message"]),
    }
    conditions = []
    for kind, (status, reason, message) in words.items():
        told = {"status": status, "reason": reason, "message": message, "type": kind}
        conditions.append({**model, **told})
    lws["status"]["conditions"] = conditions
    return lws


def _condition(lws: Document, kind: str) -> Any:
    return next(one for one in lws["status"]["conditions"] if one["type"] == kind)


def _led(leader: Document, count: int) -> Document:
    leader["spec"]["replicas"] = count
    leader["metadata"]["annotations"][names.REPLICAS] = str(count)
    status = leader["status"]
    for name in ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas"):
        status.pop(name, None)
        if count or name == "replicas":
            status[name] = count
    status["availableReplicas"] = count
    return leader


def _summed(golden: World, old: Counts, new: Counts, ready: dict[str, dict[str, int]]) -> Document:
    (ds,) = copy.deepcopy(golden["disaggregatedsets"])
    ds["status"]["roleStatuses"] = [
        {
            "name": role,
            "replicas": old[role] + new[role],
            "readyReplicas": ready[OLD][role] + ready[NEW][role],
            "updatedReplicas": new[role],
        }
        for role in ROLES
    ]
    return ds


def _own_revisions(golden: World, found: Objects) -> list[Document]:
    own = [
        one
        for one in golden["controllerrevisions"]
        if names.GROUP_INDEX not in one["metadata"]["labels"]
    ]
    return [*own, *found.controllerrevisions]


def _services(golden: World, *, serves: bool) -> list[Document]:
    """Those of the roles of a revision come once each of its roles serves."""
    services = list(golden["services"])
    if serves:
        for role in ROLES:
            service = _find(services, names.role_service(role_set(OLD, role)))
            text = json.dumps(service).replace(OLD, NEW)
            text = text.replace(service["metadata"]["uid"], str(uuid.uuid5(_SPACE, role)))
            services.append(json.loads(text))
    return services
