"""Which pod is which: ordinals, names, labels; and how a new pod is made from a set."""

import re
from collections.abc import Mapping
from typing import Any

from lws.sandbox.cluster.objects import (
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    with_metadata,
)
from lws.sandbox.server.verbs import JsonObject

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"

_NAME = re.compile(r"(.*)-([0-9]+)", re.DOTALL)
_ORDINAL_MAX = 2**31 - 1


def spec_of(stateful_set: JsonObject) -> JsonObject:
    """`spec`."""
    spec: JsonObject = stateful_set["spec"]
    return spec


def replicas_of(stateful_set: JsonObject) -> int:
    """`spec.replicas`."""
    replicas = spec_of(stateful_set).get("replicas")
    return 1 if replicas is None else int(replicas)


def start_of(stateful_set: JsonObject) -> int:
    """The lowest ordinal."""
    return int((spec_of(stateful_set).get("ordinals") or {}).get("start") or 0)


def min_ready_of(stateful_set: JsonObject) -> int:
    """`spec.minReadySeconds`."""
    return int(spec_of(stateful_set).get("minReadySeconds") or 0)


def is_parallel(stateful_set: JsonObject) -> bool:
    """Are its pods made and ended all at once?"""
    return spec_of(stateful_set).get("podManagementPolicy") == "Parallel"


def is_on_delete(stateful_set: JsonObject) -> bool:
    """Does somebody else delete the pods that are to be updated?"""
    return (spec_of(stateful_set).get("updateStrategy") or {}).get("type") == "OnDelete"


def rolling_update_of(stateful_set: JsonObject) -> Mapping[str, Any]:
    """`spec.updateStrategy.rollingUpdate`, perhaps empty."""
    strategy = spec_of(stateful_set).get("updateStrategy") or {}
    rolling: Mapping[str, Any] = strategy.get("rollingUpdate") or {}
    return rolling


def partition_of(stateful_set: JsonObject) -> int:
    """From which pod on (counted from the first) pods are updated."""
    return int(rolling_update_of(stateful_set).get("partition") or 0)


def parent_and_ordinal(pod: JsonObject) -> tuple[str, int]:
    """The set and the ordinal that the pod's name speaks of; "" and -1 if it speaks of none."""
    match = _NAME.fullmatch(name_of(pod))
    if match is None:
        return "", -1
    ordinal = int(match[2])
    return match[1], ordinal if ordinal <= _ORDINAL_MAX else -1


def ordinal_of(pod: JsonObject) -> int:
    """The ordinal in the pod's name, or -1."""
    return parent_and_ordinal(pod)[1]


def is_in_range(pod: JsonObject, stateful_set: JsonObject) -> bool:
    """Does the set want a pod of this ordinal?"""
    start = start_of(stateful_set)
    return start <= ordinal_of(pod) < start + replicas_of(stateful_set)


def pod_name(stateful_set: JsonObject, ordinal: int) -> str:
    """The name of a pod."""
    return f"{name_of(stateful_set)}-{ordinal}"


def claim_name(stateful_set: JsonObject, template: JsonObject, ordinal: int) -> str:
    """The name of a pod's claim."""
    return f"{name_of(template)}-{name_of(stateful_set)}-{ordinal}"


def revision_of(pod: JsonObject) -> str:
    """The name of the revision that the pod was made from."""
    return labels_of(pod).get(REVISION, "")


def has_identity(stateful_set: JsonObject, pod: JsonObject) -> bool:
    """Is the pod named and labelled as a member of the set?"""
    parent, ordinal = parent_and_ordinal(pod)
    return (
        ordinal >= 0
        and parent == name_of(stateful_set)
        and name_of(pod) == pod_name(stateful_set, ordinal)
        and labels_of(pod).get(POD_NAME) == name_of(pod)
    )


def with_identity(stateful_set: JsonObject, pod: JsonObject) -> JsonObject:
    """The pod, labelled as a member of the set."""
    ordinal = ordinal_of(pod)
    name = pod_name(stateful_set, ordinal)
    labels = {**labels_of(pod), POD_NAME: name, POD_INDEX: str(ordinal)}
    return with_metadata(pod, name=name, labels=labels)


def claim_templates_of(stateful_set: JsonObject) -> list[JsonObject]:
    """`spec.volumeClaimTemplates`."""
    return list(spec_of(stateful_set).get("volumeClaimTemplates") or ())


def has_storage(stateful_set: JsonObject, pod: JsonObject) -> bool:
    """Does the pod mount its claims?"""
    ordinal = ordinal_of(pod)
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    for template in claim_templates_of(stateful_set):
        claim = (volumes.get(name_of(template)) or {}).get("persistentVolumeClaim") or {}
        if claim.get("claimName") != claim_name(stateful_set, template, ordinal):
            return False
    return True


def with_storage(stateful_set: JsonObject, pod: JsonObject) -> JsonObject:
    """The pod with a volume for each of its claims."""
    ordinal = ordinal_of(pod)
    templates = claim_templates_of(stateful_set)
    if not templates:
        return pod
    names = {name_of(template) for template in templates}
    volumes = [
        {
            "name": name_of(template),
            "persistentVolumeClaim": {"claimName": claim_name(stateful_set, template, ordinal)},
        }
        for template in templates
    ]
    volumes += [one for one in pod["spec"].get("volumes") or () if one["name"] not in names]
    return {**pod, "spec": {**pod["spec"], "volumes": volumes}}


def new_pod(
    stateful_set: JsonObject, template: JsonObject, ordinal: int, revision: str
) -> JsonObject:
    """A pod of the set that is not yet there, from the template of a revision."""
    metadata = template.get("metadata") or {}
    name = pod_name(stateful_set, ordinal)
    pod: JsonObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{name_of(stateful_set)}-",
            "name": name,
            "namespace": namespace_of(stateful_set),
            "labels": {**(metadata.get("labels") or {}), REVISION: revision},
            "ownerReferences": [owner_reference(stateful_set)],
        },
        "spec": {
            **template["spec"],
            "hostname": name,
            "subdomain": spec_of(stateful_set).get("serviceName") or "",
        },
    }
    for field in ("annotations", "finalizers"):
        if metadata.get(field):
            pod["metadata"][field] = metadata[field]
    return with_storage(stateful_set, with_identity(stateful_set, pod))
