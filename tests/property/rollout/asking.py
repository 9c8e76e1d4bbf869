"""Asks the planner in its own words, has its answer judged, and remembers both."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from lws.planner.leaderworkerset import (
    DeleteLeader,
    Group,
    LeaderStatefulSet,
    SetRollout,
    next_rollout,
)
from tests.property.rollout import judge
from tests.property.rollout.judge import Write
from tests.property.rollout.model import (
    LONG_UNREADY,
    MISSING,
    READY,
    UNREADY,
    Config,
    Groups,
    Spec,
    State,
)
from tests.property.rollout.numbering import BELOW_QUESTION, BELOW_SCENE, QUESTION, SCENE, Numbering
from tests.property.rollout.tables import Table

Planner = Callable[..., tuple[SetRollout | DeleteLeader, ...]]

KEYS = ("a", "b", "c")
RECORDS = (
    Group(None, False, False),
    *(
        Group(key, health == READY, health == LONG_UNREADY)
        for key in KEYS
        for health in (READY, UNREADY, LONG_UNREADY)
    ),
)
REMEMBERED_MAX = 8_000_000  # answers to questions about one set of wishes, about 1 GB


class Pass:
    """The planner's pass over states that differ in no more than what is below `kept` in their
    numbers, or in what can break; the last one before it stops, if it hands over."""

    def __init__(self, planner: Planner, numbering: Numbering, *, absent: bool, last: bool) -> None:
        self._planner, self._numbering = planner, numbering
        self._absent, self._last = absent, last
        self.kept = BELOW_SCENE if absent else BELOW_QUESTION
        self.after = Table(self._after)
        self._writes: dict[int, tuple[Write, ...]] = {}
        self._judged: dict[int, list[str]] = {}

    def forget(self) -> None:
        """Everything, once it is too much."""
        if len(self._writes) > REMEMBERED_MAX:
            self.after.clear()
            self._writes.clear()
        if len(self._judged) > REMEMBERED_MAX:
            self._judged.clear()

    def _after(self, question: int) -> list[int]:
        """States after each single write of the plan, 0 for what is kept."""
        state = self._numbering.state(question << QUESTION)
        state = state._replace(seen=state.spec)  # what was seen, the planner is not told
        writes = self._written(question, state)
        after = [written(state, write, absent=self._absent) for write in writes]
        return [self._numbering.number(each) & ~self.kept for each in after]

    def _written(self, question: int, state: State) -> tuple[Write, ...]:
        known = self._writes.get(question)
        if known is None:
            observed = None if self._absent else state.reported
            known = asked(self._planner, state, observed=observed, handing_over=self._last)
            self._writes[question] = known
        return known

    def wrong(self, scene: int) -> list[str]:
        """What the plan breaks in a state, or leaves undone."""
        known = self._judged.get(scene)
        if known is None:
            state = self._numbering.state(scene << SCENE)
            writes = self._written(scene >> QUESTION - SCENE, state)
            observed = None if self._absent else state.reported
            known = judged(state, writes, observed) if writes or observed else _NOTHING
            self._judged[scene] = known or _NOTHING
        return known


_NOTHING: list[str] = []


class Asking:
    """One planner, asked about states of worlds in which users may do the same."""

    def __init__(self, planner: Planner, configs: tuple[Config, ...], *, absent: bool) -> None:
        self.numbering = Numbering(configs)
        self.passes = Pass(planner, self.numbering, absent=absent, last=False)
        self.last_passes = Pass(planner, self.numbering, absent=absent, last=True)

    def forget(self) -> None:
        """What was learnt, once it is too much."""
        self.passes.forget()
        self.last_passes.forget()


class Planning:
    """One planner, asked about states of any number of worlds."""

    def __init__(self, planner: Planner = next_rollout) -> None:
        self.planner = planner
        self._last: tuple[object, Asking] | None = None

    def asking(self, configs: tuple[Config, ...], *, absent: bool) -> Asking:
        """Worlds one after the other in which users may do the same ask the same questions."""
        key = (configs, absent)
        if self._last is None or self._last[0] != key:
            self._last = (key, Asking(self.planner, configs, absent=absent))
        return self._last[1]

    def answer(self, state: State, *, absent: bool) -> tuple[Sequence[Write], list[str]]:
        """The writes of the plan, and what is wrong with them."""
        observed = _observed(state, absent)
        writes = asked(self.planner, state, observed=observed)
        return writes, judged(state, writes, observed)


def _observed(state: State, absent: bool) -> bool | None:
    return None if absent else state.reported and state.seen == state.spec


def judged(state: State, writes: Sequence[Write], observed: bool | None) -> list[str]:
    """What a plan breaks, or what it leaves undone."""
    in_force = () if observed is None else (state.spec, state.seen)
    scene = judge.Scene(state.config, state.spec, state.applied, in_force, state.groups)
    wrong = [rule for write in writes for rule in judge.broken_rules(scene, write)]
    if not writes and observed:
        wrong += judge.left_standing(scene)
    return wrong


def asked(
    planner: Planner, state: State, *, observed: bool | None, handing_over: bool = False
) -> tuple[Write, ...]:
    """What the planner would write now."""
    config, spec = state.config, state.spec
    plan = planner(
        replicas=config.replicas,
        surge=config.surge,
        unavailable=config.unavailable,
        partition=config.partition,
        wanted=KEYS[config.wanted],
        statefulset=_standing(spec, observed, state.applied),
        groups=_records(state.groups),
        paused=config.paused,
        handing_over=handing_over,
    )
    return tuple([_write(action) for action in plan])


@cache
def _standing(spec: Spec, observed: bool | None, applied: int) -> LeaderStatefulSet:
    key = KEYS[spec.key]
    return LeaderStatefulSet(spec.replicas, spec.partition, spec.on_delete, key, observed, applied)


@lru_cache(maxsize=1 << 16)
def _records(groups: Groups) -> tuple[Group, ...]:
    """Up to the last that there is."""
    present = max((o + 1 for o, code in enumerate(groups) if code != MISSING), default=0)
    return tuple(RECORDS[code] for code in groups[:present])


@lru_cache(maxsize=1 << 12)
def _write(action: SetRollout | DeleteLeader) -> Write:
    """One for all that are alike: many are kept."""
    if isinstance(action, DeleteLeader):
        return Write(None, action.ordinal)
    key = KEYS.index(action.key)
    return Write(Spec(action.replicas, action.partition, action.on_delete, key))


def written(state: State, write: Write, *, absent: bool) -> State:
    """The state after one write of a plan; whether more of it follow is the next state's matter."""
    if write.spec is None:
        groups = (*state.groups[: write.delete], MISSING, *state.groups[write.delete + 1 :])
        return state._replace(groups=groups)
    state = state._replace(applied=state.config.replicas)
    if absent:
        return state._replace(spec=write.spec, seen=write.spec)
    changed = write.spec != state.spec
    return state._replace(spec=write.spec, reported=state.reported and not changed)
