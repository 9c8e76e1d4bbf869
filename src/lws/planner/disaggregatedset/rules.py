"""The nine rules of a step, one function a rule (spec section 3, whose numbers these are).

A rule gives the (old, new) after its step, or None if it changes nothing. The first one that
changes something is the step. `next_step` in `steps.py` asks them in order; rules 1 to 3 need the
position alone, the others also what follows from it.
"""

from collections.abc import Callable

from lws.planner.disaggregatedset.position import Counts, Outlook, Position, Step

Rule = Callable[[Position, Outlook], Step | None]


def new_is_complete(new: Counts, target: Counts) -> bool:
    """Whether every role has its new replicas."""
    return all(n >= t for n, t in zip(new, target, strict=True))


def done(position: Position) -> bool:
    """Rule 1: nothing old is left, and every role has its new replicas."""
    return not any(position.old) and new_is_complete(position.new, position.target)


def abnormal(position: Position) -> Step | None:
    """Rule 2: old replicas beyond those that the update began with go first."""
    initial_old, old, new, *_ = position
    lowered = _lower(old, initial_old)
    return (lowered, new) if lowered != old else None


def new_is_there(position: Position) -> Step | None:
    """Rule 3: every role has its new replicas, so all old ones may go."""
    if not new_is_complete(position.new, position.target):
        return None
    return (0,) * len(position.old), position.new


def scale_up_in_step(position: Position, outlook: Outlook) -> Step | None:
    """Rule 4: all roles go to the next index of the path, or none does."""
    up, new = outlook.up, position.new
    if up == new or any(u > r for u, r in zip(up, outlook.room, strict=True)):
        return None
    return position.old, up


def proportional_drain(position: Position, outlook: Outlook) -> Step | None:
    """Rule 5: old replicas go to the index after the one that the furthest role has reached."""
    initial_old, old, *_ = position
    steps = outlook.steps
    gone = [(i - o) * steps // i for i, o in zip(initial_old, old, strict=True) if i]
    following = max(gone, default=0) + 1
    wanted = [i - following * i // steps for i in initial_old]
    return _drain(position, outlook, wanted)


def forced_drain(position: Position, outlook: Outlook) -> Step | None:
    """Rule 6: old replicas make room for the next scale up; new ones stay as they are."""
    _, _, _, target, surge, _ = position
    wanted = [t + s - u for t, s, u in zip(target, surge, outlook.up, strict=True)]
    return _drain(position, outlook, wanted)


def scale_up_in_part(position: Position, outlook: Outlook) -> Step | None:
    """Rule 7: some role is blocked; the others go on without it, as far as they have room.

    Blocked is, for instance, a role without surge whose last old replica waits for its partner's.
    """
    wanted = _lower(outlook.up, outlook.room)
    return _grow(position, wanted)


def run_ahead(position: Position, outlook: Outlook) -> Step | None:
    """Rule 8: each role adds one batch of its own, within its room and its target."""
    added = [n + b for n, b in zip(position.new, outlook.batch, strict=True)]
    wanted = _lower(_lower(added, outlook.room), position.target)
    return _grow(position, wanted)


def drain_a_batch(position: Position, outlook: Outlook) -> Step | None:
    """Rule 9: each role gives one batch of its own, as far as its floor allows."""
    wanted = [o - b for o, b in zip(position.old, outlook.batch, strict=True)]
    return _drain(position, outlook, wanted)


MOVES: tuple[Rule, ...] = (
    scale_up_in_step,
    proportional_drain,
    forced_drain,
    scale_up_in_part,
    run_ahead,
    drain_a_batch,
)
"""Rules 4 to 9, in the order in which they are asked."""


def orphan_prevention(*, initial_old: Counts, wanted: Counts, floor: Counts) -> Counts:
    """Roles that began with old replicas reach 0 together: all of them now, or none yet."""
    paired = [w for w, i in zip(wanted, initial_old, strict=True) if i]
    if all(paired) or not any(paired):
        return wanted
    if not any(f for f, i in zip(floor, initial_old, strict=True) if i):
        return (0,) * len(wanted)
    return tuple([w or 1 if i else w for w, i in zip(wanted, initial_old, strict=True)])


def _drain(position: Position, outlook: Outlook, wanted: list[int]) -> Step | None:
    """`wanted` old replicas, yet none below its floor, none an orphan and none raised."""
    old, floor = position.old, outlook.floor
    bounded = _raise(_lower(old, wanted), floor)
    paired = orphan_prevention(initial_old=position.initial_old, wanted=bounded, floor=floor)
    drained = _lower(paired, old)
    return (drained, position.new) if drained != old else None


def _grow(position: Position, wanted: Counts) -> Step | None:
    """`wanted` new replicas, yet none lowered."""
    grown = _raise(wanted, position.new)
    return (position.old, grown) if grown != position.new else None


# Comparisons written out: `min` and `max` of two numbers take about four times as long, and a
# step asks some eighty of them for ten roles.
def _lower(counts: Counts | list[int], most: Counts | list[int]) -> Counts:
    """`counts`, none above `most`."""
    return tuple([c if c < m else m for c, m in zip(counts, most, strict=True)])


def _raise(counts: Counts, least: Counts) -> Counts:
    """`counts`, none below `least`."""
    return tuple([c if c > m else m for c, m in zip(counts, least, strict=True)])
