"""One step of a slice's update, over all its old revisions (spec section 4): what to scale where.

The planner counts old replicas as one sum a role; the coordinated drain may not be able to take
what the planner asked, because every revision's last replica of that role waits for a partner at
its floor. An answer of "no change" would then be given for ever, since the next pass sees the same
numbers. So the planner is walked on, as though the held replicas were gone, until a step of its
can be carried out at least in part. What such a step adds is cut to the room that is really there,
and what it drains keeps the floors of what is really new, so its bounds hold as always.

As every role has a budget (`resolve_budgets`), some step of the walk can always be carried out:
a role that lacks new replicas and has no room for them has old + new >= target + surge, which is
above its floor, so it can give; and in the newest revision the roles with several replicas can
give all but one, while roles that all have one can go together.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lws.planner.disaggregatedset.budgets import DEFAULT_BUDGETS, Budgets
from lws.planner.disaggregatedset.drain import Drain, coordinated_drain
from lws.planner.disaggregatedset.position import Counts, Position, floors, rooms
from lws.planner.disaggregatedset.revisions import (
    OldRevision,
    initial_old_replicas,
    merged_roles,
    old_replicas,
)
from lws.planner.disaggregatedset.rules import done
from lws.planner.disaggregatedset.steps import walk


class Wanted(NamedTuple):
    """A role of the spec: the replicas it is to have, those it has of the wanted revision."""

    target: int
    new: int
    budgets: Budgets = DEFAULT_BUDGETS


class Growth(NamedTuple):
    """A role of the wanted revision goes from `before` to `after` replicas."""

    role: str
    before: int
    after: int


class RollingStep(NamedTuple):
    """What to scale now: up or down, never both."""

    up: tuple[Growth, ...]
    down: tuple[Drain, ...]


def is_rolled_out(*, wanted: Mapping[str, Wanted], revisions: Sequence[OldRevision]) -> bool:
    """Whether the update is complete; asked first, as an answer of None below does not say so."""
    return done(_position(_roles(wanted, revisions), wanted, revisions))


def rolling_step(
    *, wanted: Mapping[str, Wanted], revisions: Sequence[OldRevision]
) -> RollingStep | None:
    """What to scale now, None if nothing can be. `wanted`: the spec's roles, in its order."""
    roles = _roles(wanted, revisions)
    position = _position(roles, wanted, revisions)
    for old, new in walk(position):
        up = _growths(roles, position, new)
        down = () if up else _drains(roles, position, revisions=revisions, old=old)
        if up or down:
            return RollingStep(up=up, down=down)
    return None


def _growths(roles: Sequence[str], position: Position, wanted: Counts) -> tuple[Growth, ...]:
    """`wanted` new replicas, as far as there really is room; only roles that change."""
    return tuple(
        Growth(role, before, min(count, room))
        for role, before, count, room in zip(
            roles, position.new, wanted, rooms(position), strict=True
        )
        if min(count, room) > before
    )


def _drains(
    roles: Sequence[str], position: Position, *, revisions: Sequence[OldRevision], old: Counts
) -> tuple[Drain, ...]:
    """What the old revisions give, so that `old` is left of each role or a little more."""
    asked = [before - after for before, after in zip(position.old, old, strict=True)]
    return coordinated_drain(
        revisions=revisions,
        asked=dict(zip(roles, asked, strict=True)),
        floor=dict(zip(roles, floors(position), strict=True)),
    )


def _roles(wanted: Mapping[str, Wanted], revisions: Sequence[OldRevision]) -> tuple[str, ...]:
    return merged_roles(tuple(wanted), revisions)


def _position(
    roles: Sequence[str], wanted: Mapping[str, Wanted], revisions: Sequence[OldRevision]
) -> Position:
    """The numbers of the planner; a removed role wants nothing and has the default budgets."""
    rows = [wanted.get(role, Wanted(target=0, new=0)) for role in roles]
    return Position(
        initial_old=tuple([initial_old_replicas(role, revisions) for role in roles]),
        old=tuple([old_replicas(role, revisions) for role in roles]),
        new=tuple([row.new for row in rows]),
        target=tuple([row.target for row in rows]),
        surge=tuple([row.budgets.surge for row in rows]),
        unavailable=tuple([row.budgets.unavailable for row in rows]),
    )
