"""The planner's contract (spec section 3), judged without any of the planner's code.

What can be demanded depends on where an update is found. From its start: everything below, and
the end is the target itself. From anywhere else (replicas edited by hand, a target changed in
mid-update):

- it ends with nothing old and `max(target, new)`, as an update takes no new replica away;
- the surge is demanded of the roles that a step adds to, the floor of those that it drains: the
  others are where hands put them, and no step has to mend them at once;
- a step may leave only half of the roles old replicas if it found it so, never make it so.

The length: at most 4 * (steps + 1), `steps` being that of the ideal path: an index of the path
costs at most one scale up in step, one drain in proportion, one forced drain and one way around a
blocked role. That is a law found by measuring (the worst that a search for long updates found is
4 * steps + 1), not by proof; what is certain is that each step moves a replica for good, so that
an update takes at most as many steps as it has replicas to take away and to add.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple, Protocol

Counts = tuple[int, ...]
Step = tuple[Counts, Counts]


class Planner(Protocol):
    """The signature under contract."""

    def __call__(
        self,
        *,
        initial_old: Counts,
        old: Counts,
        new: Counts,
        target: Counts,
        surge: Counts,
        unavailable: Counts,
    ) -> Step | None: ...


class Update(NamedTuple):
    """An update, one number a role in every field."""

    initial_old: Counts
    target: Counts
    surge: Counts
    unavailable: Counts


class Verdict(NamedTuple):
    """What was found wrong with one update, and how many steps it took."""

    faults: frozenset[str]
    length: int


def length_bound(update: Update) -> int:
    """The most steps that an update may take."""
    path = [
        -(-max(old, target) // (surge or max(1, unavailable)))
        for old, target, surge, unavailable in zip(*update, strict=True)
    ]
    return 4 * (max(path, default=0) + 1)


def verdict(
    update: Update, planner: Planner, *, old: Counts | None = None, new: Counts | None = None
) -> Verdict:
    """Run an update to its end, from its start or from where it is found, and judge each step."""
    before = (
        update.initial_old if old is None else old,
        (0,) * len(update.target) if new is None else new,
    )
    end = tuple(map(max, update.target, before[1]))
    bound, length = length_bound(update), 0
    faults: set[str] = set()
    while (after := planner(old=before[0], new=before[1], **update._asdict())) is not None:
        length += 1
        if length > bound:
            faults.add("long")
            break
        faults.update(step_faults(update, before, after))
        before = after
    else:
        if any(before[0]) or before[1] != end:
            faults.add("end")
    return Verdict(frozenset(faults), length)


def step_faults(update: Update, before: Step, after: Step) -> Iterator[str]:
    """What is wrong with one step."""
    (old, new), (next_old, next_new) = before, after
    if (old != next_old) is (new != next_new):
        yield "not one side"
    began = update.initial_old
    if is_half(began, next_old) and not is_half(began, old):
        yield "half"
    rows = zip(*update, old, new, next_old, next_new, strict=True)
    for began_with, target, surge, unavailable, o, n, next_o, next_n in rows:
        total = next_o + next_n
        if next_o > o or next_n < n:
            yield "back"
        if next_n > n and total > target + surge:
            yield "surge"
        if next_o < o and total < min(began_with, target) - unavailable:
            yield "floor"


def is_half(initial_old: Counts, old: Counts) -> bool:
    """Whether some roles that began with old replicas have none left while others have some."""
    left = [count > 0 for count, began in zip(old, initial_old, strict=True) if began]
    return any(left) and not all(left)


BUDGETS = tuple((s, u) for s in range(3) for u in range(3) if s or u)
"""(surge, unavailable) of a role: all small ones but none and none, which no valid object has."""


def small_updates(
    *, roles: int, most: int, budgets: Sequence[tuple[int, int]] = BUDGETS
) -> Iterator[Update]:
    """Every update of some roles with 0 to `most` replicas, each role with each of `budgets`."""
    for chosen in product(_one_role(most, budgets), repeat=roles):
        yield Update(*zip(*chosen, strict=True))


def unordered_updates(
    *, roles: int, most: int, budgets: Sequence[tuple[int, int]] = BUDGETS
) -> Iterator[Update]:
    """The same, but of updates that differ in the order of roles only, one."""
    for chosen in combinations_with_replacement(_one_role(most, budgets), roles):
        yield Update(*zip(*chosen, strict=True))


def _one_role(most: int, budgets: Sequence[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Every (initial old, target, surge, unavailable) of one role."""
    counts = range(most + 1)
    return [(old, target, *budget) for old in counts for target in counts for budget in budgets]


class Tally(NamedTuple):
    """What judging many updates came to."""

    updates: int
    steps: int
    longest: int
    faults: Mapping[str, int]


def tally(updates: Iterable[Update], planner: Planner) -> Tally:
    """Judge every update from its start."""
    count = steps = longest = 0
    faults: Counter[str] = Counter()
    for update in updates:
        found = verdict(update, planner)
        count += 1
        steps += found.length
        longest = max(longest, found.length)
        faults.update(found.faults)
    return Tally(count, steps, longest, faults)
