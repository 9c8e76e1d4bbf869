"""The rolling update over every state of small worlds, as far as there is time.

    python -m benchmarks.rollout_check --replicas 3 --surge 2 --unavailable 2

For each number of replicas up to --replicas: all budgets, all partitions, further updates and
going back, scaling, changes of budgets, partition and pause, bad nodes and revisions, faults.
--users and --faults say how often users (after the update that begins each world) and faults may
interfere; of the StatefulSet controller, "any" covers its gate off and on. Prints a line a number
of replicas; ends with 1 if a promise was broken or an update did not end.
"""

import argparse
import sys
import time
from collections.abc import Iterator

from tests.property.rollout.asking import Planning
from tests.property.rollout.model import State, is_ready, key_of
from tests.property.rollout.search import Found, searched
from tests.property.rollout.worlds import FORMS, Size, worlds


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicas", type=int, default=3, help="largest number of replicas")
    parser.add_argument("--least", type=int, default=0, help="smallest number of replicas")
    parser.add_argument("--surge", type=int, default=2)
    parser.add_argument("--unavailable", type=int, default=2)
    parser.add_argument("--users", type=int, default=1, choices=range(4))
    parser.add_argument("--faults", type=int, default=0, choices=range(4))
    parser.add_argument("--forms", nargs="+", default=["any", "absent"], choices=FORMS)
    parser.add_argument("--verbose", action="store_true", help="a line a world")
    return parser.parse_args()


def history(states: list[State]) -> Iterator[str]:
    """What led there, a line a state: wish, StatefulSet, what its controller saw, groups."""
    for state in states:
        groups = " ".join(
            "--" if code == 0 else "abc"[key_of(code)] + ("+" if is_ready(code) else "-")
            for code in state.groups
        )
        seen = "same" if state.seen == state.spec else tuple(state.seen)
        yield f"    {tuple(state.config)} stands {tuple(state.spec)} seen {seen}  {groups}"


def line(label: str, totals: list[int], seconds: float) -> str:
    states, transitions, violations, stalls = totals
    return (
        f"{label:24} {states:>11,} states {transitions:>12,} transitions "
        f"{violations:>5,} violations {stalls:>5,} stalls {seconds:>8.1f} s of CPU"
    )


def report(name: str, found: Found) -> None:
    for kind, states in found.examples.items():
        print(f"  {name}: {kind}")
        print("\n".join(history(states)))


def check(size: Size, options: argparse.Namespace) -> list[int]:
    """All worlds of one number of replicas."""
    planning = Planning()
    totals, begun, count = [0, 0, 0, 0], time.process_time(), 0
    for start in worlds(size, tuple(options.forms)):
        since = time.process_time()
        found = searched(start.world, start.states, planning)
        totals = [total + more for total, more in zip(totals, found[:4], strict=True)]
        count += 1
        if options.verbose:
            print(line(start.name, list(found[:4]), time.process_time() - since), flush=True)
        report(start.name, found)
    label = f"{size.replicas} replicas, {count} worlds"
    print(line(label, totals, time.process_time() - begun), flush=True)
    return totals


def main() -> int:
    options = arguments()
    totals, begun = [0, 0, 0, 0], time.process_time()
    for replicas in range(options.least, options.replicas + 1):
        size = Size(replicas, options.surge, options.unavailable, options.users, options.faults)
        found = check(size, options)
        totals = [total + more for total, more in zip(totals, found, strict=True)]
    print(line("all", totals, time.process_time() - begun))
    return 1 if totals[2] or totals[3] else 0


if __name__ == "__main__":
    sys.exit(main())
