"""Headless Services of the roles (spec section 5)."""

from collections.abc import Mapping

from lws.api import names
from lws.api.core import Service
from lws.api.kinds import Kind
from lws.planner.actions import Create, Delete, Emit, EventType
from lws.planner.disaggregatedset.family import Generation, SliceFamily
from lws.planner.disaggregatedset.leaderworkersets import wanted_name
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
    snapshot: SliceSnapshot, gone: Mapping[Generation, Mapping[str, RoleSet]]
) -> Mapping[Generation, list[Delete]]:
    """Those that will have no LeaderWorkerSet once `gone` are; by revision.

    Of an older revision they go together, with its last one. Of the wanted one each stays while
    its own stands or is to be made: not that of a release from before slices, once its
    LeaderWorkerSet is gone, nor that of a role that is wanted no more.
    """
    ds = snapshot.ds.metadata.name
    wiped = {held.name for roles in gone.values() for held in roles.values()}
    standing = [held for held in snapshot.sets if held.name not in wiped]
    generations = {Generation(held.place.revision, held.place.is_sliced) for held in standing}
    wanted = {wanted_name(snapshot, role.name) for role in snapshot.ds.spec.roles}
    served = {names.role_service(name) for name in wanted | {held.name for held in standing}}
    abandoned: dict[Generation, list[Delete]] = {}
    for service in snapshot.services:
        place = place_of(service, ds=ds)
        generation = Generation(place.revision, place.is_sliced)
        is_wanted = place.revision == snapshot.key
        if service.metadata.name not in served if is_wanted else generation not in generations:
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
