"""How a change of replicas in the middle of a rollout is shared out among ReplicaSets."""

import math
from collections.abc import Mapping, Sequence

from lws.sandbox.cluster.deployment.sizes import (
    MAXIMUM,
    active,
    max_surge,
    number,
    oldest_first,
    replicas_of,
    total,
)
from lws.sandbox.cluster.objects import annotations_of, name_of, status_of
from lws.sandbox.server.verbs import JsonObject


def shared_out(deployment: JsonObject, sets: Sequence[JsonObject]) -> Mapping[str, int]:
    """By name: the replicas that each active one is to have.

    Each gets as much as it has a share in what there was; what is left over goes to the largest.
    """
    wanted = replicas_of(deployment)
    room = (wanted + max_surge(deployment) if wanted else 0) - total(active(sets))
    sizes: dict[str, int] = {}
    given = 0
    ordered = _largest_first(active(sets), newest_wins=room > 0)
    for one in ordered:
        share = _limited(_share(deployment, one), room - given, is_growth=room > 0) if room else 0
        given += share
        sizes[name_of(one)] = replicas_of(one) + share
    if ordered and room:
        first = name_of(ordered[0])
        sizes[first] = max(0, sizes[first] + room - given)
    return sizes


def _largest_first(sets: Sequence[JsonObject], *, newest_wins: bool) -> list[JsonObject]:
    by_age = oldest_first(sets)
    if newest_wins:
        by_age.reverse()
    return sorted(by_age, key=lambda one: -replicas_of(one))


def _limited(share: int, left: int, *, is_growth: bool) -> int:
    if left == 0:
        return 0
    return min(share, left) if is_growth else max(share, left)


def _share(deployment: JsonObject, replica_set: JsonObject) -> int:
    """What it has too few, or too many, for its part of the whole."""
    size, wanted = replicas_of(replica_set), replicas_of(deployment)
    if not wanted:
        return -size
    before = number(annotations_of(replica_set).get(MAXIMUM))
    before = before or int(status_of(deployment).get("replicas") or 0)
    if not before:
        return 0
    return _rounded(size * (wanted + max_surge(deployment)) / before) - size


def _rounded(value: float) -> int:
    """Halves go away from zero."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)
