"""Which small worlds are searched.

Each begins with an update that has just been asked for and nobody has acted on (and once with
nothing to do), so that `users` counts what users do in the midst of it.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple, get_args

from tests.property.rollout.model import (
    MISSING,
    READY,
    UNREADY,
    Config,
    Form,
    Spec,
    State,
    World,
    group,
)

Broken = frozenset[tuple[int, int]]


class Size(NamedTuple):
    """Bounds of the worlds, and how often users and faults may interfere."""

    replicas: int
    surge: int
    unavailable: int
    users: int
    faults: int


class Start(NamedTuple):
    """A world to search, and where to begin."""

    name: str
    world: World
    states: list[State]


FORMS: tuple[Form, ...] = get_args(Form)


def worlds(size: Size, forms: tuple[Form, ...] = FORMS) -> Iterator[Start]:
    """All worlds with exactly this many replicas and at most these budgets."""
    for surge, unavailable in budgets(size):
        config = Config(size.replicas, surge, unavailable, 0, 1, False)
        for form in forms:
            yield updates(form, config, size)
            yield wishes(form, config, size)
            if form != "absent":
                yield from losses(form, config, size)


def budgets(size: Size) -> list[tuple[int, int]]:
    surges = range(min(size.surge, size.replicas) + 1)
    unavailables = range(min(size.unavailable, size.replicas) + 1)
    return [pair for pair in product(surges, unavailables) if any(pair) or size.replicas == 0]


def updates(form: Form, config: Config, size: Size) -> Start:
    """Further updates, going back, every partition."""
    partitions = range(config.replicas + 1)
    configs = tuple(
        config._replace(partition=partition, wanted=wanted)
        for partition, wanted in product(partitions, (0, 1, 2))
    )
    return _start("updates", World(form, frozenset(), configs), size, partitions, (0, 1))


def wishes(form: Form, config: Config, size: Size) -> Start:
    """Replicas, budgets, partition, template and pause, in any order."""
    replicas = sorted({0, config.replicas - 1, config.replicas, config.replicas + 1})
    pairs = {(config.surge, config.unavailable), (0, 1), (1, 0), (1, 1), (2, 0), (0, 2), (0, 0)}
    partitions = sorted({0, 1, config.replicas})
    configs = {
        Config(count, min(surge, count), unavailable, partition, wanted, paused)
        for count, (surge, unavailable), partition, wanted, paused in product(
            (count for count in replicas if count >= 0),
            pairs,
            partitions,
            (0, 1),
            (False, True),
        )
        if not (partition and paused)
    }
    world = World(form, frozenset(), (*sorted(configs),))
    return _start("wishes", world, size, partitions, (0, 1), config)


def losses(form: Form, config: Config, size: Size) -> Iterator[Start]:
    """Bad nodes, bad revisions, groups broken at their old revision."""
    partitions = range(config.replicas + 1)
    configs = tuple(
        config._replace(partition=partition, wanted=wanted)
        for partition, wanted in product(partitions, (0, 1))
    )
    for name, broken in breakages(config.replicas, config.replicas + config.surge):
        world = World(form, broken, configs)
        yield _start(name, world, size._replace(users=size.users - 1), partitions, (1,))


def breakages(replicas: int, span: int) -> Iterator[tuple[str, Broken]]:
    ordinals = range(span)
    for ordinal in ordinals:
        yield f"bad node {ordinal}", frozenset((ordinal, key) for key in range(3))
    for ordinal in range(replicas):
        yield f"broken old group {ordinal}", frozenset({(ordinal, 0)})
    yield "bad old revision", frozenset((ordinal, 0) for ordinal in ordinals)
    yield "bad new revision", frozenset((ordinal, 1) for ordinal in ordinals)
    for one, other in combinations(ordinals, 2):
        nodes = product((one, other), range(3))
        yield f"bad nodes {one} and {other}", frozenset(nodes)
    for node, old in product(ordinals, range(replicas)):
        if node != old:
            pairs = {(node, key) for key in range(3)} | {(old, 0)}
            yield f"bad node {node}, broken old group {old}", frozenset(pairs)


def _start(
    name: str,
    world: World,
    size: Size,
    partitions: "range | list[int]",
    wanted: tuple[int, ...],
    config: Config | None = None,
) -> Start:
    config = config or world.configs[0]
    # One more than there may be, so that a planner that goes beyond is judged, not tripped over.
    span = max(c.replicas + c.surge for c in world.configs) + 1
    states = [
        _beginning(world, config._replace(partition=partition, wanted=key), span, size)
        for partition, key in product(partitions, wanted)
    ]
    title = f"{name}, {world.form}, {config.replicas}+{config.surge}-{config.unavailable}"
    return Start(title, world, states)


def _beginning(world: World, config: Config, span: int, size: Size) -> State:
    """All groups of revision 0, ready if they can be."""
    health = [UNREADY if (o, 0) in world.broken else READY for o in range(config.replicas)]
    groups = tuple(group(0, each) for each in health) + (MISSING,) * (span - config.replicas)
    spec = Spec(config.replicas, config.partition, False, 0)
    return State(
        config=config,
        spec=spec,
        applied=config.replicas,
        seen=spec,
        reported=world.form != "absent",
        current=0,
        groups=groups,
        users=max(0, size.users),
        faults=size.faults,
    )
