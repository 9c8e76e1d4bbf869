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

A whole update takes at most 4 * (steps + 1) steps, where `steps` is that of the ideal path.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import index

from lws.planner.disaggregatedset.position import Counts, Position, Step, outlook
from lws.planner.disaggregatedset.rules import MOVES, abnormal, done, new_is_there


def is_done(*, old: Sequence[int], new: Sequence[int], target: Sequence[int]) -> bool:
    """Whether the update is complete: nothing old is left, every role has its new replicas."""
    position = _position(
        initial_old=old, old=old, new=new, target=target, surge=target, unavailable=target
    )
    return done(position)


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

    One number a role in every argument. ValueError names the argument that is negative or has
    another length than `target`.
    """
    return _next(
        _position(
            initial_old=initial_old,
            old=old,
            new=new,
            target=target,
            surge=surge,
            unavailable=unavailable,
        )
    )


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
    position = _position(
        initial_old=initial_old,
        old=initial_old if old is None else old,
        new=(0,) * len(target) if new is None else new,
        target=target,
        surge=surge,
        unavailable=unavailable,
    )
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


def _position(**arguments: Sequence[int]) -> Position:
    """The arguments as a position, once they are found to be counts of the same roles."""
    roles = len(arguments["target"])
    return Position(**{name: _counts(name, value, roles) for name, value in arguments.items()})


def _counts(name: str, value: Iterable[int], roles: int) -> Counts:
    """`value` as a tuple of whole numbers, one a role and none negative."""
    counts = tuple(map(index, value))
    if len(counts) != roles:
        raise ValueError(f"{name}: {len(counts)} numbers for {roles} roles of target")
    if roles and min(counts) < 0:
        raise ValueError(f"{name}: a negative number in {list(counts)}")
    return counts
