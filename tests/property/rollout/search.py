"""Every state that a small world can get into, every write of the planner's in it, judged.

Breadth first, a wave of states at a time. What follows from a state is remembered by the fields
that it depends on (`Table`), and asked of the model and the planner once. Progress is judged on the
graph of what happens once users and faults have stopped: if that has no cycle then every schedule
whatsoever ends, and each end is looked at.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tests.property.rollout import judge, model
from tests.property.rollout.asking import Pass, Planning
from tests.property.rollout.model import Groups, State, World
from tests.property.rollout.numbering import (
    BELOW_GROUPS,
    CONFIG,
    CURRENT,
    EIGHT,
    FAULT,
    GROUPS,
    QUESTION,
    REPORTED,
    SCENE,
    SEEN,
    SPEC,
    TEN,
    TWO,
    USER,
    Numbers,
)
from tests.property.rollout.tables import Kept, Places, Register, Table, endless

WAVE_MAX = 1 << 19  # states that are looked at together: some 100 MB


class Found(NamedTuple):
    """What a search of one world found. `examples`: of each kind of fault the first, with the
    states that led to it."""

    states: int
    transitions: int
    violations: int
    stalls: int
    examples: dict[str, list[State]]


Moves = tuple[Places, Numbers]
"""Places in a wave, and the states that follow from those there."""


class Search:
    """One world and one planner: what follows from what."""

    def __init__(self, world: World, planning: Planning) -> None:
        self.world = world
        self.absent = world.form == "absent"
        self.asking = planning.asking(world.configs, absent=self.absent)
        self.numbering = self.asking.numbering
        self.controls = Table(self._controlled)
        self.recoveries = Table(self._recovered)
        self.ageings = Table(self._aged)
        self.injuries = Table(self._injured)
        self.wishes = Table(self._wished)

    # Of one key: parts of numbers

    def _grouped(self, alternatives: Iterable[Groups]) -> list[int]:
        return [self.numbering.groups[groups] << GROUPS for groups in alternatives]

    def _controlled(self, key: int) -> list[int]:
        """Groups and current revision after each thing that the StatefulSet controller may do."""
        config = self.numbering.configs.values_met[key & EIGHT]
        seen = self.numbering.specs.values_met[key >> 10 & TEN]
        groups, current = self.numbering.groups.values_met[key >> 20], key >> 8 & TWO
        if self.absent:
            return self._grouped(model.substitute_moves(seen, groups))
        most = config.surge + config.unavailable
        moves = model.controller_moves(self.world, seen, current, most, groups)
        return [self.numbering.groups[after] << GROUPS | now << CURRENT for after, now in moves]

    def _recovered(self, groups: int) -> list[int]:
        return self._grouped(
            model.kubelet_moves(self.world, self.numbering.groups.values_met[groups])
        )

    def _aged(self, key: int) -> list[int]:
        config = self.numbering.configs.values_met[key & EIGHT]
        return self._grouped(model.time_moves(config, self.numbering.groups.values_met[key >> 8]))

    def _injured(self, groups: int) -> list[int]:
        return self._grouped(model.fault_moves(self.numbering.groups.values_met[groups]))

    def _wished(self, config: int) -> list[int]:
        wishes = model.user_moves(self.world, self.numbering.configs.values_met[config])
        return [self.numbering.configs[wish] << CONFIG for wish in wishes]

    # Of a wave of states

    def inner(self, wave: Numbers) -> Moves:
        """What may follow by itself: the planner's writes, the StatefulSet controller, pods."""
        groups, config = wave >> GROUPS, wave >> CONFIG & EIGHT
        seen = wave >> SEEN & TEN
        rest, passes = wave & BELOW_GROUPS, self.asking.passes
        moves = [
            _joined(wave & passes.kept, passes.after.look_up(wave >> QUESTION)),
            _joined(rest, self.recoveries.look_up(groups)),
            _joined(rest, self.ageings.look_up(groups << 8 | config)),
        ]
        control = groups << 20 | seen << 10 | config
        if self.absent:
            moves.append(_joined(rest, self.controls.look_up(control)))
        else:
            control |= (wave >> CURRENT & TWO) << 8
            moves.append(_joined(rest & ~(TWO << CURRENT), self.controls.look_up(control)))
            moves += self._looks(wave, seen)
        return _together(moves)

    def _looks(self, wave: Numbers, seen: Numbers) -> list[Moves]:
        """The StatefulSet controller sees the present spec, or reports that it has."""
        spec = wave >> SPEC & TEN
        behind = np.flatnonzero(seen != spec)
        silent = np.flatnonzero((seen == spec) & (wave >> REPORTED & 1 == 0))
        return [
            (behind, wave[behind] & ~(TEN << SEEN) | spec[behind] << SEEN),
            (silent, wave[silent] | 1 << REPORTED),
        ]

    def outer(self, wave: Numbers) -> Moves:
        """What faults, an orderly stop in mid-healing and users make of it."""
        hurt = np.flatnonzero(wave & TWO)
        told = np.flatnonzero(wave >> 2 & TWO)
        stopped = self.may_stop(wave)
        injured = (wave[hurt] & BELOW_GROUPS) - FAULT
        last = self.asking.last_passes
        closed = (wave[stopped] & last.kept) - FAULT
        instructed = (wave[told] & ~(EIGHT << CONFIG)) - USER
        return _together(
            [
                _of(hurt, _joined(injured, self.injuries.look_up(wave[hurt] >> GROUPS))),
                _of(stopped, _joined(closed, last.after.look_up(wave[stopped] >> QUESTION))),
                _of(told, _joined(instructed, self.wishes.look_up(wave[told] >> CONFIG & EIGHT))),
            ]
        )

    def may_stop(self, wave: Numbers) -> Places:
        """Where the manager may hand over while a window of OnDelete is open."""
        specs = self.numbering.specs.values_met
        on_delete = np.array([spec.on_delete for spec in specs])
        return np.flatnonzero(on_delete[wave >> SPEC & TEN] & (wave & TWO > 0))

    def wrong(self, wave: Numbers) -> dict[int, list[str]]:
        """What is wrong with plans, by place in the wave."""
        found = _wrong(wave, np.arange(len(wave)), self.asking.passes)
        for place, rules in _wrong(wave, self.may_stop(wave), self.asking.last_passes).items():
            found[place] = found.get(place, []) + rules
        return found


def _wrong(wave: Numbers, places: Places, passes: Pass) -> dict[int, list[str]]:
    """What is wrong with these passes. One that writes nothing on a spec that has not been
    reported breaks nothing."""
    part = wave[places]
    writing, _ = passes.after.look_up(part >> QUESTION)
    judged = np.union1d(writing, np.flatnonzero(part >> REPORTED & 1))
    scenes, back = np.unique(part[judged] >> SCENE, return_inverse=True)
    wrong = [passes.wrong(scene) for scene in scenes.tolist()]
    if not any(wrong):
        return {}
    found = zip(places[judged].tolist(), back.tolist(), strict=True)
    return {place: wrong[one] for place, one in found if wrong[one]}


def _joined(rest: Numbers, moves: Moves) -> Moves:
    owners, parts = moves
    return owners, rest[owners] | parts


def _of(places: Places, moves: Moves) -> Moves:
    """Moves of a part of a wave as of the whole."""
    owners, after = moves
    return places[owners], after


def _together(moves: list[Moves]) -> Moves:
    return np.concatenate([one for one, _ in moves]), np.concatenate([one for _, one in moves])


class Ledger:
    """States in the order in which they were found, how they were found, what was wrong."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.states = Register()
        self.parents: list[Kept] = []
        self.degrees: list[Kept] = []
        self.targets: list[Kept] = []
        self.transitions = self.violations = self.stalls = 0
        self.examples: dict[str, list[State]] = {}

    def enter(self, parents: Places, numbers: Numbers) -> Places:
        """The places of these states, new ones as found from those."""
        unique, first, back = np.unique(numbers, return_index=True, return_inverse=True)
        known = self.states.count
        places = self.states.enter(unique)
        is_new = places >= known
        self.parents.append(parents[first[is_new]].astype(np.int32))
        return places[back]

    def walk(self, first: int, end: int) -> None:
        """All that follows from the states at these places."""
        wave = self.states.numbers(first, end).copy()
        owners, after = self.search.inner(wave)
        order = np.argsort(owners, kind="stable")
        owners, after = owners[order], after[order]
        beyond, disturbed = self.search.outer(wave)
        self.transitions += len(after) + len(disturbed)
        parents = np.concatenate([owners, beyond]) + first
        places = self.enter(parents, np.concatenate([after, disturbed]))
        self.degrees.append(np.bincount(owners, minlength=len(wave)).astype(np.int32))
        self.targets.append(places[: len(owners)].astype(np.int32))
        self.judge(first, wave, np.setdiff1d(np.arange(len(wave)), owners))
        self.search.asking.forget()

    def judge(self, first: int, wave: Numbers, ends: Places) -> None:
        """Writes that break something, and ends where something is left to do."""
        wrong = self.search.wrong(wave)
        state = self.search.numbering.state
        for place in ends.tolist():
            rules = judge.faults_at_rest(self.search.world, state(int(wave[place])))
            if rules:
                wrong[place] = wrong.get(place, []) + rules
        for place, rules in sorted(wrong.items()):
            stalled = sum(rule.startswith(("stall", "at rest")) for rule in rules)
            self.stalls += stalled > 0
            self.violations += len(rules) - stalled
            for rule in rules:
                self.note(rule, first + place)

    def note(self, kind: str, place: int) -> None:
        """Keep the first history that leads to this kind of fault."""
        if kind in self.examples:
            return
        parents = np.concatenate(self.parents)
        path = [place]
        while parents[path[-1]] >= 0:
            path.append(int(parents[path[-1]]))
        state, numbers = self.search.numbering.state, self.states.numbers(0, self.states.count)
        self.examples[kind] = [state(int(numbers[step])) for step in reversed(path)]

    def judge_progress(self) -> None:
        """Nobody interferes, and yet there is no end."""
        degrees, targets = np.concatenate(self.degrees), np.concatenate(self.targets)
        self.targets.clear()  # there are more of these than of anything else
        for place in endless(degrees, targets).tolist():
            self.stalls += 1
            self.note("no end: a cycle with nobody interfering", place)


def searched(world: World, start: list[State], planning: Planning) -> Found:
    """Everything reachable from `start`."""
    search = Search(world, planning)
    ledger = Ledger(search)
    begun = np.unique(np.array([search.numbering.number(state) for state in start]))
    ledger.enter(np.full(len(begun), -1), begun)
    done = 0
    while done < ledger.states.count:
        end = min(ledger.states.count, done + WAVE_MAX)
        ledger.walk(done, end)
        done = end
    ledger.judge_progress()
    return Found(
        ledger.states.count,
        ledger.transitions,
        ledger.violations,
        ledger.stalls,
        ledger.examples,
    )
