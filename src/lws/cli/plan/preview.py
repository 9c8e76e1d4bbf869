"""A whole update as values: what stands after each step, and how low and how high it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lws.planner.disaggregatedset import all_steps, is_done
from lws.planner.disaggregatedset.budgets import Budgets
from lws.planner.disaggregatedset.revisions import OldRevision
from lws.planner.disaggregatedset.rolling import Wanted, is_rolled_out, rolling_step
from lws.planner.leaderworkerset.rollout_sequence import UnderWay, all_rollouts

STEPS_MAX = 10_000
"""More than any update of sizes that a cluster holds; a preview that gets here is a mistake."""


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role (or the groups of a LeaderWorkerSet): its bounds."""

    name: str
    floor: int
    """Fewest that an update leaves available."""
    ceiling: int
    """Most that there are on the way."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """What there is of each role once a step is done."""

    old: tuple[int, ...]
    new: tuple[int, ...]
    available: tuple[int, ...]
    """Fewest on the way to it."""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A table, or a picture, of an update."""

    title: str
    roles: tuple[RoleLine, ...]
    steps: tuple[StepLine, ...]
    """The first is the beginning."""
    is_complete: bool = True
    notes: tuple[str, ...] = field(default=())

    @property
    def lowest(self) -> tuple[int, ...]:
        """Fewest available of each role on the whole way."""
        return tuple(
            min(step.available[index] for step in self.steps) for index in range(len(self.roles))
        )

    @property
    def highest(self) -> tuple[int, ...]:
        """Most of each role on the whole way."""
        return tuple(
            max(step.old[index] + step.new[index] for step in self.steps)
            for index in range(len(self.roles))
        )

    def as_document(self) -> dict[str, Any]:
        """The same for a program."""
        return {
            "title": self.title,
            "complete": self.is_complete,
            "roles": [
                {
                    "name": role.name,
                    "floor": role.floor,
                    "ceiling": role.ceiling,
                    "lowestAvailable": low,
                    "highestTotal": high,
                }
                for role, low, high in zip(self.roles, self.lowest, self.highest, strict=True)
            ],
            "steps": [
                {
                    "step": number,
                    "old": list(step.old),
                    "new": list(step.new),
                    **({"detail": step.detail} if step.detail else {}),
                }
                for number, step in enumerate(self.steps)
            ],
            "notes": list(self.notes),
        }


def of_numbers(
    *,
    names: Sequence[str],
    old: Sequence[int],
    target: Sequence[int],
    surge: Sequence[int],
    unavailable: Sequence[int],
) -> Preview:
    """An update of a DisaggregatedSet from bare numbers; ValueError names what does not fit."""
    steps = all_steps(initial_old=old, target=target, surge=surge, unavailable=unavailable)
    last_old, last_new = steps[-1]
    roles = tuple(
        _role_line(name, first=first, target=wanted, budgets=Budgets(up, down))
        for name, first, wanted, up, down in zip(
            names, old, target, surge, unavailable, strict=True
        )
    )
    return Preview(
        title=f"{_counts(old)} to {_counts(target)}",
        roles=roles,
        steps=tuple(_step_line(old_now, new_now) for old_now, new_now in steps),
        is_complete=is_done(old=last_old, new=last_new, target=target),
    )


def of_disaggregatedset(
    *,
    title: str,
    wanted: Mapping[str, Wanted],
    revisions: Sequence[OldRevision],
    notes: Sequence[str] = (),
) -> Preview:
    """An update of one slice, with as many old revisions as it has."""
    names = [*wanted, *sorted({r for one in revisions for r in one.replicas} - wanted.keys())]
    lines = [_line_of(names, wanted, revisions)]
    while not is_rolled_out(wanted=wanted, revisions=revisions) and len(lines) < STEPS_MAX:
        step = rolling_step(wanted=wanted, revisions=revisions)
        if step is None:
            break
        grown = {growth.role: growth.after for growth in step.up}
        wanted = {role: one._replace(new=grown.get(role, one.new)) for role, one in wanted.items()}
        left = {(drain.revision, drain.role): drain.after for drain in step.down}
        revisions = [_drained(revision, left) for revision in revisions]
        lines.append(_line_of(names, wanted, revisions))
    roles = tuple(
        _role_line(
            name,
            first=lines[0].old[index],
            target=wanted[name].target if name in wanted else 0,
            budgets=wanted[name].budgets if name in wanted else Budgets(1, 0),
        )
        for index, name in enumerate(names)
    )
    complete = is_rolled_out(wanted=wanted, revisions=revisions)
    return Preview(
        title=title, roles=roles, steps=tuple(lines), is_complete=complete, notes=tuple(notes)
    )


def of_leaderworkerset(
    *,
    title: str,
    replicas: int,
    budgets: tuple[int, int],
    partition: int,
    under_way: UnderWay | None = None,
    notes: Sequence[str] = (),
) -> Preview:
    """The writes of a rolling update of a LeaderWorkerSet: replicas and partition."""
    surge, unavailable = budgets
    steps = all_rollouts(
        replicas=replicas,
        surge=surge,
        unavailable=unavailable,
        partition=partition,
        under_way=under_way,
    )
    first_new = 0 if under_way is None else under_way.updated
    first_old = (replicas if under_way is None else under_way.replicas) - first_new
    lines = [StepLine((first_old,), (first_new,), (first_old + first_new,), "as it stands")]
    lines += [
        StepLine(
            (step.ready_old,),
            (step.ready_new,),
            (min(step.ready_during, step.ready_old + step.ready_new),),
            f"replicas {step.replicas}, partition {step.partition}",
        )
        for step in steps
    ]
    role = RoleLine("groups", max(0, replicas - unavailable), replicas + surge)
    return Preview(title=title, roles=(role,), steps=tuple(lines), notes=tuple(notes))


def _drained(revision: OldRevision, left: Mapping[tuple[str, str], int]) -> OldRevision:
    replicas = {
        role: left.get((revision.name, role), count) for role, count in revision.replicas.items()
    }
    initial = dict(revision.initial_replicas) or dict(revision.replicas)
    return OldRevision(
        name=revision.name, created=revision.created, replicas=replicas, initial_replicas=initial
    )


def _line_of(
    names: Sequence[str], wanted: Mapping[str, Wanted], revisions: Sequence[OldRevision]
) -> StepLine:
    old = tuple(sum(one.replicas.get(name, 0) for one in revisions) for name in names)
    new = tuple(wanted[name].new if name in wanted else 0 for name in names)
    return _step_line(old, new)


def _step_line(old: Sequence[int], new: Sequence[int]) -> StepLine:
    available = tuple(a + b for a, b in zip(old, new, strict=True))
    return StepLine(tuple(old), tuple(new), available)


def _role_line(name: str, *, first: int, target: int, budgets: Budgets) -> RoleLine:
    floor = max(0, min(first, target) - budgets.unavailable)
    return RoleLine(name, floor, max(first, target + budgets.surge))


def _counts(counts: Sequence[int]) -> str:
    return ",".join(map(str, counts))
