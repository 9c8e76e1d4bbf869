"""Asks the planner in its own words, has its answer judged, and remembers both."""

from collections.abc import Callable

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
    Spec,
    State,
)

Planner = Callable[..., tuple[SetRollout | DeleteLeader, ...]]
Answer = tuple[list[Write], list[str]]

KEYS = ("a", "b", "c")
RECORDS = (
    Group(None, False, False),
    *(
        Group(key, health == READY, health == LONG_UNREADY)
        for key in KEYS
        for health in (READY, UNREADY, LONG_UNREADY)
    ),
)
REMEMBERED_MAX = 1_500_000  # answers, about 1 GB


class Planning:
    """One planner, asked about states of any number of worlds.

    Worlds that differ only in what can break ask the same questions again.
    """

    def __init__(self, planner: Planner = next_rollout) -> None:
        self.planner = planner
        self.answers: dict[tuple[object, ...], Answer] = {}

    def answer(self, state: State, *, absent: bool, handing_over: bool = False) -> Answer:
        """The writes of the plan, and what is wrong with them."""
        config, spec, applied, seen, reported, _, groups, _, _ = state
        observed = None if absent else reported and seen == spec
        key = (config, spec, applied, seen, observed, groups, handing_over)
        known = self.answers.get(key)
        if known is None:
            if len(self.answers) >= REMEMBERED_MAX:
                self.answers.clear()
            known = self.answers[key] = self._answer(state, observed, handing_over)
        return known

    def _answer(self, state: State, observed: bool | None, handing_over: bool) -> Answer:
        writes = asked(self.planner, state, observed=observed, handing_over=handing_over)
        in_force = () if observed is None else (state.spec, state.seen)
        scene = judge.Scene(state.config, state.spec, state.applied, in_force, state.groups)
        wrong = [rule for write in writes for rule in judge.broken_rules(scene, write)]
        if not writes and observed:
            wrong += judge.left_standing(scene)
        return writes, wrong


def asked(
    planner: Planner, state: State, *, observed: bool | None, handing_over: bool = False
) -> list[Write]:
    """What the planner would write now."""
    config, spec, groups = state.config, state.spec, state.groups
    standing = LeaderStatefulSet(
        spec.replicas, spec.partition, spec.on_delete, KEYS[spec.key], observed, state.applied
    )
    present = max((o + 1 for o, code in enumerate(groups) if code != MISSING), default=0)
    plan = planner(
        replicas=config.replicas,
        surge=config.surge,
        unavailable=config.unavailable,
        partition=config.partition,
        wanted=KEYS[config.wanted],
        statefulset=standing,
        groups=[RECORDS[code] for code in groups[:present]],
        paused=config.paused,
        handing_over=handing_over,
    )
    return [_write(action) for action in plan]


def _write(action: SetRollout | DeleteLeader) -> Write:
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
