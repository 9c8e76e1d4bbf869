"""The invariants of the rolling update, asked of every write and of every world at rest.

Written from what users were promised, in terms of what the StatefulSet controller may do; shares
nothing with the planner.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tests.property.rollout.model import (
    MISSING,
    Config,
    Groups,
    Spec,
    State,
    World,
    is_ready,
    key_of,
    replaced,
    takes,
)

REMEMBERED_MAX = 1 << 18


class Write(NamedTuple):
    """One write of the planner's: a new spec, or the deletion of a leader."""

    spec: Spec | None
    delete: int = -1


class Scene(NamedTuple):
    """What a write is judged by. `in_force`: the specs that the StatefulSet controller may act on
    even after the write, the present one and that which it saw last; none if it never runs."""

    config: Config
    spec: Spec
    applied: int
    in_force: tuple[Spec, ...]
    groups: Groups


def budget(config: Config) -> int:
    return max(1, config.surge + config.unavailable)


def floor(config: Config) -> int:
    unavailable = config.unavailable
    return config.replicas - (max(1, unavailable) if config.surge == 0 else unavailable)


def broken_rules(scene: Scene, write: Write) -> list[str]:
    """Every promise that this write breaks."""
    found = list(_of_availability(scene, write))
    found += _of_flight(scene, write)
    found += _of_deletion(scene, write) if write.spec is None else _of_form(scene, write.spec)
    return found


# Sets of ordinals


@lru_cache(maxsize=REMEMBERED_MAX)
def ready_in(groups: Groups) -> frozenset[int]:
    """Groups that are ready."""
    return frozenset(o for o, code in enumerate(groups) if is_ready(code))


@lru_cache(maxsize=REMEMBERED_MAX)
def missing_in(groups: Groups) -> frozenset[int]:
    """Ordinals at which there is no group."""
    return frozenset(o for o, code in enumerate(groups) if code == MISSING)


@lru_cache(maxsize=REMEMBERED_MAX)
def of_revision(key: int, groups: Groups) -> frozenset[int]:
    """Groups of this revision."""
    return frozenset(o for o, code in enumerate(groups) if code != MISSING and key_of(code) == key)


@lru_cache(maxsize=REMEMBERED_MAX)
def taken_by(spec: Spec, groups: Groups) -> frozenset[int]:
    """Groups that a StatefulSet controller which follows `spec` replaces sooner or later."""
    return frozenset(o for o, code in enumerate(groups) if takes(spec, o, code))


@lru_cache(maxsize=REMEMBERED_MAX)
def below(end: int) -> frozenset[int]:
    """All ordinals up to there."""
    return frozenset(range(end))


# Availability


def staying(groups: Groups, specs: tuple[Spec, ...], end: int) -> int:
    """Ready groups below `end` that no spec in force takes away."""
    kept = ready_in(groups) & below(min(end, *(spec.replicas for spec in specs)))
    return len(kept.difference(*(taken_by(spec, groups) for spec in specs)))


def _of_availability(scene: Scene, write: Write) -> Iterator[str]:
    config = scene.config
    most = config.replicas + config.surge
    before = staying(scene.groups, (scene.spec, *scene.in_force), most)
    if write.spec is None:
        groups = replaced(scene.groups, write.delete, MISSING)
        after = staying(groups, (scene.spec, *scene.in_force), most)
    else:
        after = staying(scene.groups, (write.spec, *scene.in_force), most)
    if after < min(before, floor(config)) and not _scaled_down(scene):
        yield f"availability: {before} ready groups stayed, now {after}, floor {floor(config)}"


def _scaled_down(scene: Scene) -> bool:
    """The user asked for fewer groups, and all that there are come from one revision."""
    end = min(scene.spec.replicas, scene.config.replicas + scene.config.surge)
    present = [code for code in scene.groups[:end] if code != MISSING]
    return scene.config.replicas < scene.applied and all(
        key_of(code) == scene.config.wanted for code in present
    )


# In flight


def _of_flight(scene: Scene, write: Write) -> Iterator[str]:
    if write.spec is None:
        newly = write.delete not in _already_taken(scene)
        after, groups = scene.spec, replaced(scene.groups, write.delete, MISSING)
    else:
        after, groups = write.spec, scene.groups
        newly = bool(_newly_taken(scene, after))
    if newly:
        flying = len(_in_flight(scene, after, groups))
        if flying > budget(scene.config):
            yield f"in flight: {flying} with a budget of {budget(scene.config)}"


def _comes_new(spec: Spec, ordinal: int) -> bool:
    return spec.on_delete or ordinal >= spec.partition


def _newly_taken(scene: Scene, after: Spec) -> set[int]:
    """Groups of before that this write, and nothing before it, moves to the wanted revision."""
    before, groups = scene.spec, scene.groups
    there = below(min(before.replicas, after.replicas))
    taken = taken_by(after, groups) - of_revision(scene.config.wanted, groups)
    coming_new = {
        o
        for o in missing_in(groups) & there
        if _comes_new(after, o) and not (before.key == after.key and _comes_new(before, o))
    }
    return coming_new | (taken & there) - _already_taken(scene)


def _already_taken(scene: Scene) -> frozenset[int]:
    specs = (scene.spec, *scene.in_force)
    return frozenset().union(*(taken_by(spec, scene.groups) for spec in specs))


def _in_flight(scene: Scene, after: Spec, groups: Groups) -> frozenset[int]:
    """Groups on their way to the wanted revision and not ready at it."""
    wanted = of_revision(scene.config.wanted, groups)
    taken = frozenset().union(*(taken_by(spec, groups) for spec in (after, *scene.in_force)))
    coming_new = {o for o in missing_in(groups) if _comes_new(after, o)}
    added = range(scene.spec.replicas, after.replicas)
    flying = (wanted - ready_in(groups)) | (taken - wanted) | coming_new
    return (flying & below(after.replicas)).union(added)


# Form


def _of_deletion(scene: Scene, write: Write) -> Iterator[str]:
    config, ordinal = scene.config, write.delete
    code = scene.groups[ordinal]
    if code == MISSING:
        yield "deletion: there is no such leader"
        return
    if set(scene.in_force) != {scene.spec}:
        yield "deletion: the StatefulSet controller may bring it back on an older spec"
    if ordinal < config.partition:
        yield "deletion: a group held by spec.partition"
    if key_of(code) == config.wanted:
        yield "deletion: a group of the wanted revision"
    if not _comes_new(scene.spec, ordinal):
        yield "deletion: it would come back at its old revision"


def _of_form(scene: Scene, after: Spec) -> Iterator[str]:
    config, before = scene.config, scene.spec
    if after == before and scene.applied == config.replicas:
        yield "a write that changes nothing"
    if after.key != config.wanted:
        yield "the template is not the wanted one"
    if not config.replicas <= after.replicas <= config.replicas + config.surge:
        yield f"replicas {after.replicas} of {config.replicas} with surge {config.surge}"
    if after.partition < config.partition:
        yield "the partition is below spec.partition"
    rises = before.key == after.key and after.partition > before.partition
    if rises and after.partition != config.partition:
        yield "the partition rises within an update"
    if after.on_delete and before.key != after.key:
        yield "an update starts with OnDelete"
    held = scene.groups[: min(config.partition, before.replicas)]
    if after.on_delete and not before.on_delete and MISSING in held:
        yield "OnDelete while a held group is missing"


def left_standing(scene: Scene) -> list[str]:
    """Nothing is planned, but groups that are due stand, and whether the StatefulSet controller
    takes them depends on its gate and its mood."""
    due = [o for o, code in enumerate(scene.groups) if takes(scene.spec, o, code)]
    return ["stall: groups that are due are left standing"] if due else []


# At rest


def faults_at_rest(world: World, state: State) -> list[str]:
    """What is wrong with a world in which nobody has anything left to do.

    An update need not end if as many groups are lost for ever as the budget allows in flight, or
    more than may be unavailable and no ready group can be spared.
    """
    config, spec = state.config, state.spec
    if spec.on_delete:
        return ["at rest: OnDelete"]
    if (spec.key, state.applied) != (config.wanted, config.replicas):
        return ["at rest: template or replicas of the spec are not applied"]
    if not config.replicas <= spec.replicas <= config.replicas + config.surge:
        return ["at rest: replicas out of bounds"]
    if config.paused:
        return []
    lost = _lost_for_ever(world, state)
    ready = sum(is_ready(code) for code in state.groups)
    if lost >= budget(config) or (lost > config.unavailable and ready <= floor(config)):
        return []
    return list(_unfinished(world, state, lost))


def _lost_for_ever(world: World, state: State) -> int:
    """How many groups, of the surge too, can never be ready at the revision they should have."""
    config = state.config
    return sum(
        (o, config.wanted if o >= config.partition else key_of(state.groups[o])) in world.broken
        for o in range(config.replicas + config.surge)
    )


def _unfinished(world: World, state: State, lost: int) -> Iterator[str]:
    config, spec = state.config, state.spec
    if spec.partition != config.partition:
        yield f"stall: partition {spec.partition}, not {config.partition}"
    for ordinal in range(config.replicas):
        code = state.groups[ordinal]
        if code == MISSING:
            yield f"stall: group {ordinal} is missing"
        elif ordinal >= config.partition and key_of(code) != config.wanted:
            yield f"stall: group {ordinal} is not updated"
        elif not is_ready(code) and (ordinal, key_of(code)) not in world.broken:
            yield f"stall: group {ordinal} is not ready"
    all_wanted = all(
        code != MISSING and key_of(code) == config.wanted
        for code in state.groups[: config.replicas]
    )
    if all_wanted and lost == 0 and spec.replicas != config.replicas:
        yield f"at rest: {spec.replicas} replicas of {config.replicas}"
