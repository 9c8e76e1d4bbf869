"""Random histories of larger worlds: every write judged, and an end once all are left alone."""

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.rollout import judge, model
from tests.property.rollout.asking import Planning, written
from tests.property.rollout.model import Config, Groups, Spec, State, World

CONFIGS = st.builds(
    Config,
    replicas=st.integers(0, 30),
    surge=st.integers(0, 10),
    unavailable=st.integers(0, 10),
    partition=st.integers(0, 32) | st.just(0),
    wanted=st.integers(0, 2),
    paused=st.booleans(),
).map(lambda config: config._replace(surge=min(config.surge, config.replicas)))

SPAN = 40


@dataclass
class History:
    """One run: what happens next is drawn by chance, what the planner writes is judged."""

    world: World
    state: State
    random: Random
    planning: Planning = field(default_factory=Planning)

    def plans(self) -> bool:
        """A pass of the planner, cut short after some of its writes."""
        absent = self.world.form == "absent"
        writes, wrong = self.planning.answer(self.state, absent=absent)
        assert not wrong, (wrong, self.state)
        for write in writes[: self.random.randint(1, max(1, len(writes)))]:
            self.state = written(self.state, write, absent=absent)
        return bool(writes)

    def controls(self) -> bool:
        """The StatefulSet controller does one thing, looks, or reports."""
        state = self.state
        most = state.config.surge + state.config.unavailable
        if self.world.form == "absent":
            by_hand = list(model.substitute_moves(state.spec, state.groups))
            return self.regroups([(groups, state.current) for groups in by_hand])
        moves = list(
            model.controller_moves(self.world, state.seen, state.current, most, state.groups)
        )
        if state.seen != state.spec and (not moves or self.random.random() < 0.2):
            self.state = state._replace(seen=state.spec)
            return True
        if self.regroups(moves):
            return True
        self.state = state._replace(reported=True)
        return not state.reported

    def regroups(self, moves: list[tuple[Groups, int]]) -> bool:
        if moves:
            groups, current = self.random.choice(moves)
            self.state = self.state._replace(groups=groups, current=current)
        return bool(moves)

    def recovers(self) -> bool:
        moves = list(model.kubelet_moves(self.world, self.state.groups))
        return self.regroups([(groups, self.state.current) for groups in moves])

    def ages(self) -> bool:
        moves = list(model.time_moves(self.state.config, self.state.groups))
        return self.regroups([(groups, self.state.current) for groups in moves])

    def is_hurt(self) -> None:
        moves = list(model.fault_moves(self.state.groups))
        self.regroups([(groups, self.state.current) for groups in moves])

    def lives(self, wishes: list[Config], steps: int) -> None:
        """Everybody acts and interferes."""
        for wish in wishes:
            self.state = self.state._replace(config=wish)
            for _ in range(steps):
                act = self.random.choice(
                    (self.plans, self.controls, self.controls, self.recovers, self.ages)
                )
                act()
                if self.random.random() < 0.05:
                    self.is_hurt()

    def rests(self) -> None:
        """Users and faults stop: it ends, and well."""
        self.state = self.state._replace(config=self.state.config._replace(paused=False))
        acts = [self.plans, self.controls, self.recovers, self.ages]
        for _ in range(5_000):
            self.random.shuffle(acts)
            if not any(act() for act in acts):
                assert not judge.faults_at_rest(self.world, self.state), self.state
                return
        pytest.fail(f"no end: {self.state}")


def beginning(config: Config, form: model.Form) -> State:
    groups = (model.group(0, model.READY),) * config.replicas
    spec = Spec(config.replicas, config.partition, False, 0)
    return State(
        config=config,
        spec=spec,
        applied=config.replicas,
        seen=spec,
        reported=form != "absent",
        current=0,
        groups=groups + (model.MISSING,) * (SPAN - config.replicas),
        users=0,
        faults=0,
    )


@settings(max_examples=250, deadline=None)
@given(
    form=st.sampled_from(("one at a time", "many at a time", "any", "absent")),
    wishes=st.lists(CONFIGS, min_size=3, max_size=6),
    bad_nodes=st.frozensets(st.integers(0, SPAN - 1), max_size=2),
    bad_revisions=st.frozensets(st.integers(0, 2), max_size=1),
    steps=st.integers(30, 150),
    seed=st.integers(0, 2**32),
)
def test_no_history_breaks_a_promise_and_each_comes_to_rest(
    form: model.Form,
    wishes: list[Config],
    bad_nodes: frozenset[int],
    bad_revisions: frozenset[int],
    steps: int,
    seed: int,
) -> None:
    broken = frozenset(
        (ordinal, key)
        for ordinal in range(SPAN)
        for key in range(3)
        if form != "absent" and (ordinal in bad_nodes or key in bad_revisions)
    )
    history = History(World(form, broken, ()), beginning(wishes[0], form), Random(seed))
    history.lives(wishes, steps)
    history.rests()
