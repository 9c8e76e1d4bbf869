"""What the search of small worlds stands on: its register, its tables, its judgement of cycles."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.rollout.numbering import Numbering
from tests.property.rollout.tables import Register, Table, endless
from tests.property.rollout.worlds import Size, worlds

NUMBERS = st.lists(st.integers(0, (1 << 63) - 1) | st.integers(0, 200), unique=True, max_size=60)


@settings(deadline=None)
@given(waves=st.lists(NUMBERS, max_size=40))
def test_a_register_gives_each_number_the_place_at_which_it_came(waves: list[list[int]]) -> None:
    register, expected = Register(), dict[int, int]()
    for wave in waves:
        for number in wave:
            expected.setdefault(number, len(expected))
        places = register.enter(np.array(wave, dtype=np.int64))
        assert places.tolist() == [expected[number] for number in wave]
    assert register.numbers(0, register.count).tolist() == list(expected)


def test_a_register_that_grows_past_its_first_room_forgets_nothing() -> None:
    register, numbers = Register(), np.arange(100_000) << 38
    for start in range(0, len(numbers), 777):
        register.enter(numbers[start : start + 777])
    assert register.enter(numbers).tolist() == list(range(len(numbers)))


@given(keys=st.lists(st.integers(0, 9), max_size=30), more=st.lists(st.integers(0, 19)))
def test_a_table_makes_each_row_once_and_gives_it_to_all_that_ask(
    keys: list[int], more: list[int]
) -> None:
    made = list[int]()

    def make(key: int) -> list[int]:
        made.append(key)
        return [key * 100 + cell for cell in range(key % 4)]

    table = Table(make)
    for asked in (keys, more):
        owners, cells = table.look_up(np.array(asked, dtype=np.int64))
        rows = [
            (place, key * 100 + cell) for place, key in enumerate(asked) for cell in range(key % 4)
        ]
        assert list(zip(owners.tolist(), cells.tolist(), strict=True)) == rows
    assert sorted(made) == sorted({*keys, *more})


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25))
def test_endless_are_the_places_on_a_cycle_and_those_behind_one(
    edges: list[tuple[int, int]],
) -> None:
    edges.sort()
    reached = {place: {place} for place in range(12)}
    for _ in range(12):
        for source, target in edges:
            reached[source] |= reached[target]
    on_cycle = {source for source, target in edges if source in reached[target]}
    expected = {place for one in on_cycle for place in reached[one]}
    degrees = np.zeros(12, dtype=np.int32)
    for source, _ in edges:
        degrees[source] += 1
    targets = np.array([target for _, target in edges], dtype=np.int32)
    assert set(endless(degrees, targets).tolist()) == expected


def test_a_state_and_its_number_tell_the_same() -> None:
    for start in worlds(Size(3, 2, 2, users=1, faults=1)):
        numbering = Numbering(start.world.configs)
        for state in start.states:
            assert numbering.state(numbering.number(state)) == state
