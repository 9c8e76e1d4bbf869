"""The worker StatefulSet of one group, built from the revision that its leader carries, whole.

The live set gives its labels and annotations alone: everything that makes pods is the revision's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lws.api import names
from lws.api.core import Pod
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet, SubdomainPolicy
from lws.planner.actions import Document
from lws.planner.pods.ownership import owner_reference
from lws.planner.pods.size import revision_size
from lws.planner.pods.tpus import requests_tpus
from lws.planner.revision import Revision

_CLAIM_PARTS = ("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What a worker StatefulSet is built from."""

    lws: LeaderWorkerSet
    index: int
    leader: Pod
    revision: Revision
    node_selector: Mapping[str, str]
    """Exclusive placement; empty: none, or not known."""

    @property
    def name(self) -> str:
        """Of the group."""
        return self.leader.metadata.name

    @property
    def parts(self) -> Mapping[str, Any]:
        """`leaderWorkerTemplate`, as recorded."""
        parts: Mapping[str, Any] = self.revision.document["leaderWorkerTemplate"]
        return parts


def statefulset_body(group: Group) -> Document:
    """The worker StatefulSet as we create it; what the API server defaults is left to it."""
    lws = group.lws.metadata
    identity = _identity(group)
    labels = identity | {names.REVISION_KEY: group.leader.metadata.labels.revision_key}
    return {
        "apiVersion": Kind.STATEFUL_SET.api_version,
        "kind": Kind.STATEFUL_SET.kind,
        "metadata": {
            "name": group.name,
            "namespace": group.leader.metadata.namespace,
            "labels": lws.labels | labels,
            "annotations": _annotations(group.lws),
            "ownerReferences": [owner_reference(group.leader)],
        },
        "spec": {
            "replicas": revision_size(group.revision) - 1,
            "ordinals": {"start": 1},
            "podManagementPolicy": "Parallel",
            "serviceName": _service_name(group),
            "selector": {"matchLabels": identity},
            "template": pod_template(group),
            **{part: group.parts[part] for part in _CLAIM_PARTS if group.parts.get(part)},
        },
    }


def pod_template(group: Group) -> Document:
    """Pods of the workers."""
    template: Mapping[str, Any] = group.parts.get("workerTemplate") or {}
    metadata: Mapping[str, Any] = template.get("metadata") or {}
    spec: Mapping[str, Any] = template.get("spec") or {}
    if group.node_selector:
        selector = {**(spec.get("nodeSelector") or {}), **group.node_selector}
        spec = {**spec, "nodeSelector": selector}
    key = {names.REVISION_KEY: group.leader.metadata.labels.revision_key}
    return {
        **template,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), **_identity(group), **key},
            "annotations": {**(metadata.get("annotations") or {}), **_pod_annotations(group)},
        },
        "spec": spec,
    }


def _identity(group: Group) -> dict[str, str]:
    """Labels that tell the workers of one group from all others: the selector."""
    metadata = group.leader.metadata
    key = metadata.labels.group_key or names.group_key(metadata.namespace, metadata.name)
    return {
        names.NAME: group.lws.metadata.name,
        names.GROUP_INDEX: str(group.index),
        names.GROUP_KEY: key,
    }


def _annotations(lws: LeaderWorkerSet) -> dict[str, str]:
    """The set's own, without the one by which `kubectl apply --prune` picks what it deletes."""
    annotations = dict(lws.metadata.annotations)
    annotations.pop(names.LAST_APPLIED, None)
    return annotations


def _pod_annotations(group: Group) -> dict[str, str]:
    annotations = {
        names.SIZE: str(revision_size(group.revision)),
        names.LEADER_NAME: group.name,
    }
    topology = group.leader.metadata.annotations.exclusive_topology
    if topology:
        annotations[names.EXCLUSIVE_TOPOLOGY] = topology
    annotations |= _subgroup_annotations(group)
    if requests_tpus(group.parts.get("leaderTemplate") or group.parts.get("workerTemplate") or {}):
        annotations[names.LEADER_REQUESTS_TPUS] = "true"
    return annotations


def _subgroup_annotations(group: Group) -> dict[str, str]:
    subgroups = group.revision.template.leader_worker_template.sub_group_policy
    if subgroups is None:
        return {}
    annotations = {names.SUBGROUP_POLICY_TYPE: str(subgroups.sub_group_policy_type)}
    if subgroups.sub_group_size is not None:
        annotations[names.SUBGROUP_SIZE] = str(subgroups.sub_group_size)
    topology = group.leader.metadata.annotations.subgroup_exclusive_topology
    if topology:
        annotations[names.SUBGROUP_EXCLUSIVE_TOPOLOGY] = topology
    return annotations


def _service_name(group: Group) -> str:
    """The pods' subdomain."""
    network = group.revision.template.network_config
    if network is not None and network.subdomain_policy == SubdomainPolicy.UNIQUE_PER_REPLICA:
        return group.name
    return group.lws.metadata.name
