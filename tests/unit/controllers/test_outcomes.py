"""From the failures of a pass to its next."""

import pytest

from lws.api.kinds import Kind
from lws.base.ids import UID
from lws.client.errors import Conflict, Unavailable
from lws.controllers.outcomes import next_look
from lws.executor.perform import Failure, Standing
from lws.planner.actions import Delete
from lws.runtime.controller import Unfinished

AWAY = Unavailable("away")


def a_failure(standing: Standing, seconds: float = 0.0) -> Failure:
    action = Delete(kind=Kind.POD, namespace="ns", name="vllm-0", uid=UID("u"))
    error = AWAY if standing is Standing.RETRY else None
    return Failure(action, standing, "no", error, seconds)


def test_what_was_refused_or_is_in_the_way_has_its_time() -> None:
    failures = [a_failure(Standing.TOLD, 8.0), a_failure(Standing.FOREIGN)]
    assert next_look(failures, (None, 7.0)) == 5.0
    assert next_look([], (None, None)) is None


def test_a_failure_alone_is_left_to_the_backoff() -> None:
    with pytest.raises(Unavailable):
        next_look([a_failure(Standing.RETRY)], (None,))
    with pytest.raises(Conflict):
        next_look([a_failure(Standing.STALE)], ())


def test_a_failure_of_one_strand_does_not_delay_the_time_of_another() -> None:
    """A group is due to be recreated in ten seconds, whether or not a Service can be made."""
    with pytest.raises(Unfinished) as raised:
        next_look([a_failure(Standing.RETRY)], (10.0, None))
    assert (raised.value.error, raised.value.wake_after) == (AWAY, 10.0)
