"""The planner's contract on every small update: `python -m benchmarks.planner_check`.

Judged are all updates of two roles with 0 to 5 replicas and of three roles with 0 to 3, every
role with every surge and unavailability from 0 to 2 but none and none; each update is walked from
its start, and each of its steps is judged. Of updates that differ in the order of their roles only,
one is judged, as the order means nothing to the planner (a property test of its own); with
`--all-orders` every one is, which takes six times as long. Printed are how many updates, steps and
faults there are, and the longest update; the exit code is 1 if there is a fault. A few minutes on
one core; `--processes` divides it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from multiprocessing import Pool
from time import perf_counter

from lws.planner.disaggregatedset import next_step
from tests.property.disaggregatedset.contract import (
    Tally,
    Update,
    small_updates,
    tally,
    unordered_updates,
)

WORLDS = ((2, 5), (3, 3))
"""(roles, most replicas of a role)."""
CHUNK = 5_000


def chunks(*, roles: int, most: int, all_orders: bool) -> Iterator[list[Update]]:
    """All updates of a world, in portions for the processes."""
    listed = small_updates if all_orders else unordered_updates
    updates = listed(roles=roles, most=most)
    while chunk := list(islice(updates, CHUNK)):
        yield chunk


def judged(chunk: list[Update]) -> Tally:
    """What the judge says to one portion."""
    return tally(chunk, next_step)


def main() -> int:
    """Judge, print, and say by the exit code whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--all-orders", action="store_true")
    options = parser.parse_args()
    faulty = False
    with Pool(options.processes) as pool:
        for roles, most in WORLDS:
            start = perf_counter()
            updates = chunks(roles=roles, most=most, all_orders=options.all_orders)
            tallies = list(pool.imap_unordered(judged, updates))
            faults = sum((Counter(t.faults) for t in tallies), Counter[str]())
            faulty = faulty or bool(faults)
            print(
                f"{roles} roles, 0 to {most} replicas:"
                f" {sum(t.updates for t in tallies):,} updates,"
                f" {sum(t.steps for t in tallies):,} steps,"
                f" {sum(faults.values())} faults {dict(faults)},"
                f" longest {max(t.longest for t in tallies)} steps,"
                f" {perf_counter() - start:.0f} s"
            )
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
