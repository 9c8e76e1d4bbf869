"""A leader that ends, dies, sleeps or loses its server in the middle of an update, and a time of
rest; in virtual time, with two replicas and the default lease. All phases: `benchmarks.faults`."""

from functools import cache
from pathlib import Path

import pytest

from lws.manager.simulating import simulate_drill, simulate_seed
from lws.simulation.drills import Blow, Drill, DrillOutcome
from lws.simulation.run import Plan

KINDS = ("LeaderWorkerSet", "DisaggregatedSet")
LEASE_SECONDS = 15.0
LONGEST_TRY = 2.0 * 2.2
"""Between two looks of a candidate at the lease."""
RENEWAL_SECONDS = 2.0


@cache
def undisturbed(kind: str) -> DrillOutcome:
    return simulate_drill(Drill(kind, Blow.NONE, 0.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("blow", "longest"),
    [
        (Blow.SIGTERM, LONGEST_TRY + 1),
        (Blow.SIGKILL, LEASE_SECONDS + LONGEST_TRY + 1),
        (Blow.SIGSTOP, LEASE_SECONDS + LONGEST_TRY + 1),
        (Blow.NO_SERVER, 60.0 + LEASE_SECONDS + 20.0 + LONGEST_TRY),
    ],
)
def test_an_update_outlives_its_leader(kind: str, blow: Blow, longest: float) -> None:
    plain = undisturbed(kind)
    outcome = simulate_drill(Drill(kind, blow, plain.update_seconds / 2))
    assert outcome.violations == ()
    assert outcome.failover_seconds is not None
    assert 0 < outcome.failover_seconds < longest
    assert outcome.update_seconds < plain.update_seconds + longest + 10


def test_two_whole_managers_at_rest_write_nothing_but_the_lease(tmp_path: Path) -> None:
    hours = 2.0  # every watch ends and begins anew in that time
    plan = Plan(disturbed_seconds=0.0, rest_seconds=hours * 3600)
    outcome = simulate_seed(5, plan=plan, cert_dir=tmp_path)
    assert [str(one) for one in outcome.violations] == []
    assert (tmp_path / "a" / "tls.crt").exists()
    renewals = hours * 3600 / RENEWAL_SECONDS
    assert 0.9 * renewals < outcome.renewals <= renewals
