"""States as numbers of 63 bits, so that a million of them are an array."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tests.property.rollout.model import Config, Groups, Spec, State

Numbers = npt.NDArray[np.int64]

# From the lowest bit: faults 2, users 2, current 2, seen 10, reported 1, applied 3, spec 10,
# config 8, groups 25. From `reported` on a number is what the planner is asked, since nothing is
# reported but of a spec that was seen; from `seen` on it is what its writes are judged by.
FAULT, USER = 1, 1 << 2
CURRENT, SEEN, REPORTED, APPLIED, SPEC, CONFIG, GROUPS = 4, 6, 16, 17, 20, 30, 38
SCENE, QUESTION = SEEN, REPORTED
TWENTY_FIVE, TEN, EIGHT, THREE, TWO = (1 << 25) - 1, 1023, 255, 7, 3
BELOW_SCENE, BELOW_QUESTION, BELOW_GROUPS = (1 << SCENE) - 1, (1 << QUESTION) - 1, (1 << GROUPS) - 1

_Value = TypeVar("_Value", bound=tuple[object, ...])


class Names(dict[_Value, int]):
    """Numbers for values, as they are met."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.values_met: list[_Value] = []
        self._most = most

    def __missing__(self, value: _Value) -> int:
        number = self[value] = len(self.values_met)
        self.values_met.append(value)
        assert number <= self._most, "more of them than bits"
        return number


class Numbering:
    """Numbers of the states of all worlds in which users may do the same."""

    def __init__(self, configs: tuple[Config, ...]) -> None:
        self.configs = Names[Config](EIGHT)
        self.specs = Names[Spec](TEN)
        self.groups = Names[Groups](TWENTY_FIVE)
        for config in configs:
            self.configs[config]

    def number(self, state: State) -> int:
        assert state.seen == state.spec or not state.reported, "reported, and never seen"
        return (
            state.faults
            | state.users * USER
            | state.current << CURRENT
            | self.specs[state.seen] << SEEN
            | state.reported << REPORTED
            | state.applied << APPLIED
            | self.specs[state.spec] << SPEC
            | self.configs[state.config] << CONFIG
            | self.groups[state.groups] << GROUPS
        )

    def state(self, number: int) -> State:
        return State(
            config=self.configs.values_met[number >> CONFIG & EIGHT],
            spec=self.specs.values_met[number >> SPEC & TEN],
            applied=number >> APPLIED & THREE,
            seen=self.specs.values_met[number >> SEEN & TEN],
            reported=bool(number >> REPORTED & 1),
            current=number >> CURRENT & TWO,
            groups=self.groups.values_met[number >> GROUPS],
            users=number >> 2 & TWO,
            faults=number & TWO,
        )
