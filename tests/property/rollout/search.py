"""Every state that a small world can get into, every write of the planner's in it, judged.

Breadth first. A state is one number, moves are remembered by the fields that they depend on.
Progress is judged on the graph of what happens once users and faults have stopped: if that has no
cycle then every schedule whatsoever ends, and each end is looked at.
"""

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from tests.property.rollout import judge, model
from tests.property.rollout.asking import Planning, written
from tests.property.rollout.model import Groups, Spec, State, World


class Found(NamedTuple):
    """What a search of one world found. `examples`: of each kind of fault the first, with the
    states that led to it."""

    states: int
    transitions: int
    violations: int
    stalls: int
    examples: dict[str, list[State]]


# A state as a number, from the lowest bit: faults 2, users 2, current 2, reported 1, seen 10,
# applied 3, spec 10, config 8, groups. What a plan depends on is above `current`.
FAULT, USER, LOW = 1, 1 << 2, 6
SEEN, APPLIED, SPEC, CONFIG, GROUPS = 7, 17, 20, 30, 38
TEN, EIGHT, THREE, TWO = 1023, 255, 7, 3


class Search:
    """One world and one planner: states as numbers, and the moves between them."""

    def __init__(self, world: World, planning: Planning) -> None:
        self.world, self.planning = world, planning
        self.absent = world.form == "absent"
        self.configs = list(world.configs)
        assert len(self.configs) <= EIGHT + 1, "more configs than bits"
        self.config_ids = {config: number for number, config in enumerate(self.configs)}
        self.specs: list[Spec] = []
        self.spec_ids: dict[Spec, int] = {}
        self.groups: list[Groups] = []
        self.group_ids: dict[Groups, int] = {}
        self.users = [
            [self.config_ids[other] << CONFIG for other in model.user_moves(world, config)]
            for config in self.configs
        ]
        self.writes: dict[int, tuple[list[int], list[str]]] = {}
        self.closings: dict[int, tuple[list[int], list[str]]] = {}
        self.controls: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
        self.recoveries: dict[int, list[int]] = {}
        self.ageings: dict[tuple[int, int, int], list[int]] = {}
        self.injuries: dict[int, list[int]] = {}

    # States and numbers

    def group_id(self, groups: Groups) -> int:
        number = self.group_ids.get(groups)
        if number is None:
            number = self.group_ids[groups] = len(self.groups)
            self.groups.append(groups)
        return number

    def spec_id(self, spec: Spec) -> int:
        number = self.spec_ids.get(spec)
        if number is None:
            number = self.spec_ids[spec] = len(self.specs)
            self.specs.append(spec)
            assert number <= TEN, "more specs than bits"
        return number

    def number(self, state: State) -> int:
        return (
            state.faults
            | state.users * USER
            | state.current << 4
            | state.reported << LOW
            | self.spec_id(state.seen) << SEEN
            | state.applied << APPLIED
            | self.spec_id(state.spec) << SPEC
            | self.config_ids[state.config] << CONFIG
            | self.group_id(state.groups) << GROUPS
        )

    def state(self, number: int) -> State:
        return State(
            config=self.configs[number >> CONFIG & EIGHT],
            spec=self.specs[number >> SPEC & TEN],
            applied=number >> APPLIED & THREE,
            seen=self.specs[number >> SEEN & TEN],
            reported=bool(number >> LOW & 1),
            current=number >> 4 & TWO,
            groups=self.groups[number >> GROUPS],
            users=number >> 2 & TWO,
            faults=number & TWO,
        )

    # The planner's moves

    def planned(self, number: int) -> tuple[list[int], list[str]]:
        """States after each single write of the plan, and what the writes break."""
        above = number >> LOW
        known = self.writes.get(above)
        if known is None:
            known = self.writes[above] = self.plan(self.state(number), handing_over=False)
        low = number & 63
        return [after | low for after in known[0]], known[1]

    def closed(self, number: int) -> tuple[list[int], list[str]]:
        """The same for the last pass before an orderly stop."""
        above = number >> LOW
        known = self.closings.get(above)
        if known is None:
            known = self.closings[above] = self.plan(self.state(number), handing_over=True)
        low = number & 63
        return [after | low for after in known[0]], known[1]

    def plan(self, state: State, *, handing_over: bool) -> tuple[list[int], list[str]]:
        writes, wrong = self.planning.answer(state, absent=self.absent, handing_over=handing_over)
        after = [written(state, write, absent=self.absent) for write in writes]
        return [self.number(each) >> LOW << LOW for each in after], wrong

    # Everybody else's moves

    def controlled(self, number: int) -> Iterator[int]:
        """The StatefulSet controller: acts on what it has seen, looks, reports."""
        groups_id, seen_id = number >> GROUPS, number >> SEEN & TEN
        config = self.configs[number >> CONFIG & EIGHT]
        most = config.surge + config.unavailable
        current = number >> 4 & TWO
        key = (groups_id, seen_id, current, most)
        known = self.controls.get(key)
        if known is None:
            known = self.controls[key] = self.control(key)
        rest = number & ~(TWO << 4) & ((1 << GROUPS) - 1)
        for groups, now in known:
            yield rest | groups << GROUPS | now << 4
        if self.absent:
            return
        spec_id = number >> SPEC & TEN
        if seen_id != spec_id:
            yield number & ~(TEN << SEEN) | spec_id << SEEN
        elif not number >> LOW & 1:
            yield number | 1 << LOW

    def control(self, key: tuple[int, int, int, int]) -> list[tuple[int, int]]:
        groups, seen, current = self.groups[key[0]], self.specs[key[1]], key[2]
        if self.absent:
            after = model.substitute_moves(seen, groups)
            return [(self.group_id(groups), current) for groups in after]
        moves = model.controller_moves(self.world, seen, current, key[3], groups)
        return [(self.group_id(groups), now) for groups, now in moves]

    def shifted(self, alternatives: Iterator[Groups]) -> list[int]:
        return [self.group_id(groups) << GROUPS for groups in alternatives]

    def recovered(self, number: int) -> list[int]:
        groups_id = number >> GROUPS
        known = self.recoveries.get(groups_id)
        if known is None:
            after = model.kubelet_moves(self.world, self.groups[groups_id])
            known = self.recoveries[groups_id] = [
                self.group_id(groups) << GROUPS for groups in after
            ]
        rest = number & ((1 << GROUPS) - 1)
        return [rest | groups for groups in known]

    def aged(self, number: int) -> list[int]:
        groups_id, config = number >> GROUPS, self.configs[number >> CONFIG & EIGHT]
        key = (groups_id, config.wanted, config.partition)
        known = self.ageings.get(key)
        if known is None:
            after = model.time_moves(config, self.groups[groups_id])
            known = self.ageings[key] = self.shifted(after)
        rest = number & ((1 << GROUPS) - 1)
        return [rest | groups for groups in known]

    def disturbed(self, number: int) -> tuple[list[int], list[str]]:
        """What faults, an orderly stop in mid-healing and users make of it."""
        outer: list[int] = []
        wrong: list[str] = []
        if number & TWO:
            outer += self.injured(number)
            if self.specs[number >> SPEC & TEN].on_delete:
                closed, wrong = self.closed(number)
                outer += [after - FAULT for after in closed]
        if number >> 2 & TWO:
            outer += self.instructed(number)
        return outer, wrong

    def injured(self, number: int) -> list[int]:
        groups_id = number >> GROUPS
        known = self.injuries.get(groups_id)
        if known is None:
            after = model.fault_moves(self.groups[groups_id])
            known = self.injuries[groups_id] = self.shifted(after)
        rest = (number & ((1 << GROUPS) - 1)) - FAULT
        return [rest | groups for groups in known]

    def instructed(self, number: int) -> list[int]:
        rest = (number & ~(EIGHT << CONFIG)) - USER
        return [rest | config for config in self.users[number >> CONFIG & EIGHT]]


class Ledger:
    """States in the order in which they were found, how they were found, what was wrong."""

    def __init__(self, search: Search, start: list[int]) -> None:
        self.search = search
        self.order = start
        self.places = {number: place for place, number in enumerate(start)}
        self.parents = array("i", [-1] * len(start))
        self.edges, self.bounds = array("i"), array("i", [0])
        self.transitions = self.violations = self.stalls = 0
        self.examples: dict[str, list[State]] = {}

    def note(self, kind: str, place: int) -> None:
        """Keep the first history that leads to this kind of fault."""
        if kind in self.examples:
            return
        path = [place]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        self.examples[kind] = [self.search.state(self.order[step]) for step in reversed(path)]

    def enter(self, place: int, inner: list[int], outer: list[int]) -> None:
        """What may follow: by itself, and by what users and faults do."""
        self.transitions += len(inner) + len(outer)
        places, order = self.places, self.order
        for after in inner:
            target = places.get(after)
            if target is None:
                target = places[after] = len(order)
                order.append(after)
                self.parents.append(place)
            self.edges.append(target)
        self.bounds.append(len(self.edges))
        for after in outer:
            if after not in places:
                places[after] = len(order)
                order.append(after)
                self.parents.append(place)

    def judge(self, place: int, wrong: list[str], at_rest: bool) -> None:
        """Writes that break something, and an end where something is left to do."""
        if at_rest:
            wrong = wrong + judge.faults_at_rest(
                self.search.world, self.search.state(self.order[place])
            )
        if not wrong:
            return
        stalled = sum(rule.startswith(("stall", "at rest")) for rule in wrong)
        self.stalls += stalled > 0
        self.violations += len(wrong) - stalled
        for rule in wrong:
            self.note(rule, place)

    def judge_progress(self) -> None:
        """Nobody interferes, and yet there is no end."""
        for place in endless(self.edges, self.bounds):
            self.stalls += 1
            self.note("no end: a cycle with nobody interfering", place)


def searched(world: World, start: list[State], planning: Planning) -> Found:
    """Everything reachable from `start`."""
    search = Search(world, planning)
    ledger = Ledger(search, [search.number(state) for state in start])
    for place, number in enumerate(ledger.order):  # grows while it is walked
        inner, wrong = search.planned(number)
        inner.extend(search.controlled(number))
        inner += search.recovered(number)
        inner += search.aged(number)
        outer, wrong_at_stop = search.disturbed(number)
        ledger.enter(place, inner, outer)
        if wrong or wrong_at_stop or not inner:
            ledger.judge(place, wrong + wrong_at_stop, not inner)
    ledger.judge_progress()
    return Found(
        len(ledger.order), ledger.transitions, ledger.violations, ledger.stalls, ledger.examples
    )


def endless(edges: "array[int]", bounds: "array[int]") -> list[int]:
    """Places that are on a cycle, or only reached through one."""
    waiting = array("i", [0]) * (len(bounds) - 1)
    for target in edges:
        waiting[target] += 1
    ready = [place for place, count in enumerate(waiting) if count == 0]
    for place in ready:  # grows while it is walked
        for target in edges[bounds[place] : bounds[place + 1]]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    if len(ready) == len(waiting):
        return []
    done = bytearray(len(waiting))
    for place in ready:
        done[place] = 1
    return [place for place, is_done in enumerate(done) if not is_done]
