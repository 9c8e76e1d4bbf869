"""Coordinated drain: what a drain of roles means for several old revisions (spec section 4).

Revisions give in their order, newest first, each as much as is still asked of a role. When a role
of a revision comes to 0, all roles of that revision go to 0 with it: half a pair serves nobody.

- Only the role that came to 0 pays for that with what was asked of it. What was asked of the
  others still drains from the older revisions. So a role that is *carried along* can lose more
  than was asked of it, yet
- no role is ever taken below its floor. If carrying a role along would do that, the role that
  came to 0 is held at 1 instead, and the one replica that it then owes is asked of the older
  revisions: the totals stay as planned wherever they can.
- A role that is at 0 already although it began with replicas (a drain whose writes were cut
  short) carries the rest of its revision along in the same way, at no cost.

Each call therefore drains from a role exactly what was asked or less, but for roles carried along.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lws.planner.disaggregatedset.revisions import OldRevision, newest_first, old_replicas


class Drain(NamedTuple):
    """A role of an old revision goes from `before` to `after` replicas."""

    revision: str
    role: str
    before: int
    after: int


def coordinated_drain(
    *, revisions: Sequence[OldRevision], asked: Mapping[str, int], floor: Mapping[str, int]
) -> tuple[Drain, ...]:
    """Which role of which revision goes to what; only those that change, newest revision first.

    `asked`: how many replicas are to go, by role. `floor`: how many must stay, summed over all
    old revisions, by role. A role that either lacks counts as 0.
    """
    _require_counts(asked=asked, floor=floor)
    left = dict(asked)
    slack = {
        role: max(0, old_replicas(role, revisions) - floor.get(role, 0))
        for revision in revisions
        for role in revision.replicas
    }
    drains: list[Drain] = []
    for revision in newest_first(revisions):
        share = _share(revision, left=left, slack=slack)
        for role, before in revision.replicas.items():
            left[role] = left.get(role, 0) - share.paid[role]
            slack[role] -= share.taken[role]
            if share.taken[role]:
                drains.append(Drain(revision.name, role, before, before - share.taken[role]))
    return tuple(drains)


class _Share(NamedTuple):
    """What goes from one revision, and what of that is paid with what was asked; by role."""

    taken: Mapping[str, int]
    paid: Mapping[str, int]


def _share(revision: OldRevision, *, left: Mapping[str, int], slack: Mapping[str, int]) -> _Share:
    """What one revision gives of what is still asked, with its pairs kept whole."""
    replicas = revision.replicas
    own = {role: min(count, left.get(role, 0), slack[role]) for role, count in replicas.items()}
    emptied = {role for role in own if _is_emptied(revision, role, taken=own[role])}
    rest = [role for role, count in replicas.items() if count > own[role]]
    if not emptied or not rest:
        return _Share(taken=own, paid=own)
    if all(replicas[role] <= slack[role] for role in rest):
        paid = {role: count if role in emptied else 0 for role, count in own.items()}
        return _Share(taken=replicas, paid=paid)
    held = {role: max(0, count - 1) if role in emptied else count for role, count in own.items()}
    return _Share(taken=held, paid=held)


def _is_emptied(revision: OldRevision, role: str, *, taken: int) -> bool:
    """Whether a role of its own comes to 0 by this, or was left there by a drain cut short."""
    count = revision.replicas[role]
    return count == taken and (count > 0 or revision.initial(role) > 0)


def _require_counts(**arguments: Mapping[str, int]) -> None:
    """ValueError that names the argument with a negative number in it."""
    for name, counts in arguments.items():
        for role, count in counts.items():
            if count < 0:
                raise ValueError(f"{name}: negative for role {role}: {count}")
