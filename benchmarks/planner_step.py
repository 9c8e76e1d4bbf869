"""How long one step of the planner takes: `python -m benchmarks.planner_step`.

Method: whole updates of seeded random sets are walked; every step of each is asked for 50 times
and its quickest answer counts (what else ran on the machine only ever adds). Printed are the
median, 99th percentile and maximum over all steps, in microseconds, for 2, 5 and 10 roles.
"""

from random import Random
from time import perf_counter_ns

from lws.planner.disaggregatedset import all_steps, next_step

UPDATES = 20
REPEATS = 50


def timings(roles: int) -> list[float]:
    """Microseconds of every step of some updates, sorted."""
    random = Random(roles)
    taken: list[float] = []
    for _ in range(UPDATES):
        update = {
            "initial_old": [random.randint(0, 60) for _ in range(roles)],
            "target": [random.randint(0, 60) for _ in range(roles)],
            "surge": [random.randint(1, 6) for _ in range(roles)],
            "unavailable": [random.randint(0, 3) for _ in range(roles)],
        }
        for old, new in all_steps(**update):
            best = min(_once(update, old, new) for _ in range(REPEATS))
            taken.append(best / 1000)
    return sorted(taken)


def _once(update: dict[str, list[int]], old: tuple[int, ...], new: tuple[int, ...]) -> int:
    start = perf_counter_ns()
    next_step(old=old, new=new, **update)
    return perf_counter_ns() - start


def main() -> None:
    """Print the figures."""
    for roles in (2, 5, 10):
        taken = timings(roles)
        print(
            f"{roles:2} roles: median {taken[len(taken) // 2]:5.1f} µs,"
            f" p99 {taken[len(taken) * 99 // 100]:5.1f} µs, max {taken[-1]:5.1f} µs"
            f" ({len(taken)} steps)"
        )


if __name__ == "__main__":
    main()
