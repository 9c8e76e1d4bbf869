"""Runs of the simulation, seed by seed: `python -m benchmarks.simulate --seeds 1000`.

Each seed is a whole life of a cluster: two replicas of the operator, users, failing pods and nodes,
a bad line to the API server, crashes in mid-write; then rest, then the end. A seed that breaks a
rule is told with its story; `--from N --seeds 1` repeats it to the byte. The exit code is 1 then.
"""

import argparse
import sys
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
    parser.add_argument("--story", action="store_true", help="tell every run, not only the failing")
    options = parser.parse_args()
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
