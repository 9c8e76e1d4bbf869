"""A role's LeaderWorkerSet: how it is made, scaled, amended in place, and deleted (section 2)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from lws.api import names
from lws.api.disaggregatedset import DisaggregatedSet, Role
from lws.api.kinds import Kind
from lws.api.leaderworkerset import (
    LeaderWorkerSetSpec,
    RollingUpdateConfiguration,
    RolloutStrategy,
)
from lws.base.ids import RevisionKey
from lws.planner.actions import Action, Create, Delete, Document, Emit, EventType, MergePatch
from lws.planner.disaggregatedset.placement import Term, placement_terms, with_placement
from lws.planner.disaggregatedset.snapshot import (
    RoleSet,
    SliceSnapshot,
    owner_reference,
    reference,
)
from lws.planner.ownership import field_names

_POD_TEMPLATES = ("leaderTemplate", "workerTemplate")
_NOT_CARRIED = (names.LAST_APPLIED, names.DS_INITIAL_REPLICAS)
"""Of others: kubectl's note about the set itself, and our own one about an update."""


def create(snapshot: SliceSnapshot, role: Role, *, replicas: int, event: Emit | None) -> Create:
    """A role's LeaderWorkerSet of the wanted revision."""
    ds = snapshot.ds
    name = wanted_name(snapshot, role.name)
    note = f"Creating LeaderWorkerSet {name} of role {role.name}"
    return Create(
        kind=Kind.LEADER_WORKER_SET,
        namespace=ds.metadata.namespace,
        name=name,
        body=_body(snapshot, role, name=name, replicas=replicas),
        event=event,
        failure=Emit(reference(ds), EventType.WARNING, "FailedCreate", "Create", note),
    )


def wanted_name(snapshot: SliceSnapshot, role: str) -> str:
    """Name of a role's LeaderWorkerSet of the wanted revision."""
    return names.role_lws(
        ds=snapshot.ds.metadata.name,
        slice_index=snapshot.slice_index,
        revision=snapshot.key,
        role=role,
    )


def scale(snapshot: SliceSnapshot, held: RoleSet, *, replicas: int) -> MergePatch:
    """Another number of replicas; a smaller one only if nobody has touched it since we looked."""
    scaling = _scaling(snapshot, held, replicas)
    return _patch(
        snapshot,
        held,
        {"spec": {"replicas": replicas}},
        guarded=replicas < held.replicas,
        event=scaling,
        failure=scaling.note,
    )


def _scaling(snapshot: SliceSnapshot, held: RoleSet, replicas: int) -> Emit:
    word = "Up" if replicas > held.replicas else "Down"
    note = (
        f"Scaling {word.lower()} {held.place.role} LWS {held.name}"
        f" from {held.replicas} to {replicas} replicas"
    )
    return _normal(snapshot, f"Scaling{word}", note)


def scales(action: Action) -> bool:
    """Whether it is what `scale` made."""
    return isinstance(action, MergePatch) and "replicas" in action.body.get("spec", {})


def note_initial(snapshot: SliceSnapshot, held: RoleSet, *, replicas: int | None) -> MergePatch:
    """The baseline of an update; None takes it away from a revision that is wanted again."""
    value = None if replicas is None else str(replicas)
    body = {"metadata": {"annotations": {names.DS_INITIAL_REPLICAS: value}}}
    return _patch(snapshot, held, body, failure=f"Noting the initial replicas of {held.name}")


def drop(snapshot: SliceSnapshot, held: RoleSet) -> Delete:
    """Delete one that an update is done with; if it still has replicas, they go with it."""
    event = _scaling(snapshot, held, 0) if held.replicas else None
    return replace(delete(held), event=event)


def delete(held: RoleSet) -> Delete:
    """One that has changed since we looked, scaled up by hand say, survives."""
    meta = held.lws.metadata
    return Delete(
        kind=Kind.LEADER_WORKER_SET,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def amend(snapshot: SliceSnapshot, role: Role, held: RoleSet) -> MergePatch | None:
    """What of a role reaches a LeaderWorkerSet that exists: metadata, and what rolls nothing."""
    metadata = _metadata_changes(snapshot, role, held)
    spec = _spec_changes(role.spec, held.lws.spec)
    body = {**({"metadata": metadata} if metadata else {}), **({"spec": spec} if spec else {})}
    if not body:
        return None
    return _patch(snapshot, held, body, failure=f"Updating LeaderWorkerSet {held.name}")


def _patch(
    snapshot: SliceSnapshot,
    held: RoleSet,
    body: Document,
    *,
    failure: str,
    guarded: bool = False,
    event: Emit | None = None,
) -> MergePatch:
    meta = held.lws.metadata
    return MergePatch(
        kind=Kind.LEADER_WORKER_SET,
        namespace=meta.namespace,
        name=meta.name,
        body=body,
        uid=meta.uid,
        resource_version=meta.resource_version if guarded else None,
        event=event,
        failure=Emit(reference(snapshot.ds), EventType.WARNING, "FailedUpdate", "Update", failure),
    )


def _normal(snapshot: SliceSnapshot, reason: str, note: str) -> Emit:
    return Emit(reference(snapshot.ds), EventType.NORMAL, reason, "Update", note)


# How it is made


def _body(snapshot: SliceSnapshot, role: Role, *, name: str, replicas: int) -> Document:
    ds = snapshot.ds
    index = snapshot.slice_index
    ours = _our_labels(ds, role.name, index=index, revision=snapshot.key)
    terms = placement_terms(ds.spec.placement_policy, ds=ds.metadata.name, slice_index=index)
    spec = dict(snapshot.wanted.documents[role.name].get("spec") or {})
    spec["replicas"] = replicas
    spec["leaderWorkerTemplate"] = _template(
        spec.get("leaderWorkerTemplate") or {}, labels=ours, terms=terms
    )
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": ds.metadata.namespace,
        "labels": {**role.labels, **ours},
        "ownerReferences": [owner_reference(ds)],
    }
    annotations = _annotations(role)
    if annotations:
        metadata["annotations"] = annotations
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": metadata,
        "spec": spec,
    }


def _our_labels(
    ds: DisaggregatedSet, role: str, *, index: int, revision: RevisionKey
) -> dict[str, str]:
    name = ds.metadata.name
    return {
        names.APP: names.role_app(ds=name, slice_index=index, role=role),
        names.DS_NAME: name,
        names.DS_REVISION: revision,
        names.DS_ROLE: role,
        names.DS_SLICE: str(index),
    }


def _annotations(role: Role) -> dict[str, str]:
    return {key: value for key, value in role.annotations.items() if key not in _NOT_CARRIED}


def _template(
    template: Mapping[str, Any],
    *,
    labels: Mapping[str, str],
    terms: Mapping[str, list[Term]],
) -> dict[str, Any]:
    """The role's template with the labels and the placement of the set."""
    built = dict(template)
    for part in _POD_TEMPLATES:
        pod = built.get(part)
        if pod is None:
            continue
        metadata = dict(pod.get("metadata") or {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        spec = with_placement(dict(pod.get("spec") or {}), terms)
        built[part] = {**pod, "metadata": metadata, "spec": spec}
    return built


# What is changed in place


def _metadata_changes(
    snapshot: SliceSnapshot, role: Role, held: RoleSet
) -> dict[str, dict[str, str | None]]:
    """Labels and annotations that are missing, differ, or were ours and are wanted no more."""
    place, meta = held.place, held.lws.metadata
    ours = {}
    if place.is_sliced:
        ours = _our_labels(
            snapshot.ds, place.role, index=place.slice_index, revision=place.revision
        )
    wanted_annotations = _annotations(role)
    wanted = {"labels": {**role.labels, **ours}, "annotations": wanted_annotations}
    live = {"labels": meta.labels, "annotations": meta.annotations}
    changes: dict[str, dict[str, str | None]] = {}
    for part, values in wanted.items():
        set_anew = {key: value for key, value in values.items() if live[part].get(key) != value}
        given_up = dict.fromkeys(_given_up(held, part, live[part].keys() - values.keys()))
        if set_anew or given_up:
            changes[part] = {**set_anew, **given_up}
    return changes


def _given_up(held: RoleSet, part: str, others: set[str]) -> set[str]:
    """Of the labels or annotations that are not wanted: those that a controller of ours set."""
    others = {key for key in others if key != names.APP and not key.startswith(names.DS_PREFIX)}
    if not others:
        return others
    document = msgspec.json.decode(held.lws.document)
    owned: set[str] = set()
    for entry in document["metadata"].get("managedFields") or ():
        if entry.get("manager") == names.FIELD_MANAGER and not entry.get("subresource"):
            owned |= field_names(entry.get("fieldsV1"), "metadata", part)
    return others & owned


def _spec_changes(wanted: LeaderWorkerSetSpec, live: LeaderWorkerSetSpec) -> dict[str, Any]:
    """Fields that are no template: the rollout strategy, and the additions that are ours."""
    changes: dict[str, Any] = {}
    strategy = _strategy(wanted.rollout_strategy)
    if strategy != _strategy(live.rollout_strategy):
        changes["rolloutStrategy"] = strategy
    for field, name in _IN_PLACE.items():
        value = getattr(wanted, field)
        if value != getattr(live, field):
            changes[name] = value
    restarts = wanted.leader_worker_template.max_group_restarts
    if restarts != live.leader_worker_template.max_group_restarts:
        changes["leaderWorkerTemplate"] = {"maxGroupRestarts": restarts}
    return changes


_IN_PLACE = {
    "revision_history_limit": "revisionHistoryLimit",
    "paused": "paused",
    "progress_deadline_seconds": "progressDeadlineSeconds",
}


def _strategy(strategy: RolloutStrategy | None) -> dict[str, Any]:
    """With the schema's defaults, so that who wrote them does not matter."""
    given = strategy or RolloutStrategy()
    rolling = given.rolling_update_configuration or RollingUpdateConfiguration()
    return {
        "type": given.type or "RollingUpdate",
        "rollingUpdateConfiguration": {
            "partition": rolling.partition or 0,
            "maxUnavailable": 1 if rolling.max_unavailable is None else rolling.max_unavailable,
            "maxSurge": 0 if rolling.max_surge is None else rolling.max_surge,
        },
    }
