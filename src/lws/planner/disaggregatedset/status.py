"""The status of a DisaggregatedSet, and the events that its changes are (spec section 2, 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from lws.api.disaggregatedset import DisaggregatedSetStatus, Role, RoleStatus
from lws.api.kinds import Kind
from lws.api.meta import Condition
from lws.planner.actions import Emit, EventType
from lws.planner.conditions import Wish, merged
from lws.planner.disaggregatedset import scaling
from lws.planner.disaggregatedset.census import RoleTotals
from lws.planner.disaggregatedset.snapshot import SetSnapshot, SliceReport, Waiting, reference
from lws.planner.timing import JUST_BEGUN, Timing, paced

AVAILABLE = "Available"
PROGRESSING = "Progressing"
CONFLICT = "Conflict"
SCALER_CONFLICT = "ScalerConflict"
OBJECT_CONFLICT = "ObjectConflict"

_READY = (
    "AllRolesReady",
    "All roles have reached their desired replica count, ready and updated to the current revision",
)
_ROLLING = (
    "RolloutInProgress",
    (
        "Not all roles have reached their desired replica count, ready and updated to the current"
        " revision"
    ),
)

TOLD_AFTER_SECONDS = (10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400)
"""How long something has been waited for is told in steps: each is one write of the status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatusPlan:
    """The status to write, if it is another, and the events that tell of it."""

    status: Mapping[str, Any] | None = None
    """Fields that differ, for a merge patch; None: nothing to write."""
    wait: float = 0.0
    """Seconds until it is to be written; 0: now."""
    events: tuple[Emit, ...] = ()
    wake_after: float | None = None
    """When time alone changes what is told."""


def plan_set_status(snapshot: SetSnapshot, *, timing: Timing = JUST_BEGUN) -> SetStatusPlan:
    """The whole status, compared with what stands."""
    ds = snapshot.ds
    status = DisaggregatedSetStatus(
        observed_generation=ds.metadata.generation,
        role_statuses=tuple(role_status(snapshot, role) for role in ds.spec.roles),
        conditions=merged(
            ds.status.conditions,
            _wishes(snapshot),
            generation=ds.metadata.generation,
            now=snapshot.now,
        ),
    )
    wake_after = _next_telling(snapshot)
    if status == ds.status:
        return SetStatusPlan(wake_after=wake_after)
    flips = _states(ds.status) != _states(status)
    before, after = msgspec.to_builtins(ds.status), msgspec.to_builtins(status)
    return SetStatusPlan(
        status={key: value for key, value in after.items() if before[key] != value},
        wait=0.0 if flips else paced(timing, to_come=_to_come(snapshot)),
        events=_events(ds.status.conditions, status.conditions, snapshot),
        wake_after=wake_after,
    )


def _states(status: DisaggregatedSetStatus) -> tuple[object, ...]:
    """What a person or a program waits for; the rest can come a little later."""
    conditions = [(one.type, one.status) for one in status.conditions]
    return (status.observed_generation, conditions)


def role_status(snapshot: SetSnapshot, role: Role) -> RoleStatus:
    """What the role has over all slices."""
    totals = _totals(snapshot, role)
    return RoleStatus(
        name=role.name,
        replicas=totals.replicas,
        ready_replicas=totals.ready,
        updated_replicas=totals.updated,
    )


def _totals(snapshot: SetSnapshot, role: Role) -> RoleTotals:
    return snapshot.totals.get(role.name, RoleTotals())


def _is_available(snapshot: SetSnapshot) -> bool:
    """Whether every role has all its replicas, ready and of the wanted revision."""
    return all(_is_complete(snapshot, role) for role in snapshot.ds.spec.roles)


def _is_complete(snapshot: SetSnapshot, role: Role) -> bool:
    totals = _totals(snapshot, role)
    if not scaling.is_settled(role, scalers=snapshot.scalers):
        return False
    wanted = desired_replicas(snapshot, role)
    return totals.replicas == totals.ready == totals.updated == wanted


def _to_come(snapshot: SetSnapshot) -> int:
    """How many groups of its roles are still to change before it is at rest."""
    if _is_available(snapshot):
        return 0
    changing = 0
    for role in snapshot.ds.spec.roles:
        totals, wanted = _totals(snapshot, role), desired_replicas(snapshot, role)
        missing = wanted - min(totals.ready, totals.updated)
        changing += max(0, missing, abs(totals.replicas - wanted))
    return max(1, changing)


def desired_replicas(snapshot: SetSnapshot, role: Role) -> int:
    """What the role should have over all slices."""
    slices = snapshot.ds.spec.slices
    present = _totals(snapshot, role).wanted // slices if slices else 0
    return scaling.target(role, scalers=snapshot.scalers, present=present) * slices


# What is waited for


def _progress(snapshot: SetSnapshot) -> str:
    """The message while not all is ready: what the first slice in trouble waits for."""
    reports = snapshot.reports
    if not reports:
        return _ROLLING[1]
    index = min(reports)
    words = "; ".join(_words(reports[index], now=snapshot.now))
    where = f"slice {index}: " if snapshot.ds.spec.slices > 1 else ""
    more = len(reports) - 1
    others = f" (and {more} other slice{'s' if more > 1 else ''})" if more else ""
    return f"{_ROLLING[1]}; {where}{words}{others}"


def _words(report: SliceReport, *, now: float) -> list[str]:
    words = list(report.troubles)
    if report.waiting is not None:
        words.append(f"waiting for {report.waiting.text}{_duration(report.waiting, now=now)}")
    return words


def _duration(waiting: Waiting, *, now: float) -> str:
    passed = [step for step in TOLD_AFTER_SECONDS if _elapsed(waiting, now=now) >= step]
    return f", for more than {_spelled(passed[-1])}" if passed else ""


def _elapsed(waiting: Waiting, *, now: float) -> float:
    return 0.0 if waiting.since is None else now - waiting.since


def _spelled(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def _next_telling(snapshot: SetSnapshot) -> float | None:
    if not snapshot.reports or _is_available(snapshot):
        return None
    waiting = snapshot.reports[min(snapshot.reports)].waiting
    if waiting is None or waiting.since is None:
        return None
    elapsed = _elapsed(waiting, now=snapshot.now)
    ahead = [step - elapsed for step in TOLD_AFTER_SECONDS if step > elapsed]
    return ahead[0] if ahead else None


# Conditions


def _wishes(snapshot: SetSnapshot) -> list[Wish]:
    available = _is_available(snapshot)
    reason, message = _READY if available else _ROLLING
    progress = message if available else _progress(snapshot)
    return [
        Wish(AVAILABLE, available, reason, message, speaks_when_false=True),
        Wish(PROGRESSING, not available, reason, progress, speaks_when_false=True),
        _conflict(snapshot),
    ]


def _conflict(snapshot: SetSnapshot) -> Wish:
    """What stands in our place and is not ours."""
    roles = sorted(snapshot.scalers.conflicts)
    ds = snapshot.ds.metadata.name
    scalers = [
        f"{Kind.ROLE_SCALER.kind} {ds}-{role} exists and is not ours: role {role} keeps the"
        " replicas that it has until that object is gone"
        for role in roles
    ]
    taken = {f"{ds}-{role}" for role in roles}
    others = [
        f"{kind.kind} {name} exists and is not ours"
        for kind, name in sorted(snapshot.foreign, key=lambda one: (one[0].kind, one[1]))
        if not (kind is Kind.ROLE_SCALER and name in taken)
    ]
    reason = SCALER_CONFLICT if scalers else OBJECT_CONFLICT
    return Wish(CONFLICT, bool(scalers or others), reason, "; ".join((*scalers, *others)))


def _events(
    before: Sequence[Condition], after: Sequence[Condition], snapshot: SetSnapshot
) -> tuple[Emit, ...]:
    """A conflict is told when it comes, and when it becomes another."""
    told = {(one.type, one.status, one.message) for one in before}
    return tuple(
        Emit(reference(snapshot.ds), EventType.WARNING, one.reason, "Update", one.message)
        for one in after
        if one.type == CONFLICT
        and one.status == "True"
        and (one.type, one.status, one.message) not in told
    )
