"""A refused write waits; another one in its place does not."""

from lws.client.errors import Invalid
from lws.executor.refusals import BODIES_MAX, Refusals
from lws.runtime.clock import VirtualClock

ERROR = Invalid("no")


def refused(refusals: Refusals, *bodies: int) -> None:
    for body in bodies:
        refusals.note("target", body, ERROR)


def test_a_refused_write_is_held_back_for_longer_each_time() -> None:
    clock = VirtualClock()
    refusals = Refusals(clock)
    waits = []
    for _ in range(9):
        refusal = refusals.note("target", 1, ERROR)
        assert refusals.standing("target", 1) is refusal
        waits.append(refusals.seconds_left(refusal))
        clock.advance(waits[-1])
        assert refusals.standing("target", 1) is None
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_another_body_is_sent_at_once() -> None:
    refusals = Refusals(VirtualClock())
    refused(refusals, 1)
    assert refusals.standing("target", 2) is None
    assert refusals.standing("another", 1) is None


def test_bodies_that_take_turns_are_each_held_back() -> None:
    refusals = Refusals(VirtualClock())
    refused(refusals, 1, 2, 1, 2)
    for body in (1, 2):
        standing = refusals.standing("target", body)
        assert standing is not None
        assert standing.attempts == 2


def test_one_body_that_goes_through_frees_the_others() -> None:
    refusals = Refusals(VirtualClock())
    refused(refusals, 1, 2)
    refusals.forget("target")
    assert refusals.standing("target", 1) is refusals.standing("target", 2) is None


def test_of_many_bodies_the_oldest_are_forgotten() -> None:
    refusals = Refusals(VirtualClock())
    refused(refusals, 0, *range(1, BODIES_MAX), 0, BODIES_MAX)
    assert refusals.standing("target", 1) is None
    assert refusals.standing("target", 0) is not None
    assert refusals.standing("target", BODIES_MAX) is not None


def test_what_nobody_tries_any_more_is_forgotten() -> None:
    """Namespaces that come and go leave nothing behind."""
    clock = VirtualClock()
    refusals = Refusals(clock)
    for number in range(1000):
        refusals.note(("create", number), 1, ERROR)
        refusals.note("tried for ever", 1, ERROR)
        clock.advance(60)
    assert len(refusals) < 15
    standing = refusals.standing("tried for ever", 1) or refusals.note("tried for ever", 1, ERROR)
    assert standing.attempts > 1000
