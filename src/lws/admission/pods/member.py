"""What a pod says of its place in a group."""

from dataclasses import dataclass

from lws.admission.documents import JsonObject, child, integer, text
from lws.api import names
from lws.api.leaderworkerset import SubGroupPolicyType
from lws.base.errors import LwsError

# Kubernetes' own limit of a pod's name.
_NAME_LENGTH_MAX = 253


class Rejected(LwsError):
    """The pod cannot be a member of a group; the message says what it lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A pod of a group, read off what the StatefulSet controller made."""

    pod: str
    namespace: str
    lws: str
    size: int
    is_leader: bool
    ordinal: int
    leader: str
    subgroup_size: int | None
    leader_excluded: bool

    @property
    def worker_index(self) -> int:
        """0 for the leader."""
        return 0 if self.is_leader else self.ordinal

    @property
    def is_leader_excluded(self) -> bool:
        """Whether this is a leader that belongs to no subgroup."""
        return self.is_leader and self.leader_excluded


def is_ours(pod: JsonObject) -> bool:
    """Whether the pod says that it belongs to a LeaderWorkerSet."""
    return names.NAME in child(child(pod, "metadata"), "labels")


def read_member(pod: JsonObject, *, namespace: str) -> Member:
    """The place of a pod that `is_ours`."""
    metadata = child(pod, "metadata")
    labels, annotations = child(metadata, "labels"), child(metadata, "annotations")
    name = text(metadata, "name")
    ordinal = names.ordinal(name) if len(name) <= _NAME_LENGTH_MAX else None
    if ordinal is None:
        raise Rejected(f"the name of a LeaderWorkerSet's pod must end in -<ordinal>, not {name!r}")
    size = _number(annotations, names.SIZE, pod=name)
    if size is None:
        raise Rejected(f"pod {name} has no annotation {names.SIZE}")
    # A worker that was numbered 0 (no start ordinals before Kubernetes 1.27) is still a worker.
    is_worker = text(labels, names.WORKER_INDEX) != "0" or names.LEADER_NAME in annotations
    leader = text(annotations, names.LEADER_NAME) or name.rpartition("-")[0]
    return Member(
        pod=name,
        namespace=namespace,
        lws=text(labels, names.NAME),
        size=size,
        is_leader=not is_worker,
        ordinal=ordinal,
        leader=leader if is_worker else name,
        subgroup_size=_subgroup_size(annotations, pod=name),
        leader_excluded=_is_leader_excluded(annotations),
    )


def _subgroup_size(annotations: JsonObject, *, pod: str) -> int | None:
    subgroup_size = _number(annotations, names.SUBGROUP_SIZE, pod=pod)
    if subgroup_size == 0:
        raise Rejected(f"annotation {names.SUBGROUP_SIZE} of pod {pod} must be at least 1")
    return subgroup_size


def _is_leader_excluded(annotations: JsonObject) -> bool:
    policy_type = annotations.get(names.SUBGROUP_POLICY_TYPE)
    return bool(policy_type == SubGroupPolicyType.LEADER_EXCLUDED)


def _number(annotations: JsonObject, key: str, *, pod: str) -> int | None:
    value = annotations.get(key)
    if value is None:
        return None
    number = integer(value) if isinstance(value, str) else None
    if number is None:
        raise Rejected(f"annotation {key} of pod {pod} must be a number, not {value!r}")
    return number
