"""Which pods of a group are one subgroup."""

from lws.admission.pods.member import Member


def subgroup_of(worker: int, *, size: int, subgroup_size: int) -> int:
    """Index of the subgroup of a pod by its worker index (0: the leader).

    The leader is a member of subgroup 0 where the size can be divided; where only size - 1 can,
    it comes on top.
    """
    assert subgroup_size >= 1
    is_leader_extra = (size - 1) % subgroup_size == 0 and size % subgroup_size != 0
    if is_leader_extra:
        return max(0, worker - 1) // subgroup_size
    return worker // subgroup_size


def workers_of_subgroup(subgroup: int, *, member: Member) -> range:
    """Worker indices of the workers of one subgroup of the pod's group."""
    size, subgroup_size = member.size, member.subgroup_size
    assert subgroup_size is not None
    is_leader_extra = (size - 1) % subgroup_size == 0 and size % subgroup_size != 0
    shift = 1 if is_leader_extra else 0
    start = subgroup * subgroup_size + shift
    return range(max(1, start), min(size, start + subgroup_size))
