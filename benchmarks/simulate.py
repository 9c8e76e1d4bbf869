"""Runs of the simulation, seed by seed: `python -m benchmarks.simulate --seeds 1000`.

Each seed is a whole life of a cluster: two replicas of the operator, users, failing pods and nodes,
a bad line to the API server, crashes in mid-write; then rest, then the end. A seed that breaks a
rule is told with its story; `--from N --seeds 1` repeats it to the byte. The exit code is 1 then.
`--rest 24` is a day of two managers with nothing to do: they may write nothing but the lease.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from lws.manager.simulating import simulate_seed
from lws.simulation.run import Outcome, Plan

STORY_LINES = 40


def main() -> int:
    """Run, print a line for each seed that fails and one for all, say by the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first of them")
    parser.add_argument("--seconds", type=float, default=600.0, help="disturbed, virtual")
    parser.add_argument("--log-level", default="panic", help="of the operators' logs")
    parser.add_argument("--rest", type=float, metavar="HOURS", help="no faults, then so long")
    parser.add_argument("--story", action="store_true", help="tell every run, not only the failing")
    options = parser.parse_args()
    if options.rest is not None:
        return at_rest(options.rest)
    plan = Plan(disturbed_seconds=options.seconds)
    failed: list[int] = []
    virtual = writes = checked = 0.0
    start = perf_counter()
    for seed in range(options.first, options.first + options.seeds):
        outcome = simulate_seed(seed, plan=plan, log_level=options.log_level)
        virtual, writes, checked = (
            virtual + outcome.seconds,
            writes + outcome.writes,
            checked + outcome.checked,
        )
        if outcome.violations or options.story:
            tell(seed, outcome, whole=options.story)
        if outcome.violations:
            failed.append(seed)
    seconds = perf_counter() - start
    print(
        f"{options.seeds} seeds, {len(failed)} failed {failed or ''}: {virtual / 3600:.1f} virtual"
        f" hours, {writes:.0f} writes of the operator, {checked:.0f} writes judged,"
        f" {seconds:.0f} s"
    )
    return 1 if failed else 0


def at_rest(hours: float) -> int:
    """Two whole managers with their certificates, and what they write when nothing happens."""
    plan = Plan(disturbed_seconds=0.0, rest_seconds=hours * 3600)
    start = perf_counter()
    with TemporaryDirectory() as folder:
        outcome = simulate_seed(0, plan=plan, cert_dir=Path(folder))
    tell(0, outcome, whole=True)
    print(
        f"{outcome.rest_seconds / 3600:.1f} virtual hours at rest, {outcome.renewals} writes of the"
        f" lease and {'some' if outcome.violations else 'no'} others,"
        f" {perf_counter() - start:.0f} s"
    )
    return 1 if outcome.violations else 0


def tell(seed: int, outcome: Outcome, *, whole: bool) -> None:
    """What happened, and what was wrong."""
    print(f"seed {seed}: revision {outcome.revision}, {outcome.seconds:.0f} virtual seconds")
    for line in outcome.story if whole else outcome.story[-STORY_LINES:]:
        print(f"  {line}")
    for violation in outcome.violations[:10]:
        print(f"! {violation}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
