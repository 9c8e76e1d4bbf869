"""The pod webhook's one answer: what a pod must know of its group (spec: pods.md section 1)."""

from typing import Protocol

from lws.admission.documents import JsonObject, child, integer, text
from lws.admission.pods.affinity import place_exclusively
from lws.admission.pods.environment import add_group_variables
from lws.admission.pods.member import Member, Rejected, is_ours, read_member
from lws.admission.pods.subgroups import subgroup_of
from lws.admission.pods.tpu import add_tpu_variables
from lws.api import names
from lws.api.leaderworkerset import SubdomainPolicy


class PodMarker(Protocol):
    """How a gang scheduler knows the pods that belong together."""

    def mark(self, pod: JsonObject, *, pod_group_name: str) -> JsonObject:
        """The pod, marked; the argument is not changed. Marking twice changes nothing."""
        ...


def mutate_pod(pod: JsonObject, *, namespace: str, marker: PodMarker | None = None) -> JsonObject:
    """The pod as a member of its group; the very same object if it is no pod of ours.

    `namespace` is the request's: at admission the pod may not name it. The argument is not
    changed, what did not change is shared with the answer, and a second time changes nothing.
    """
    if not is_ours(pod):
        return pod
    member = read_member(pod, namespace=namespace)
    metadata = dict(child(pod, "metadata"))
    labels = dict(child(metadata, "labels"))
    annotations = child(metadata, "annotations")
    spec = dict(child(pod, "spec"))
    metadata["labels"] = labels

    if member.is_leader:
        _settle_leader(member, labels=labels, annotations=annotations, spec=spec)
    else:
        labels[names.WORKER_INDEX] = str(member.worker_index)
    if member.subgroup_size is not None and not member.is_leader_excluded:
        _settle_subgroup(member, labels=labels, annotations=annotations, spec=spec)
    mutated = {**pod, "metadata": metadata, "spec": spec}
    if marker is not None:
        mutated = marker.mark(mutated, pod_group_name=_pod_group_name(member, labels))
        spec = dict(child(mutated, "spec"))
    add_tpu_variables(spec, member=member, annotations=annotations)
    add_group_variables(spec, member=member, group=text(labels, names.GROUP_INDEX))
    return {**mutated, "spec": spec}


def _settle_leader(
    member: Member, *, labels: JsonObject, annotations: JsonObject, spec: JsonObject
) -> None:
    labels.setdefault(names.GROUP_INDEX, str(member.ordinal))
    labels.setdefault(names.GROUP_KEY, names.group_key(member.namespace, member.pod))
    if annotations.get(names.SUBDOMAIN_POLICY) == SubdomainPolicy.UNIQUE_PER_REPLICA:
        spec["subdomain"] = member.pod
    if topology := text(annotations, names.EXCLUSIVE_TOPOLOGY):
        value = text(labels, names.GROUP_KEY)
        place_exclusively(spec, topology=topology, label=names.GROUP_KEY, value=value)


def _settle_subgroup(
    member: Member, *, labels: JsonObject, annotations: JsonObject, spec: JsonObject
) -> None:
    assert member.subgroup_size is not None
    index = subgroup_of(member.worker_index, size=member.size, subgroup_size=member.subgroup_size)
    labels.setdefault(names.SUBGROUP_INDEX, str(index))
    chosen = integer(text(labels, names.SUBGROUP_INDEX))
    key = names.subgroup_key(member.leader, index if chosen is None else chosen)
    labels.setdefault(names.SUBGROUP_KEY, key)
    if topology := text(annotations, names.SUBGROUP_EXCLUSIVE_TOPOLOGY):
        value = text(labels, names.SUBGROUP_KEY)
        place_exclusively(spec, topology=topology, label=names.SUBGROUP_KEY, value=value)


def _pod_group_name(member: Member, labels: JsonObject) -> str:
    group, key = text(labels, names.GROUP_INDEX), text(labels, names.REVISION_KEY)
    if not group or not key:
        raise Rejected(
            f"pod {member.pod} needs the labels {names.GROUP_INDEX} and {names.REVISION_KEY}"
            " to be scheduled as a member of a group"
        )
    return f"{member.lws}-{group}-{key}"
