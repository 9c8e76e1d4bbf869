"""What a fault costs an update: `python -m benchmarks.faults`.

An update of four groups of two (LeaderWorkerSet), and of two roles of four groups of two
(DisaggregatedSet), on a cluster in virtual time with two replicas of the operator and the default
lease (15 s, 10 s, 2 s); pods take 8 s to be ready. In each phase of it the leader gets SIGTERM,
SIGKILL or SIGSTOP for twice the lease, or both replicas lose the API server for a minute. Printed
are the seconds until another led, and what the update took, beside what it takes undisturbed; the
judge of the simulation watches every write.
"""

import sys

from lws.api import names
from lws.manager.simulating import simulate_drill
from lws.simulation.drills import Blow, Drill

PHASES = (0.0, 0.25, 0.5, 0.75)
"""Shares of the undisturbed update."""


def main() -> int:
    """Print a line a drill; the exit code is 1 if one broke a rule."""
    faulty = False
    for kind in (names.KIND, names.DS_KIND):
        plain = simulate_drill(Drill(kind, Blow.NONE, 0.0))
        print(f"{kind}: {plain.update_seconds:.0f} s undisturbed")
        for blow in (Blow.SIGTERM, Blow.SIGKILL, Blow.SIGSTOP, Blow.NO_SERVER):
            for phase in PHASES:
                drill = Drill(kind, blow, phase * plain.update_seconds + 0.05)
                outcome = simulate_drill(drill)
                led = outcome.failover_seconds
                print(
                    f"  {blow.value:24} at {phase:4.0%}: led again after"
                    f" {'-' if led is None else f'{led:5.1f} s'}, update"
                    f" {outcome.update_seconds:6.1f} s"
                )
                for words in outcome.violations:
                    print(f"  ! {words}")
                faulty = faulty or bool(outcome.violations)
                sys.stdout.flush()
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
