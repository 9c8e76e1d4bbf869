"""The rolling update over every state of small worlds, as far as there is time.

    python -m benchmarks.rollout_check --replicas 3 --surge 2 --unavailable 2

For each number of replicas up to --replicas: all budgets, all partitions, further updates and
going back, scaling, changes of budgets, partition and pause, bad nodes and revisions, faults.
--users and --faults say how often users (after the update that begins each world) and faults may
interfere; of the StatefulSet controller, "any" covers its gate off and on. Prints a line for the
worlds of one pair of budgets, form and kind, in the order in which they are done, and one a number
of replicas; ends with 1 if a promise was broken or an update did not end, 2 if there was nothing
to search. Five replicas with all
that may happen are 14 GB and more than two hours.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from multiprocessing import Pool
from typing import NamedTuple

from tests.property.rollout.asking import Planning
from tests.property.rollout.model import State, is_ready, key_of
from tests.property.rollout.search import Found, searched
from tests.property.rollout.worlds import FORMS, Size, Start, worlds


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicas", type=int, default=3, help="largest number of replicas")
    parser.add_argument("--least", type=int, default=0, help="smallest number of replicas")
    parser.add_argument("--surge", type=int, default=2)
    parser.add_argument("--unavailable", type=int, default=2)
    parser.add_argument("--users", type=int, default=1, choices=range(4))
    parser.add_argument("--faults", type=int, default=0, choices=range(4))
    parser.add_argument("--forms", nargs="+", default=["any", "absent"], choices=FORMS)
    parser.add_argument("--only", default="", help="worlds whose name begins so, as lines show it")
    parser.add_argument("--processes", type=int, default=1, help="worlds searched side by side")
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


class Searched(NamedTuple):
    """What came of worlds in which users may do the same."""

    names: list[str]
    found: list[Found]
    seconds: float

    @property
    def totals(self) -> list[int]:
        return [sum(column) for column in zip(*(one[:4] for one in self.found), strict=True)]


def search(starts: list[Start]) -> Searched:
    planning, begun = Planning(), time.process_time()
    found = [searched(start.world, start.states, planning) for start in starts]
    return Searched([start.name for start in starts], found, time.process_time() - begun)


def line(label: str, totals: list[int], seconds: float) -> str:
    states, transitions, violations, stalls = totals
    return (
        f"{label:40} {states:>11,} states {transitions:>13,} transitions "
        f"{violations:>5,} violations {stalls:>5,} stalls {seconds:>8.1f} s of CPU"
    )


def report(name: str, found: Found) -> None:
    for kind, states in found.examples.items():
        print(f"  {name}: {kind}")
        print("\n".join(history(states)))


def check(size: Size, options: argparse.Namespace) -> list[int]:
    """All worlds of one number of replicas."""
    totals, seconds, count = [0, 0, 0, 0], 0.0, 0
    chosen = (
        start for start in worlds(size, tuple(options.forms)) if start.name.startswith(options.only)
    )
    alike = groupby(chosen, key=lambda start: start.world[::2])
    # The largest are the last; begun first, they do not leave one process alone at the end.
    jobs = [list(starts) for _, starts in alike][::-1]
    with Pool(options.processes, maxtasksperchild=1) as pool:
        for done in pool.imap_unordered(search, jobs):
            totals = [total + more for total, more in zip(totals, done.totals, strict=True)]
            seconds, count = seconds + done.seconds, count + len(done.names)
            more = f" and {len(done.names) - 1} more" if len(done.names) > 1 else ""
            print(line(done.names[0] + more, done.totals, done.seconds), flush=True)
            for name, found in zip(done.names, done.found, strict=True):
                report(name, found)
    print(line(f"{size.replicas} replicas, {count} worlds", totals, seconds), flush=True)
    return totals


def main() -> int:
    options = arguments()
    totals, begun = [0, 0, 0, 0], time.monotonic()
    for replicas in range(options.least, options.replicas + 1):
        size = Size(replicas, options.surge, options.unavailable, options.users, options.faults)
        found = check(size, options)
        totals = [total + more for total, more in zip(totals, found, strict=True)]
    print(line("all", totals, time.monotonic() - begun), "and other work, wall time")
    if not totals[0]:
        print(f"no world's name begins with {options.only!r}", file=sys.stderr)
        return 2
    return 1 if totals[2] or totals[3] else 0


if __name__ == "__main__":
    sys.exit(main())
