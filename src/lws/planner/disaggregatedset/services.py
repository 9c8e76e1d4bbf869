"""Headless Services of the roles (spec section 5)."""

from collections.abc import Iterable, Mapping

from lws.api import names
from lws.api.core import Service
from lws.api.kinds import Kind
from lws.planner.actions import Create, Delete, Emit, EventType
from lws.planner.disaggregatedset.family import Generation, SliceFamily
from lws.planner.disaggregatedset.snapshot import (
    RoleSet,
    SliceSnapshot,
    owner_reference,
    place_of,
    reference,
)


def missing_services(snapshot: SliceSnapshot, family: SliceFamily) -> list[Create]:
    """Of every revision that serves with all its roles; what is there is never asked to go."""
    wanted_roles = {role.name for role in snapshot.ds.spec.roles}
    revisions = list(family.old.values())
    if family.new.keys() == wanted_roles:
        revisions.append(family.new)
    there = {service.metadata.name for service in snapshot.services}
    taken = {name for kind, name in snapshot.foreign if kind is Kind.SERVICE}
    return [
        _create(snapshot, held)
        for roles in revisions
        if all(held.ready > 0 for held in roles.values())
        for held in roles.values()
        if names.role_service(held.name) not in there | taken
    ]


def abandoned_services(
    snapshot: SliceSnapshot, gone: Iterable[Generation] = ()
) -> Mapping[Generation, list[Delete]]:
    """Of older revisions that have no LeaderWorkerSet, or in `gone` will have none; by revision."""
    ds = snapshot.ds.metadata.name
    wiped = set(gone)
    standing = {
        Generation(held.place.revision, held.place.is_sliced) for held in snapshot.sets
    } - wiped
    abandoned: dict[Generation, list[Delete]] = {}
    for service in snapshot.services:
        place = place_of(service, ds=ds)
        generation = Generation(place.revision, place.is_sliced)
        if place.revision != snapshot.key and generation not in standing:
            abandoned.setdefault(generation, []).append(delete_service(service))
    return abandoned


def delete_service(service: Service) -> Delete:
    """Delete one."""
    meta = service.metadata
    return Delete(kind=Kind.SERVICE, namespace=meta.namespace, name=meta.name, uid=meta.uid)


def _create(snapshot: SliceSnapshot, held: RoleSet) -> Create:
    ds, place = snapshot.ds, held.place
    name = names.role_service(held.name)
    labels = {
        names.DS_NAME: ds.metadata.name,
        names.DS_ROLE: place.role,
        names.DS_REVISION: place.revision,
        **({names.DS_SLICE: str(place.slice_index)} if place.is_sliced else {}),
    }
    body = {
        "apiVersion": Kind.SERVICE.api_version,
        "kind": Kind.SERVICE.kind,
        "metadata": {
            "name": name,
            "namespace": ds.metadata.namespace,
            "labels": labels,
            "ownerReferences": [owner_reference(ds)],
        },
        "spec": {"clusterIP": "None", "selector": dict(labels)},
    }
    note = f"Creating service {name}"
    return Create(
        kind=Kind.SERVICE,
        namespace=ds.metadata.namespace,
        name=name,
        body=body,
        failure=Emit(reference(ds), EventType.WARNING, "FailedCreate", "Create", note),
    )
