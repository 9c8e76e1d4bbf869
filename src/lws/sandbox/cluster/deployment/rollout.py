"""How many replicas the ReplicaSets of a Deployment may have while one takes over."""

from collections.abc import Mapping, Sequence

from lws.sandbox.cluster.deployment.sizes import (
    available_of,
    is_recreate,
    max_surge,
    max_unavailable,
    oldest_first,
    replicas_of,
    total,
    total_available,
)
from lws.sandbox.cluster.objects import name_of
from lws.sandbox.server.verbs import JsonObject


def new_size(deployment: JsonObject, sets: Sequence[JsonObject], present: int) -> int:
    """Of the new ReplicaSet that has `present` replicas; `sets` are all, it included if made."""
    wanted = replicas_of(deployment)
    if is_recreate(deployment):
        return wanted
    room = wanted + max_surge(deployment) - total(sets)
    return present if room <= 0 else present + min(room, wanted - present)


def old_sizes(
    deployment: JsonObject, old: Sequence[JsonObject], new: JsonObject
) -> Mapping[str, int]:
    """By name, those that are to change: unavailable pods go first, then as many as may.

    `old` are the active ones.
    """
    everything = [*old, new]
    floor = replicas_of(deployment) - max_unavailable(deployment)
    new_unavailable = replicas_of(new) - available_of(new)
    spare = total(everything) - floor - new_unavailable
    if not total(old) or spare <= 0:
        return {}
    sizes = {name_of(one): replicas_of(one) for one in old}
    for one in oldest_first(old):
        cut = min(max(0, replicas_of(one) - available_of(one)), max(0, spare))
        sizes[name_of(one)] -= cut
        spare -= cut
    free = total_available(everything) - floor
    for one in oldest_first(old):
        cut = min(sizes[name_of(one)], max(0, free))
        sizes[name_of(one)] -= cut
        free -= cut
    return {name_of(one): sizes[name_of(one)] for one in old}
