"""How late a status may be."""

import pytest

from lws.planner.timing import LATEST_SECONDS, Timing, folded, paced


@pytest.mark.parametrize(
    ("to_come", "seconds"), [(1, 1.0), (10, 1.0), (20, 2.0), (50, 5.0), (300, 5.0)]
)
def test_the_more_is_to_come_the_less_often_counters_are_told(to_come: int, seconds: float) -> None:
    assert paced(Timing(age=0.0), to_come=to_come) == seconds
    assert paced(Timing(age=seconds), to_come=to_come) == 0


def test_counters_that_are_at_rest_are_told_at_once() -> None:
    assert paced(Timing(age=0.0), to_come=0) == 0


def test_a_process_that_has_just_begun_tells_at_once() -> None:
    assert paced(Timing(), to_come=300) == 0


def test_what_is_folded_waits_from_when_it_differed() -> None:
    assert folded(Timing(age=100, unsaid=0.1), seconds=0.5) == pytest.approx(0.4)
    assert folded(Timing(age=0.1, unsaid=0.5), seconds=0.5) == 0


def test_nothing_is_late_by_more_than_the_latest() -> None:
    late = Timing(age=0.0, unsaid=LATEST_SECONDS - 0.25)
    assert paced(late, to_come=300) == 0.25
    assert folded(late, seconds=100) == 0.25


def test_what_rounding_leaves_of_a_wait_is_not_waited_for() -> None:
    assert folded(Timing(unsaid=0.5 - 1e-9), seconds=0.5) == 0
