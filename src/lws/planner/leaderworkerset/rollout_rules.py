"""The rules of the rolling update, one function a rule, named as the rule.

Each takes what was read and answers for all ordinals at once, so that a pass over a thousand
groups is a handful of list comprehensions.
"""

from collections.abc import Sequence

import msgspec

from lws.planner.leaderworkerset.rollout_values import Group, LeaderStatefulSet


class Bounds(msgspec.Struct, frozen=True, gc=False):
    """The numbers that every rule needs, worked out once."""

    replicas: int
    surge: int
    unavailable: int
    partition: int
    wanted: str
    statefulset: LeaderStatefulSet
    budget: int
    floor: int
    cap: int
    starting: bool
    here: int


class Reading(msgspec.Struct, frozen=True, gc=False):
    """The groups by ordinal, as columns; ordinals with no group are there, with key None."""

    keys: list[str | None]
    ready: list[bool]
    long_unready: list[bool]
    promised: list[bool]
    old: list[bool]
    serving: list[bool]


def bounds_of(
    *,
    replicas: int,
    surge: int,
    unavailable: int,
    partition: int,
    wanted: str,
    statefulset: LeaderStatefulSet,
) -> Bounds:
    """The budgets made usable (never both 0, no surge beyond the replicas), and what follows."""
    surge = min(surge, replicas)
    if replicas > 0 and surge == 0 and unavailable == 0:
        unavailable = 1
    standing = statefulset.replicas
    starting = statefulset.key != wanted
    reached = standing if starting else min(statefulset.partition, standing)
    return Bounds(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        wanted=wanted,
        statefulset=statefulset,
        budget=surge + unavailable,
        floor=replicas - unavailable,
        cap=min(standing, replicas + surge),
        starting=starting,
        here=max(reached, partition),
    )


def reading_of(bounds: Bounds, groups: Sequence[Group]) -> Reading:
    """The columns, as long as the StatefulSet is or may become; what lies beyond is on its way out.

    A group with no leader is neither ready nor long unready, whatever its record says.
    """
    span = max(bounds.statefulset.replicas, bounds.replicas + bounds.surge)
    within = groups[:span]
    beyond = span - len(within)
    keys = [group.key for group in within] + [None] * beyond
    ready = [group.ready and group.key is not None for group in within] + [False] * beyond
    broken = [group.long_unready and group.key is not None for group in within]
    is_promised = promised(bounds, keys)
    return Reading(
        keys=keys,
        ready=ready,
        long_unready=broken + [False] * beyond,
        promised=is_promised,
        old=old(bounds, keys),
        serving=serving(bounds, keys, ready, is_promised),
    )


def promised(bounds: Bounds, keys: list[str | None]) -> list[bool]:
    """Groups that the StatefulSet controller may replace at any moment, on the spec that stands.

    None of an earlier update if no StatefulSet controller has ever reported: then none acts.
    """
    statefulset = bounds.statefulset
    first, end, key_there = statefulset.partition, statefulset.replicas, statefulset.key
    if first >= end or (bounds.starting and statefulset.observed is None):
        return [False] * len(keys)
    taken = [key is not None and key != key_there for key in keys[first:end]]
    return [False] * first + taken + [False] * (len(keys) - end)


def old(bounds: Bounds, keys: list[str | None]) -> list[bool]:
    """Groups that are not of the wanted revision, or would not come back at it."""
    wanted, first, end = bounds.wanted, bounds.partition, bounds.here
    return [
        key != wanted if key is not None else first <= ordinal < end
        for ordinal, key in enumerate(keys)
    ]


def serving(
    bounds: Bounds, keys: list[str | None], ready: list[bool], is_promised: list[bool]
) -> list[bool]:
    """What availability counts: ready groups that nothing decided so far takes away."""
    wanted, here, cap = bounds.wanted, bounds.here, bounds.cap
    staying = [
        ready[ordinal] and not is_promised[ordinal] and (ordinal < here or keys[ordinal] == wanted)
        for ordinal in range(cap)
    ]
    return staying + [False] * (len(keys) - cap)


def in_flight(bounds: Bounds, reading: Reading, want: int) -> list[bool]:
    """Groups on their way to the wanted revision: added, replaced or not ready at it yet."""
    standing, here, wanted = bounds.statefulset.replicas, bounds.here, bounds.wanted
    missing_from = 0 if bounds.statefulset.on_delete else here
    end = max(bounds.cap, want)
    known = min(end, standing)
    flying = [
        ordinal >= missing_from
        if key is None
        else is_promised or ((not is_ready) if key == wanted else ordinal >= here)
        for ordinal, (key, is_ready, is_promised) in enumerate(
            zip(reading.keys[:known], reading.ready, reading.promised, strict=False)
        )
    ]
    return flying + [True] * (end - known)


def anything_old(bounds: Bounds, reading: Reading) -> bool:
    """Whether an old group is among those that stay if the surge of today is all there may be.

    Groups beyond `cap` go whatever is decided, so they keep nothing waiting.
    """
    return True in reading.old[: bounds.cap]


def replicas_wanted(bounds: Bounds, reading: Reading) -> int:
    """How many groups there should be once nothing stands in the way of having fewer."""
    replicas, surge, statefulset = bounds.replicas, bounds.surge, bounds.statefulset
    all_taken = not bounds.starting and statefulset.partition == 0
    if (
        not anything_old(bounds, reading)
        or statefulset.replicas < replicas
        or (all_taken and statefulset.replicas == replicas)
    ):
        return replicas
    wanted = bounds.wanted
    updated = sum(
        is_ready and key == wanted
        for key, is_ready in zip(reading.keys[:replicas], reading.ready, strict=False)
    )
    outstanding = replicas - updated
    if outstanding > surge:
        return replicas + surge
    return replicas + max(0, outstanding - bounds.unavailable)


def walk(bounds: Bounds, reading: Reading, flying: list[bool]) -> int:
    """How far down the partition may go: from the highest group not yet given, while budgets last.

    Groups that are not ready cost no availability, only a place in flight. The partition is never
    lowered over updated groups alone while an old one below them stays.
    """
    flight, available = sum(flying), sum(reading.serving)
    to = bounds.here
    for ordinal in range(min(bounds.here, len(flying)) - 1, bounds.partition - 1, -1):
        if not reading.old[ordinal]:
            continue
        if not flying[ordinal]:
            is_serving = reading.serving[ordinal]
            if flight >= bounds.budget or (is_serving and available <= bounds.floor):
                return to
            flight += 1
            available -= is_serving
        to = ordinal
    return bounds.partition


def giving_back(bounds: Bounds, reading: Reading, *, want: int, to: int) -> int:
    """How many replicas to leave: fewer only while the groups that stay serve enough.

    Counted after the walk: an old group that this very pass takes serves nobody. While old groups
    remain to be taken one more than the floor is kept, or the next could never be.
    """
    if want >= bounds.cap:
        return want
    if bounds.replicas < bounds.statefulset.applied_replicas and not anything_old(bounds, reading):
        return bounds.replicas
    if bounds.statefulset.observed is False:
        return bounds.cap
    staying = [
        is_serving and (ordinal < to or not is_old)
        for ordinal, (is_serving, is_old) in enumerate(
            zip(reading.serving[: bounds.cap], reading.old, strict=False)
        )
    ]
    remaining = True in reading.old[bounds.partition : min(to, bounds.cap)]
    enough = min(bounds.floor + remaining, sum(staying))
    fewest, have = want, sum(staying[:want])
    while have < enough:
        have += staying[fewest]
        fewest += 1
    return fewest


def patients(bounds: Bounds, reading: Reading) -> list[int]:
    """Old groups, not yet taken, that have been broken for long: highest last."""
    first, end = bounds.partition, min(bounds.here, bounds.cap)
    columns = zip(reading.old[first:end], reading.long_unready[first:end], strict=True)
    return [first + offset for offset, (is_old, ill) in enumerate(columns) if is_old and ill]


def window_opens(bounds: Bounds, reading: Reading, flying: list[bool]) -> bool:
    """Whether healing out of order may begin, given that nothing else can be done.

    Under OnDelete every missing group comes back at the wanted revision, so those below the
    partition count as taken, and one that must keep its old revision forbids it.
    """
    standing = bounds.statefulset.replicas
    missing = reading.keys[: min(bounds.here, standing)].count(None)
    held = reading.keys[: min(bounds.partition, standing)]
    return (
        bounds.statefulset.observed is True
        and sum(flying) + missing < bounds.budget
        and None not in held
        and bool(patients(bounds, reading))
    )


def window_lasts(bounds: Bounds, reading: Reading, flying: list[bool]) -> bool:
    """Whether OnDelete is still needed: a group is not back yet, or another can be healed."""
    awaited = reading.keys[bounds.partition : min(bounds.here, bounds.cap)]
    return None in awaited or patient_to_heal(bounds, reading, flying) is not None


def patient_to_heal(bounds: Bounds, reading: Reading, flying: list[bool]) -> int | None:
    """The group to replace next while the window is open."""
    waiting = patients(bounds, reading)
    return waiting[-1] if waiting and sum(flying) < bounds.budget else None
