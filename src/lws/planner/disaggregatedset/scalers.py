"""Role scalers: one for every External role (spec section 2, rules 2 and 5)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lws.api import names
from lws.api.disaggregatedset import Role, RoleScaler, RoleScalerStatus
from lws.api.kinds import Kind
from lws.api.meta import Condition
from lws.base.times import format_time
from lws.planner.actions import Action, Create, Delete, Emit, EventType, MergePatch
from lws.planner.disaggregatedset.census import RoleTotals
from lws.planner.disaggregatedset.snapshot import SetSnapshot, owner_reference, reference
from lws.planner.disaggregatedset.targets import scaler_seed

READY = "Ready"
_BOUND = "Bound"
_MESSAGE = "The scaler sets the replicas of its role"


def plan_scalers(snapshot: SetSnapshot) -> tuple[tuple[Action, ...], ...]:
    """Those that are missing, those that are not wanted, and the status of the others."""
    external = {
        names.role_scaler(ds=snapshot.ds.metadata.name, role=role.name): role
        for role in snapshot.ds.spec.roles
        if role.is_external
    }
    there = {scaler.metadata.name: scaler for scaler in snapshot.own_scalers}
    taken = {name for kind, name in snapshot.foreign if kind is Kind.ROLE_SCALER}
    created = [
        (_create(snapshot, role, name=name),)
        for name, role in external.items()
        if name not in there and name not in taken and role.name not in snapshot.scalers.conflicts
    ]
    deleted = [
        (_delete(scaler),)
        for name, scaler in there.items()
        if name not in external and scaler.metadata.deletion_timestamp is None
    ]
    told = [
        (patch,)
        for name, scaler in there.items()
        if name in external
        and (patch := _status_patch(snapshot, external[name], scaler)) is not None
    ]
    return (*created, *deleted, *told)


def _create(snapshot: SetSnapshot, role: Role, *, name: str) -> Create:
    ds = snapshot.ds
    totals = snapshot.totals.get(role.name, RoleTotals())
    seed = scaler_seed([totals.wanted] if totals.members else [])
    body = {
        "apiVersion": Kind.ROLE_SCALER.api_version,
        "kind": Kind.ROLE_SCALER.kind,
        "metadata": {
            "name": name,
            "namespace": ds.metadata.namespace,
            "labels": {names.DS_NAME: ds.metadata.name, names.DS_ROLE: role.name},
            "ownerReferences": [owner_reference(ds)],
        },
        "spec": {"replicas": seed},
    }
    note = f"Creating scaler {name} of role {role.name}"
    return Create(
        kind=Kind.ROLE_SCALER,
        namespace=ds.metadata.namespace,
        name=name,
        body=body,
        failure=Emit(reference(ds), EventType.WARNING, "FailedCreate", "Create", note),
    )


def _delete(scaler: RoleScaler) -> Delete:
    meta = scaler.metadata
    return Delete(kind=Kind.ROLE_SCALER, namespace=meta.namespace, name=meta.name, uid=meta.uid)


def _status_patch(snapshot: SetSnapshot, role: Role, scaler: RoleScaler) -> MergePatch | None:
    status = scaler_status(snapshot, role, scaler)
    if status == scaler.status:
        return None
    before, after = msgspec.to_builtins(scaler.status), msgspec.to_builtins(status)
    meta = scaler.metadata
    return MergePatch(
        kind=Kind.ROLE_SCALER,
        namespace=meta.namespace,
        name=meta.name,
        body={"status": _changed(before, after)},
        uid=meta.uid,
        subresource="status",
    )


def scaler_status(snapshot: SetSnapshot, role: Role, scaler: RoleScaler) -> RoleScalerStatus:
    """A new one shows what it asks for, so that no autoscaler takes a start for an outage."""
    totals = snapshot.totals.get(role.name, RoleTotals())
    is_new = scaler.status.observed_generation == 0
    ds = snapshot.ds.metadata.name
    return RoleScalerStatus(
        replicas=scaler.spec.replicas if is_new else totals.replicas,
        selector=names.role_selector(ds=ds, role=role.name),
        observed_generation=scaler.metadata.generation,
        conditions=_conditions(scaler, now=format_time(snapshot.now)),
    )


def _conditions(scaler: RoleScaler, *, now: str) -> tuple[Condition, ...]:
    standing = {one.type: one for one in scaler.status.conditions}
    ready = standing.get(READY)
    bound = Condition(
        type=READY,
        status="True",
        reason=_BOUND,
        message=_MESSAGE if ready is None or not ready.message else ready.message,
        last_transition_time=(
            ready.last_transition_time if ready is not None and ready.status == "True" else now
        ),
        observed_generation=scaler.metadata.generation,
    )
    return (*(one for one in standing.values() if one.type != READY), bound)


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that differ; a counter of 0 is told too the first time."""
    is_new = not before["observedGeneration"]
    return {key: value for key, value in after.items() if is_new or before[key] != value}
