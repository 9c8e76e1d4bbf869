"""A small world around the rolling update: StatefulSet controller, kubelet, time, faults, users.

Written from how Kubernetes behaves, with nothing of the planner's: this is the judge's world.
Values are tuples of small numbers, so that millions of states fit and hash fast. A revision is a
number (0, 1, 2); a group is 0 if missing, else 1 + 3 * revision + health.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

READY, UNREADY, LONG_UNREADY = 0, 1, 2
MISSING = 0

Groups = tuple[int, ...]
Form = Literal["one at a time", "many at a time", "any", "absent"]
"""How the StatefulSet controller replaces pods: its MaxUnavailableStatefulSet gate off or on;
"any" takes every pod it may in any order, which includes both; "absent" never runs, and someone
else replaces pods from the partition on."""


class Config(NamedTuple):
    """What the user asks for."""

    replicas: int
    surge: int
    unavailable: int
    partition: int
    wanted: int
    paused: bool


class Spec(NamedTuple):
    """What the StatefulSet says."""

    replicas: int
    partition: int
    on_delete: bool
    key: int


class State(NamedTuple):
    """Everything there is. `seen` is the spec on which the StatefulSet controller acts; `reported`
    tells whether its status says that it is the present one; `current` is status.currentRevision,
    at which pods below the partition come back. The last two bound what may still happen."""

    config: Config
    spec: Spec
    applied: int
    seen: Spec
    reported: bool
    current: int
    groups: Groups
    users: int
    faults: int


class World(NamedTuple):
    """What does not change: who acts how, what can never become ready, what users may do."""

    form: Form
    broken: frozenset[tuple[int, int]]
    """(ordinal, revision) that never become ready: a bad node is an ordinal at every revision,
    a bad revision every ordinal at it."""
    configs: tuple[Config, ...]
    """Users move between any two of these that differ in one respect."""


def group(key: int, health: int) -> int:
    return 1 + 3 * key + health


def key_of(code: int) -> int:
    return (code - 1) // 3


def is_ready(code: int) -> bool:
    return code != MISSING and (code - 1) % 3 == READY


def replaced(groups: Groups, ordinal: int, code: int) -> Groups:
    return (*groups[:ordinal], code, *groups[ordinal + 1 :])


def takes(spec: Spec, ordinal: int, code: int) -> bool:
    """Whether a StatefulSet controller that follows `spec` replaces this group sooner or later.

    Asked of the partition also under OnDelete: it comes back into force as it was.
    """
    return (
        code != MISSING and spec.partition <= ordinal < spec.replicas and key_of(code) != spec.key
    )


# The StatefulSet controller, pod management Parallel


def controller_moves(
    world: World, seen: Spec, current: int, unavailable: int, groups: Groups
) -> Iterator[tuple[Groups, int]]:
    """Each single thing that it may do next on the spec that it has seen."""
    for ordinal in range(seen.replicas):
        if groups[ordinal] == MISSING:
            held = not seen.on_delete and ordinal < seen.partition
            code = group(current if held else seen.key, UNREADY)
            yield replaced(groups, ordinal, code), current
    condemned = [o for o in range(seen.replicas, len(groups)) if groups[o] != MISSING]
    if condemned:
        yield replaced(groups, condemned[-1], MISSING), current
    if seen.on_delete:
        return
    for ordinal in rolled(world.form, seen, unavailable, groups):
        yield replaced(groups, ordinal, MISSING), current
    done = group(seen.key, READY)
    if current != seen.key and not condemned and set(groups[: seen.replicas]) <= {done}:
        yield groups, seen.key


def rolled(form: Form, seen: Spec, unavailable: int, groups: Groups) -> list[int]:
    """The pods that a rolling update deletes next: alternatives, each to be tried."""
    due = [o for o in range(seen.replicas - 1, -1, -1) if takes(seen, o, groups[o])]
    if form == "any":
        return due
    if form == "many at a time":
        unhealthy = sum(not is_ready(code) for code in groups[: seen.replicas])
        return due[:1] if unhealthy < max(1, unavailable) else []
    for ordinal in range(seen.replicas - 1, seen.partition - 1, -1):
        if takes(seen, ordinal, groups[ordinal]):
            return [ordinal]
        if not is_ready(groups[ordinal]):
            break
    return []


def substitute_moves(spec: Spec, groups: Groups) -> Iterator[Groups]:
    """Where no StatefulSet controller runs: someone makes, replaces and removes pods by hand."""
    for ordinal, code in enumerate(groups):
        if ordinal < spec.replicas:
            if code == MISSING or takes(spec, ordinal, code):
                yield replaced(groups, ordinal, group(spec.key, UNREADY))
        elif code != MISSING:
            yield replaced(groups, ordinal, MISSING)


# Pods, time, faults


def kubelet_moves(world: World, groups: Groups) -> Iterator[Groups]:
    """Groups become ready, those that ever can."""
    for ordinal, code in enumerate(groups):
        if code != MISSING and not is_ready(code) and (ordinal, key_of(code)) not in world.broken:
            yield replaced(groups, ordinal, group(key_of(code), READY))


def time_moves(config: Config, groups: Groups) -> Iterator[Groups]:
    """A group has been unready for long.

    Only where that matters to anybody: of another revision than wanted, and not held. Where it
    comes to matter later this move comes later too, so no behaviour is lost.
    """
    for ordinal, code in enumerate(groups):
        if (
            code == group(key_of(code), UNREADY)
            and code != MISSING
            and key_of(code) != config.wanted
            and ordinal >= config.partition
        ):
            yield replaced(groups, ordinal, code + 1)


def fault_moves(groups: Groups) -> Iterator[Groups]:
    """A ready group breaks; a group's leader is lost."""
    for ordinal, code in enumerate(groups):
        if is_ready(code):
            yield replaced(groups, ordinal, code + 1)
        if code != MISSING:
            yield replaced(groups, ordinal, MISSING)


def user_moves(world: World, config: Config) -> Iterator[Config]:
    """One field changes, or both budgets; with the replicas a surge that was cut to them."""
    for other in world.configs:
        surge_stays = min(config.surge, other.replicas) == min(other.surge, config.replicas)
        if other.replicas == config.replicas:
            surge_stays = other.surge == config.surge
        differing = (
            config.replicas != other.replicas,
            not surge_stays or config.unavailable != other.unavailable,
            config.partition != other.partition,
            config.wanted != other.wanted,
            config.paused != other.paused,
        )
        if sum(differing) == 1:
            yield other
