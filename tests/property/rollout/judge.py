"""The invariants of the rolling update, asked of every write and of every world at rest.

Written from what users were promised, in terms of what the StatefulSet controller may do; shares
nothing with the planner.
"""

from collections.abc import Iterator
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


# Availability


def staying(groups: Groups, specs: tuple[Spec, ...], below: int) -> int:
    """Ready groups that no spec in force takes away."""
    return sum(
        is_ready(code) and all(o < s.replicas and not takes(s, o, code) for s in specs)
        for o, code in enumerate(groups[:below])
    )


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
        newly = not _already_taken(scene, write.delete)
        after, groups = scene.spec, replaced(scene.groups, write.delete, MISSING)
    else:
        after, groups = write.spec, scene.groups
        newly = any(_newly_taken(scene, after, ordinal) for ordinal in range(after.replicas))
    if newly:
        flying = sum(_in_flight(scene, after, groups, o) for o in range(after.replicas))
        if flying > budget(scene.config):
            yield f"in flight: {flying} with a budget of {budget(scene.config)}"


def _comes_new(spec: Spec, ordinal: int) -> bool:
    return spec.on_delete or ordinal >= spec.partition


def _newly_taken(scene: Scene, after: Spec, ordinal: int) -> bool:
    """A group of before that this write, and nothing before it, moves to the wanted revision."""
    if ordinal >= scene.spec.replicas:
        return False
    code, before = scene.groups[ordinal], scene.spec
    if code == MISSING:
        was_coming_new = before.key == after.key and _comes_new(before, ordinal)
        return _comes_new(after, ordinal) and not was_coming_new
    if key_of(code) == scene.config.wanted:
        return False
    return takes(after, ordinal, code) and not _already_taken(scene, ordinal)


def _already_taken(scene: Scene, ordinal: int) -> bool:
    specs = (scene.spec, *scene.in_force)
    return any(takes(spec, ordinal, scene.groups[ordinal]) for spec in specs)


def _in_flight(scene: Scene, after: Spec, groups: Groups, ordinal: int) -> bool:
    """Whether this group is on its way to the wanted revision and not ready at it."""
    code = groups[ordinal]
    if ordinal >= scene.spec.replicas:
        return True
    if code == MISSING:
        return _comes_new(after, ordinal)
    if key_of(code) == scene.config.wanted:
        return not is_ready(code)
    return any(takes(spec, ordinal, code) for spec in (after, *scene.in_force))


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
