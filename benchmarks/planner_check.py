"""The planner's contract on every small update: `python -m benchmarks.planner_check`.

Judged are all updates of two roles with 0 to 5 replicas and of three roles with 0 to 3, every
role with every surge and unavailability from 0 to 2 but none and none; each update is walked from
its start, and each of its steps is judged. Printed are how many updates, steps and faults there
are, and the longest update; the exit code is 1 if there is a fault. Some minutes on one core;
`--processes` divides it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from multiprocessing import Pool
from time import perf_counter

from lws.planner.disaggregatedset import next_step
from tests.property.disaggregatedset.contract import Tally, Update, small_updates, tally

WORLDS = ((2, 5), (3, 3))
"""(roles, most replicas of a role)."""
CHUNK = 20_000


def chunks(roles: int, most: int) -> Iterator[list[Update]]:
    """All updates of a world, in portions for the processes."""
    updates = small_updates(roles=roles, most=most)
    while chunk := list(islice(updates, CHUNK)):
        yield chunk


def judged(chunk: list[Update]) -> Tally:
    """What the judge says to one portion."""
    return tally(chunk, next_step)


def main() -> int:
    """Judge, print, and say by the exit code whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    faulty = False
    with Pool(parser.parse_args().processes) as pool:
        for roles, most in WORLDS:
            start = perf_counter()
            tallies = list(pool.imap_unordered(judged, chunks(roles, most)))
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
