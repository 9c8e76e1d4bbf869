"""The next step of a rolling update: one write to the leader StatefulSet, or some deletions.

Spec: leaderworkerset.md, section 3. There is no memory: everything is decided from what stands.
Where its words leave a choice, this is what was chosen, and the exhaustive check holds under it:

- "nothing is old" is asked of the groups below `cap`: those beyond go anyway;
- "giving groups back" counts the groups that serve after this pass's walk, not before it;
- "old groups still to be taken" are those from spec.partition up to where the walk stopped;
- a missing group is no patient (it has no leader to delete), only one that is waited for;
- "while OnDelete and observed" means that the StatefulSet controller has seen this spec: a group
  deleted earlier could come back at its old revision;
- `paused`, and `handing_over` (an orderly stop), close an open window at once.
"""

from collections.abc import Sequence

import msgspec

from lws.planner.leaderworkerset import rollout_rules as rules
from lws.planner.leaderworkerset.rollout_values import (
    DeleteLeader,
    Group,
    LeaderStatefulSet,
    SetRollout,
)


def next_rollout(
    *,
    replicas: int,
    surge: int,
    unavailable: int,
    partition: int,
    wanted: str,
    statefulset: LeaderStatefulSet,
    groups: Sequence[Group],
    paused: bool = False,
    handing_over: bool = False,
) -> tuple[SetRollout | DeleteLeader, ...]:
    """One write with everything that differs, or else the deletions that are due, or nothing.

    `groups` are by ordinal and may be fewer or more than the StatefulSet's replicas. `paused`
    takes no further group; it and `handing_over` open no OnDelete window and close an open one.
    """
    assert min(replicas, surge, unavailable, partition) >= 0, "counts are not negative"
    assert min(statefulset.replicas, statefulset.partition) >= 0, "counts are not negative"
    bounds = rules.bounds_of(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        wanted=wanted,
        statefulset=statefulset,
    )
    reading = rules.reading_of(bounds, groups)
    want = rules.replicas_wanted(bounds, reading)
    flying = rules.in_flight(bounds, reading, want)
    outcome = _outcome(bounds, reading, flying, want=want, paused=paused)
    if _window(bounds, reading, flying, outcome=outcome, closed=paused or handing_over):
        outcome = msgspec.structs.replace(outcome, on_delete=True)
    if outcome != _standing(statefulset) or replicas != statefulset.applied_replicas:
        return (outcome,)
    return _deletions(bounds, reading, flying)


def _standing(statefulset: LeaderStatefulSet) -> SetRollout:
    return SetRollout(
        statefulset.replicas, statefulset.partition, statefulset.on_delete, statefulset.key
    )


def _outcome(
    bounds: rules.Bounds, reading: rules.Reading, flying: list[bool], *, want: int, paused: bool
) -> SetRollout:
    """Partition and replicas, with the strategy RollingUpdate."""
    statefulset = bounds.statefulset
    stays = paused or statefulset.on_delete or statefulset.observed is False
    to = bounds.here if stays else rules.walk(bounds, reading, flying)
    replicas = rules.giving_back(bounds, reading, want=want, to=to)
    partition = max(min(to, replicas), bounds.partition)
    return SetRollout(replicas, partition, on_delete=False, key=bounds.wanted)


def _window(
    bounds: rules.Bounds,
    reading: rules.Reading,
    flying: list[bool],
    *,
    outcome: SetRollout,
    closed: bool,
) -> bool:
    """Healing out of order: whether the strategy is OnDelete after this pass."""
    statefulset = bounds.statefulset
    if closed or bounds.starting:
        return False
    if statefulset.on_delete:
        return rules.window_lasts(bounds, reading, flying)
    if (outcome.replicas, outcome.partition) != (statefulset.replicas, statefulset.partition):
        return False
    return rules.window_opens(bounds, reading, flying)


def _deletions(
    bounds: rules.Bounds, reading: rules.Reading, flying: list[bool]
) -> tuple[DeleteLeader, ...]:
    """Leaders that the StatefulSet controller left standing, and the one to heal."""
    if bounds.statefulset.observed is not True:
        return ()
    ordinals = [ordinal for ordinal, left in enumerate(reading.promised) if left]
    if bounds.statefulset.on_delete:
        patient = rules.patient_to_heal(bounds, reading, flying)
        ordinals += [] if patient is None else [patient]
    return tuple(DeleteLeader(ordinal) for ordinal in ordinals)
