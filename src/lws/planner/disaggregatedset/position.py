"""What the rules of a step are asked about: where an update stands, and what follows from that.

One number a role in every field, in the same order of roles everywhere. Integers only: the ideal
path is made of exact ceilings and floors, so no step depends on how a fraction is rounded.
"""

from typing import NamedTuple

Counts = tuple[int, ...]
"""One number a role."""

Step = tuple[Counts, Counts]
"""(old, new) after a step."""


class Position(NamedTuple):
    """Replicas of an update as they are now, and its budgets."""

    initial_old: Counts
    old: Counts
    new: Counts
    target: Counts
    surge: Counts
    unavailable: Counts


class Outlook(NamedTuple):
    """What a position allows, and what it wants next."""

    steps: int
    batch: Counts
    floor: Counts
    room: Counts
    up: Counts


def batches(surge: Counts, unavailable: Counts) -> Counts:
    """What one step moves of each role: the surge if there is one, else what may be missing."""
    return tuple([s or u or 1 for s, u in zip(surge, unavailable, strict=True)])


def path_steps(initial_old: Counts, target: Counts, batch: Counts) -> int:
    """The number of steps of the ideal path: that of the role which needs the most batches."""
    return max(
        [-(-(o if o > t else t) // b) for o, t, b in zip(initial_old, target, batch, strict=True)],
        default=0,
    )


def floors(position: Position) -> Counts:
    """The least old of each role that keeps what users have now available."""
    initial_old, _, new, target, _, unavailable = position
    least = [
        (o if o < t else t) - u - n
        for o, n, t, u in zip(initial_old, new, target, unavailable, strict=True)
    ]
    return tuple([count if count > 0 else 0 for count in least])


def rooms(position: Position) -> Counts:
    """The most new of each role that its surge allows.

    A role with target 0 takes no new. Its room is therefore what it has, not a number that can
    forbid: a role that is on its way out never keeps the others from scaling up.
    """
    _, old, new, target, surge, _ = position
    return tuple(
        [t + s - o if t else n for o, n, t, s in zip(old, new, target, surge, strict=True)]
    )


def next_up(new: Counts, target: Counts, steps: int) -> Counts:
    """New replicas at the next index of the path, one after that of the role furthest behind."""
    reached = min([n * steps // t for n, t in zip(new, target, strict=True) if t], default=steps)
    following = min(reached, steps) + 1
    wanted = [min(t, -(-following * t // steps)) for t in target]
    return tuple([w if w > n else n for w, n in zip(wanted, new, strict=True)])


def outlook(position: Position) -> Outlook:
    """All of the above. Some role must have old or target replicas (rules 1 to 3 see to that)."""
    initial_old, _, new, target, surge, unavailable = position
    batch = batches(surge, unavailable)
    steps = path_steps(initial_old, target, batch)
    assert steps > 0, "an update with nothing old and nothing wanted is done by rule 1"
    return Outlook(
        steps=steps,
        batch=batch,
        floor=floors(position),
        room=rooms(position),
        up=next_up(new, target, steps),
    )
