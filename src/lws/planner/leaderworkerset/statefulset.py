"""The leader StatefulSet: what it should say, and whether it says so (leaderworkerset.md 2).

Outside an update its pod template, claims and whatever else makes pods are taken from the live
object, as far as we own them: what a newer version of this program would build differently waits
for the next update.
"""

import copy
from collections.abc import Mapping
from typing import Any

from lws.api import names
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet, SubdomainPolicy, Template
from lws.base.ids import RevisionKey
from lws.planner.leaderworkerset.revisions import leader_template, owner_reference
from lws.planner.leaderworkerset.rollout_values import LeaderStatefulSet, SetRollout
from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot, WantedTemplate
from lws.planner.leaderworkerset.values import budgets_of, partition_of, replicas_of
from lws.planner.ownership import applied_fields, applied_time, extract, field_names

ON_DELETE = "OnDelete"
ROLLING_UPDATE = "RollingUpdate"


def standing(snapshot: LeaderWorkerSetSnapshot) -> LeaderStatefulSet:
    """The leader StatefulSet as the rollout's rules read it."""
    statefulset = snapshot.statefulset
    assert statefulset is not None, "only a StatefulSet that exists stands"
    annotations = statefulset.metadata.annotations
    replicas = statefulset.spec.replicas
    strategy = statefulset.spec.update_strategy
    on_delete = strategy.type == ON_DELETE
    if on_delete:
        partition = _count(annotations.get(names.PARTITION), garbage=replicas)
    else:
        partition = 0 if strategy.rolling_update is None else strategy.rolling_update.partition
    observed = statefulset.status.observed_generation
    return LeaderStatefulSet(
        replicas=replicas,
        partition=partition,
        on_delete=on_delete,
        key=statefulset.revision_key,
        observed=None if observed is None else observed >= statefulset.metadata.generation,
        applied_replicas=_count(annotations.get(names.REPLICAS), garbage=replicas),
    )


def first_rollout(snapshot: LeaderWorkerSetSnapshot, *, key: RevisionKey) -> SetRollout:
    """Created: as many groups as asked for, whatever the surge, and the spec's partition.

    Leaders of another revision that are there already (their StatefulSet was deleted and left
    them) are held back, or its controller would replace them with no pacing.
    """
    replicas, partition = replicas_of(snapshot.lws), partition_of(snapshot.lws)
    if any(facts.key not in (None, key) for facts in snapshot.groups):
        partition = max(partition, replicas)
    return SetRollout(replicas=replicas, partition=partition, on_delete=False, key=key)


def body(snapshot: LeaderWorkerSetSnapshot, rollout: SetRollout) -> dict[str, Any]:
    """The whole of what we apply."""
    lws = snapshot.lws
    live_key = None if snapshot.statefulset is None else snapshot.statefulset.revision_key
    if live_key == rollout.key:
        spec = _applied_spec(snapshot.document)
    else:
        spec = _built_spec(lws, snapshot.wanted, RevisionKey(rollout.key))
    spec["replicas"] = rollout.replicas
    spec["updateStrategy"] = _strategy(lws, rollout)
    return {
        "apiVersion": Kind.STATEFUL_SET.api_version,
        "kind": Kind.STATEFUL_SET.kind,
        "metadata": {
            "name": lws.metadata.name,
            "namespace": lws.metadata.namespace,
            "labels": _labels(lws, rollout.key),
            "annotations": _annotations(lws, rollout),
            "ownerReferences": [owner_reference(lws)],
        },
        "spec": spec,
    }


def differs(snapshot: LeaderWorkerSetSnapshot, rollout: SetRollout) -> bool:
    """Whether an apply would change anything of the standing StatefulSet."""
    statefulset = snapshot.statefulset
    if statefulset is None:
        return True
    stands = standing(snapshot)
    decided = (rollout.replicas, rollout.partition, rollout.on_delete, rollout.key)
    if decided != (stands.replicas, stands.partition, stands.on_delete, stands.key):
        return True
    return _metadata_differs(snapshot, rollout) or _budget_differs(snapshot, rollout)


def applied_at(snapshot: LeaderWorkerSetSnapshot) -> float | None:
    """When the server took our last apply that changed something; None if it records none."""
    return applied_time(snapshot.document.get("metadata") or {}, manager=names.FIELD_MANAGER)


_CARRIED_LATER = frozenset({names.LAST_APPLIED, names.DS_INITIAL_REPLICAS})
"""No reason to write: the public controller carries the first, which says nothing of a set; the
second is a note about an update of several sets, and goes along with the next apply."""


def _metadata_differs(snapshot: LeaderWorkerSetSnapshot, rollout: SetRollout) -> bool:
    live = snapshot.document["metadata"]
    owned = applied_fields(live, manager=names.FIELD_MANAGER)
    wanted = {
        "labels": _labels(snapshot.lws, rollout.key),
        "annotations": _annotations(snapshot.lws, rollout),
    }
    for part, values in wanted.items():
        stands = live.get(part) or {}
        if any(stands.get(k) != v for k, v in values.items() if k not in _CARRIED_LATER):
            return True
        leftover = (field_names(owned, "metadata", part) & stands.keys()) - values.keys()
        if leftover - _CARRIED_LATER:
            return True
    return False


def _budget_differs(snapshot: LeaderWorkerSetSnapshot, rollout: SetRollout) -> bool:
    """A live maxUnavailable that is not ours; one the server dropped (gate off) is none."""
    assert snapshot.statefulset is not None
    rolling = snapshot.statefulset.spec.update_strategy.rolling_update
    if rollout.on_delete or rolling is None or rolling.max_unavailable is None:
        return False
    return rolling.max_unavailable != _max_unavailable(snapshot.lws)


def _applied_spec(document: Mapping[str, Any]) -> dict[str, Any]:
    """What stands of our last apply; the whole spec if no apply of ours is recorded."""
    spec = document["spec"]
    owned = applied_fields(document["metadata"], manager=names.FIELD_MANAGER)
    if owned is not None and "f:spec" in owned:
        spec = extract(spec, owned["f:spec"])
    return copy.deepcopy(dict(spec))


def _built_spec(lws: LeaderWorkerSet, wanted: WantedTemplate, key: RevisionKey) -> dict[str, Any]:
    name = lws.metadata.name
    template = wanted.document["leaderWorkerTemplate"]
    spec: dict[str, Any] = {
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {names.NAME: name, names.WORKER_INDEX: "0"}},
        "template": _pod_template(lws, wanted, key),
    }
    for part in ("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"):
        if template.get(part):
            spec[part] = without_nulls(template[part])
    return spec


def _pod_template(lws: LeaderWorkerSet, wanted: WantedTemplate, key: RevisionKey) -> dict[str, Any]:
    template: dict[str, Any] = without_nulls(leader_template(wanted))
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = (metadata.get("labels") or {}) | {
        names.NAME: lws.metadata.name,
        names.WORKER_INDEX: "0",
        names.REVISION_KEY: key,
    }
    annotations = (metadata.get("annotations") or {}) | pod_annotations(wanted.template)
    metadata["annotations"] = annotations | dict(wanted.topologies)
    return template


def pod_annotations(template: Template) -> dict[str, str]:
    """What pods must know of the template that they are made from."""
    annotations = {names.SIZE: str(template.leader_worker_template.size)}
    subgroups = template.leader_worker_template.sub_group_policy
    if subgroups is not None:
        annotations[names.SUBGROUP_POLICY_TYPE] = subgroups.sub_group_policy_type
        annotations[names.SUBGROUP_SIZE] = str(subgroups.sub_group_size or 0)
    network = template.network_config
    if network is not None and network.subdomain_policy == SubdomainPolicy.UNIQUE_PER_REPLICA:
        annotations[names.SUBDOMAIN_POLICY] = SubdomainPolicy.UNIQUE_PER_REPLICA.value
    return annotations


INT32_MAX = 2**31 - 1
"""What the field holds; a percentage that no webhook saw may come to more."""


def _strategy(lws: LeaderWorkerSet, rollout: SetRollout) -> dict[str, Any]:
    if rollout.on_delete:
        return {"type": ON_DELETE}
    rolling = {"partition": rollout.partition, "maxUnavailable": _max_unavailable(lws)}
    return {"type": ROLLING_UPDATE, "rollingUpdate": rolling}


def _max_unavailable(lws: LeaderWorkerSet) -> int:
    budgets = budgets_of(lws)
    return min(INT32_MAX, max(1, budgets.surge + budgets.unavailable))


def _labels(lws: LeaderWorkerSet, key: str) -> dict[str, str]:
    return {**lws.metadata.labels, names.NAME: lws.metadata.name, names.REVISION_KEY: key}


def _annotations(lws: LeaderWorkerSet, rollout: SetRollout) -> dict[str, str]:
    annotations = dict(lws.metadata.annotations)
    annotations.pop(names.LAST_APPLIED, None)
    annotations.pop(names.PARTITION, None)
    annotations[names.REPLICAS] = str(replicas_of(lws))
    if rollout.on_delete:
        annotations[names.PARTITION] = str(rollout.partition)
    return annotations


def without_nulls(value: Any) -> Any:
    """A copy with no null field: server-side apply reads a null as a wish of its own."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _count(text: str | None, *, garbage: int) -> int:
    """A decimal in an annotation; what a hand has garbled counts as `garbage`."""
    if text is not None and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return garbage
