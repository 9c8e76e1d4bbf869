"""One step of an update, and a whole update: the planner's front door.

The caller learns from `is_done`, not from an answer of None, that an update is complete. None
without `is_done` can only come from a position in which a role has neither surge nor
unavailability to work with, which no valid object has; then the caller waits and says so.

From where an update stands, also if hands put it there:

- it ends with nothing old and, for each role, with `max(target, new)`: a planner of updates never
  takes a new replica away. From the start of an update, where nothing is new, that is the target;
- a step changes old or new, never both, and neither goes back;
- a role that a step adds to has old + new <= target + surge; a role that a step drains has
  old + new >= min(initial old, target) - unavailable;
- a step does not bring some roles to 0 old while others that began with old replicas keep some.
  A position that is already so is mended as soon as the floors let all of them go.

A whole update takes at most 4 * (steps + 1) steps, where `steps` is that of the ideal path. That is
measured (a search for long updates found none above 4 * steps + 1), not proven; what is certain is
that each step moves a replica for good, so that it ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index

from lws.planner.disaggregatedset.position import Counts, Position, Step, outlook
from lws.planner.disaggregatedset.rules import MOVES, abnormal, done, new_is_there


def is_done(*, old: Sequence[int], new: Sequence[int], target: Sequence[int]) -> bool:
    """Whether the update is complete: nothing old is left, every role has its new replicas."""
    counts = _checked(old=old, new=new, target=target)
    return done(Position(initial_old=counts["old"], surge=(), unavailable=(), **counts))


def next_step(
    *,
    initial_old: Sequence[int],
    old: Sequence[int],
    new: Sequence[int],
    target: Sequence[int],
    surge: Sequence[int],
    unavailable: Sequence[int],
) -> Step | None:
    """(old, new) after the next step; None if no rule changes anything.

    One number a role in every argument. ValueError names the argument that has a negative number
    or another length than the others.
    """
    counts = _checked(
        initial_old=initial_old,
        old=old,
        new=new,
        target=target,
        surge=surge,
        unavailable=unavailable,
    )
    return _next(Position(**counts))


def all_steps(
    *,
    initial_old: Sequence[int],
    target: Sequence[int],
    surge: Sequence[int],
    unavailable: Sequence[int],
    old: Sequence[int] | None = None,
    new: Sequence[int] | None = None,
) -> tuple[Step, ...]:
    """A whole update, from where it stands (the first element) to where no rule changes anything.

    Without `old` and `new` it begins at the beginning: everything old, nothing new.
    """
    counts = _checked(
        initial_old=initial_old,
        target=target,
        surge=surge,
        unavailable=unavailable,
        **({} if old is None else {"old": old}),
        **({} if new is None else {"new": new}),
    )
    beginning = {"old": counts["initial_old"], "new": (0,) * len(counts["target"])}
    position = Position(**(beginning | counts))
    return (position.old, position.new), *walk(position)


def walk(position: Position) -> Iterator[Step]:
    """The steps that follow a position, until no rule changes anything."""
    while (step := _next(position)) is not None:
        yield step
        position = position._replace(old=step[0], new=step[1])


def _next(position: Position) -> Step | None:
    """The first rule that changes something (spec section 3)."""
    if done(position):
        return None
    step = abnormal(position) or new_is_there(position)
    if step is not None:
        return step
    ahead = outlook(position)
    for rule in MOVES:
        step = rule(position, ahead)
        if step is not None:
            return step
    return None


def _checked(**arguments: Iterable[int]) -> dict[str, Counts]:
    """The arguments as tuples of whole numbers, once they are found to be counts of one set."""
    counts = {name: tuple(map(index, value)) for name, value in arguments.items()}
    roles = len(next(iter(counts.values())))
    for values in counts.values():
        if len(values) != roles or (roles and min(values) < 0):
            raise ValueError(_complaint(counts))
    return counts


def _complaint(counts: Mapping[str, Counts]) -> str:
    """Which argument is wrong: a length is wrong if most of the arguments have another."""
    lengths = [len(values) for values in counts.values()]
    usual = max(lengths, key=lengths.count)
    for name, values in counts.items():
        if len(values) != usual:
            return f"{name}: {len(values)} numbers where there are {usual} roles"
    name, values = next((n, v) for n, v in counts.items() if min(v, default=0) < 0)
    return f"{name}: a negative number in {list(values)}"
