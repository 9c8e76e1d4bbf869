"""One leads, the others wait; who cannot renew stops in time; who leaves lets the next in."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from structlog.testing import capture_logs

from lws.base.errors import InvalidInput
from lws.client.requests import Request
from lws.runtime.clock import VirtualClock
from lws.runtime.election import LeaderElector, LeadershipLost
from lws.runtime.metrics import Metrics
from tests.unit.runtime.fake_leases import LeaseApi, Line


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with capture_logs():
        yield


class Candidate:
    """An elector and what it called."""

    def __init__(self, api: LeaseApi, clock: VirtualClock, identity: str) -> None:
        self.line = Line(api)
        self.metrics = Metrics()
        self.calls: list[tuple[str, float]] = []
        self.elector = LeaderElector(
            client=self.line,
            clock=clock,
            name="lease",
            namespace="system",
            identity=identity,
            on_started=lambda: self.calls.append(("started", round(clock.monotonic(), 1))),
            on_stopped=lambda: self.calls.append(("stopped", round(clock.monotonic(), 1))),
            metrics=self.metrics,
        )
        self.task = asyncio.create_task(self.elector.run())

    def leads(self) -> bool:
        return self.elector.is_leader


async def test_the_first_candidate_leads_at_once_and_renews_every_two_seconds() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await one.elector.elected()
    await clock.run_for(60.5)
    assert one.leads()
    assert one.calls == [("started", 0)]
    assert api.writes == 31
    assert one.metrics.value("leader_election_master_status", name="lease") == 1
    assert api.lease is not None
    assert api.lease["spec"]["leaseDurationSeconds"] == 15
    assert api.lease["spec"]["leaseTransitions"] == 0


async def test_a_second_candidate_only_looks() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    two = Candidate(api, clock, "two")
    await clock.run_for(600)
    assert one.leads()
    assert not two.leads()
    assert two.elector.holder == "one"
    assert {request.verb for request in two.line.requests} == {"get"}


async def test_a_dead_leader_is_followed_after_the_lease_seen_by_our_own_clock() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(10)
    one.task.cancel()
    two = Candidate(api, clock, "two")
    await clock.run_for(14.9)
    assert not two.leads()
    await clock.run_for(5)
    assert two.leads()
    assert api.lease is not None
    assert api.lease["spec"]["leaseTransitions"] == 1


async def test_renew_times_from_another_clock_are_not_believed() -> None:
    api, clock = LeaseApi(), VirtualClock()
    Candidate(api, VirtualClock(start=0.0), "from 1970").task.cancel()
    spec = {
        "holderIdentity": "old",
        "leaseDurationSeconds": 15,
        "renewTime": "1970-01-01T00:00:00Z",
    }
    api.lease = {"metadata": {"name": "lease", "resourceVersion": "0"}, "spec": spec}
    two = Candidate(api, clock, "two")
    await clock.run_for(14)
    assert not two.leads()


async def test_a_leader_without_a_line_stops_before_another_may_start() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    two = Candidate(api, clock, "two")
    await clock.run_for(9.5)
    one.line.is_down = True
    await clock.run_for(30)
    assert one.calls == [("started", 0), ("stopped", 20)]  # renewed last at 10
    assert two.calls[0][0] == "started"
    assert two.calls[0][1] >= 25
    with pytest.raises(LeadershipLost):
        await one.task


async def test_a_request_that_hangs_does_not_delay_the_end() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(9)

    async def hang(request: Request, answer: Callable[[], bytes]) -> bytes:
        await asyncio.get_running_loop().create_future()
        return b""

    one.line.fault = hang
    await clock.run_for(20)
    assert one.calls[-1] == ("stopped", 18)


async def test_leadership_counts_from_the_sending_of_a_renewal_not_from_its_answer() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)

    async def slow(request: Request, answer: Callable[[], bytes]) -> bytes:
        body = answer()
        await clock.sleep(4)
        one.line.is_down = True
        return body

    one.line.fault = slow
    await clock.run_for(30)
    assert one.calls[-1] == ("stopped", 12)  # sent at 2, answered at 6


async def test_a_leader_whose_loop_was_blocked_knows_that_it_leads_no_more() -> None:
    api, clock = LeaseApi(), VirtualClock(autojump=False)
    one = Candidate(api, clock, "one")
    await clock.settle()
    assert one.leads()
    clock.advance(10)
    assert not one.leads()  # no callback could run yet


async def test_a_released_lease_is_taken_without_waiting_for_its_end() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    two = Candidate(api, clock, "two")
    await clock.run_for(20)
    await one.elector.release()
    await one.task
    assert api.holder == ""
    assert one.calls[-1][0] == "stopped"
    assert not one.leads()
    await clock.run_for(4.5)
    assert two.leads()


async def test_a_release_by_one_who_does_not_lead_writes_nothing() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    two = Candidate(api, clock, "two")
    await clock.run_for(5)
    writes = api.writes
    await two.elector.release()
    await two.task
    assert api.writes == writes
    assert api.holder == "one"
    one.task.cancel()


async def test_a_release_that_fails_is_no_error() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    one.line.is_down = True
    await one.elector.release()
    assert api.holder == "one"
    assert not one.leads()


async def test_somebody_who_edits_the_lease_is_no_reason_to_stop() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    assert api.lease is not None
    api.lease["metadata"]["resourceVersion"] = "edited"
    api.lease["metadata"]["labels"] = {"a": "b"}
    await clock.run_for(30)
    assert one.calls == [("started", 0)]
    assert api.lease["metadata"]["labels"] == {"a": "b"}


async def test_a_lease_that_is_deleted_is_made_again() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    api.lease = None
    await clock.run_for(30)
    assert one.leads()
    assert api.holder == "one"


async def test_a_lease_that_another_has_taken_ends_leadership_at_once() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    assert api.lease is not None
    api.lease["spec"]["holderIdentity"] = "usurper"
    api.lease["metadata"]["resourceVersion"] = "7"
    await clock.run_for(3)
    assert one.calls[-1] == ("stopped", 2)


async def test_a_gain_whose_answer_is_lost_is_found_at_the_next_look() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")

    async def lose(request: Request, answer: Callable[[], bytes]) -> bytes:
        answer()
        one.line.fault = None
        raise TimeoutError

    one.line.fault = lose
    await clock.run_for(10)
    assert one.leads()
    assert len(one.calls) == 1


async def test_an_edit_just_before_the_release_does_not_keep_it_from_being_given_up() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    assert api.lease is not None
    api.lease["metadata"]["resourceVersion"] = "edited"
    await one.elector.release()
    assert api.holder == ""
    assert one.line.requests[-1].verb == "update"


async def test_a_lease_that_another_took_is_not_released() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await clock.run_for(1)
    assert api.lease is not None
    api.lease["metadata"]["resourceVersion"] = "edited"
    api.lease["spec"]["holderIdentity"] = "usurper"
    await one.elector.release()
    assert api.holder == "usurper"


async def test_whoever_released_does_not_run_again() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")
    await one.elector.release()
    await one.task
    assert one.calls == []
    assert api.lease is None


async def test_an_answer_that_is_no_lease_is_a_failed_attempt() -> None:
    api, clock = LeaseApi(), VirtualClock()
    one = Candidate(api, clock, "one")

    async def page(request: Request, answer: Callable[[], bytes]) -> bytes:
        return b"<html>"

    one.line.fault = page
    await clock.run_for(10)
    assert not one.leads()
    one.line.fault = None
    await clock.run_for(10)
    assert one.leads()


async def test_a_lease_of_strange_values_is_taken_when_its_own_length_is_over() -> None:
    api, clock = LeaseApi(), VirtualClock()
    spec = {"holderIdentity": "old", "leaseDurationSeconds": "x", "leaseTransitions": None}
    api.lease = {"metadata": {"name": "lease", "resourceVersion": "0"}, "spec": spec}
    one = Candidate(api, clock, "one")
    await clock.run_for(14)
    assert not one.leads()
    await clock.run_for(6)
    assert one.leads()


@pytest.mark.parametrize(
    ("lease", "renew", "retry"), [(10, 10, 2), (15, 2, 2), (15, 10, 0), (15, 10, 9)]
)
async def test_times_that_do_not_fit_together_are_refused(
    lease: float, renew: float, retry: float
) -> None:
    with pytest.raises(InvalidInput):
        LeaderElector(
            client=Line(LeaseApi()),
            clock=VirtualClock(),
            name="lease",
            namespace="system",
            identity="one",
            lease_seconds=lease,
            renew_seconds=renew,
            retry_seconds=retry,
        )
