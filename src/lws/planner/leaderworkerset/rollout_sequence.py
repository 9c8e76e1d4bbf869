"""A whole rolling update, step by step, in a world where everything goes well.

Nothing is ever waited for: the StatefulSet controller obeys at once and groups become ready at
once. It is what a user sees who asks beforehand how an update will go.
"""

import msgspec

from lws.planner.leaderworkerset.rollout import next_rollout
from lws.planner.leaderworkerset.rollout_values import Group, LeaderStatefulSet, SetRollout

_OLD, _NEW = "old", "new"


class RolloutStep(msgspec.Struct, frozen=True, gc=False):
    """One write, and what is there once it is done.

    `ready_during` is how many ready groups stay while the others are replaced.
    """

    replicas: int
    partition: int
    ready_old: int
    ready_new: int
    ready_during: int


class UnderWay(msgspec.Struct, frozen=True, gc=False):
    """How far an update is: what the StatefulSet says, and how many groups, from the highest down,
    are of the new revision."""

    replicas: int
    partition: int
    updated: int


def all_rollouts(
    *,
    replicas: int,
    surge: int,
    unavailable: int,
    partition: int = 0,
    under_way: UnderWay | None = None,
) -> tuple[RolloutStep, ...]:
    """Every write from an update's start, or from where it is, to its end or its partition."""
    statefulset, keys = _beginning(replicas, partition, under_way)
    steps: list[RolloutStep] = []
    while plan := next_rollout(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        wanted=_NEW,
        statefulset=statefulset,
        groups=[Group(key, ready=True, long_unready=False) for key in keys],
    ):
        assert len(steps) <= 4 * (replicas + surge + statefulset.replicas), "an update ends"
        action = plan[0]
        assert isinstance(action, SetRollout), "nothing is left standing where all obey"
        statefulset = _applied(action, replicas)
        keys, staying = _settled(keys, statefulset)
        steps.append(_step(statefulset, keys, staying))
    return tuple(steps)


def _beginning(
    replicas: int, partition: int, under_way: UnderWay | None
) -> tuple[LeaderStatefulSet, list[str]]:
    if under_way is None:
        standing = LeaderStatefulSet(replicas, partition, False, _OLD, True, replicas)
        return standing, [_OLD] * replicas
    count, updated = under_way.replicas, under_way.updated
    assert 0 <= updated <= count, "no more groups are updated than there are"
    standing = LeaderStatefulSet(count, under_way.partition, False, _NEW, True, replicas)
    return standing, [_OLD] * (count - updated) + [_NEW] * updated


def _applied(action: SetRollout, replicas: int) -> LeaderStatefulSet:
    return LeaderStatefulSet(
        action.replicas, action.partition, action.on_delete, action.key, True, replicas
    )


def _settled(keys: list[str], statefulset: LeaderStatefulSet) -> tuple[list[str], int]:
    """Groups once the StatefulSet controller has done all it may, and how many it left alone."""
    staying = 0
    after: list[str] = []
    for ordinal in range(statefulset.replicas):
        key = keys[ordinal] if ordinal < len(keys) else None
        held = ordinal < statefulset.partition
        if key is not None and (held or key == statefulset.key):
            after.append(key)
            staying += 1
        else:
            after.append(_OLD if held else statefulset.key)
    return after, staying


def _step(statefulset: LeaderStatefulSet, keys: list[str], staying: int) -> RolloutStep:
    return RolloutStep(
        replicas=statefulset.replicas,
        partition=statefulset.partition,
        ready_old=keys.count(_OLD),
        ready_new=keys.count(_NEW),
        ready_during=staying,
    )
