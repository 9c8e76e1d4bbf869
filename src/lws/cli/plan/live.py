"""A preview of a live set: read off a cluster, nothing written."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from lws.api import disaggregatedset, leaderworkerset, names
from lws.api.disaggregatedset import DisaggregatedSet
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.errors import InvalidInput
from lws.cli.plan.manifests import wanted_of
from lws.cli.plan.preview import Preview, of_disaggregatedset, of_leaderworkerset
from lws.client import resources
from lws.client.connection import ConnectionConfig
from lws.client.kubeconfig import load_config
from lws.client.kubernetes import KubernetesClient
from lws.client.transport import HttpTransport
from lws.planner.disaggregatedset.family import SliceFamily, old_revisions, running, sort_family
from lws.planner.disaggregatedset.identity import lws_digest, read_wanted, wanted_key
from lws.planner.disaggregatedset.rolling import Wanted
from lws.planner.disaggregatedset.snapshot import (
    RoleSet,
    ScalerViews,
    SliceSnapshot,
    place_of,
)
from lws.planner.leaderworkerset.revisions import read_wanted as read_wanted_template
from lws.planner.leaderworkerset.rollout_sequence import UnderWay
from lws.planner.leaderworkerset.values import budgets_of, partition_of, replicas_of
from lws.runtime.clock import RealClock

Document = Mapping[str, Any]
T = TypeVar("T")

KINDS = {
    "lws": resources.LEADERWORKERSETS,
    "leaderworkerset": resources.LEADERWORKERSETS,
    "leaderworkersets": resources.LEADERWORKERSETS,
    "ds": resources.DISAGGREGATEDSETS,
    "disaggregatedset": resources.DISAGGREGATEDSETS,
    "disaggregatedsets": resources.DISAGGREGATEDSETS,
}


@dataclass(frozen=True, slots=True)
class _Target:
    resource: resources.Resource
    namespace: str
    name: str


def live_preview(
    name: str,
    manifest: Document | None,
    *,
    namespace: str | None,
    kubeconfig: str | None,
    context: str | None,
) -> Preview:
    """What a live set has before it, as it is or with a new manifest.

    InvalidInput names what was typed wrong; ClientError is the cluster's answer.
    """
    connection = load_config(kubeconfig=kubeconfig, context=context, environ=os.environ)
    target = _target(name, namespace or connection.namespace)
    if manifest is not None and manifest["kind"] != target.resource.kind:
        message = f"is a {manifest['kind']}, {name} is a {target.resource.kind}"
        raise InvalidInput(field="-f", message=message)
    if target.resource is resources.LEADERWORKERSETS:
        return _asked(connection, lambda client: _leaderworkerset(client, target, manifest))
    return _asked(connection, lambda client: _disaggregatedset(client, target, manifest))


def _target(name: str, namespace: str) -> _Target:
    kind, slash, rest = name.partition("/")
    if not slash or not rest or kind not in KINDS:
        message = f"must be lws/NAME or ds/NAME, not {name!r}"
        raise InvalidInput(field="NAME", message=message)
    return _Target(KINDS[kind], namespace, rest)


def _asked(
    connection: ConnectionConfig, ask: Callable[[KubernetesClient], Awaitable[Preview]]
) -> Preview:
    async def run() -> Preview:
        async with HttpTransport(connection, clock=RealClock()) as transport:
            return await ask(KubernetesClient(transport))

    return asyncio.run(run())


async def _leaderworkerset(
    client: KubernetesClient, target: _Target, manifest: Document | None
) -> Preview:
    live = _decode(await _get(client, target), leaderworkerset.decode)
    wanted = live if manifest is None else _decode(_over(live, manifest), leaderworkerset.decode)
    same = read_wanted_template(live).digest == read_wanted_template(wanted).digest
    under_way = await _under_way(client, target, live) if same else None
    budgets, replicas = budgets_of(wanted), replicas_of(wanted)
    notes = [] if replicas == replicas_of(live) else ["the set is scaled first"]
    return of_leaderworkerset(
        title=f"LeaderWorkerSet {target.namespace}/{target.name}: {replicas} groups, maxSurge "
        f"{budgets.surge}, maxUnavailable {budgets.unavailable}, partition {partition_of(wanted)}",
        replicas=replicas,
        budgets=(budgets.surge, budgets.unavailable),
        partition=partition_of(wanted),
        under_way=under_way,
        notes=notes,
    )


async def _under_way(
    client: KubernetesClient, target: _Target, live: LeaderWorkerSet
) -> UnderWay | None:
    statefulset = await client.get(
        resources.STATEFULSETS, namespace=target.namespace, name=target.name
    )
    spec = statefulset["spec"]
    rolling = spec.get("updateStrategy", {}).get("rollingUpdate") or {}
    replicas = int(spec.get("replicas", 1))
    return UnderWay(
        replicas=replicas,
        partition=int(rolling.get("partition", 0)),
        updated=min(replicas, live.status.updated_replicas),
    )


async def _disaggregatedset(
    client: KubernetesClient, target: _Target, manifest: Document | None
) -> Preview:
    live = _decode(await _get(client, target), disaggregatedset.decode)
    ds = live if manifest is None else _decode(_over(live, manifest), disaggregatedset.decode)
    listed = await client.list_all(
        resources.LEADERWORKERSETS,
        namespace=target.namespace,
        label_selector=f"{names.DS_NAME}={target.name}",
    )
    sets = [_decode(item, leaderworkerset.decode) for item in listed.items]
    owned = [one for one in sets if _is_owned(one, live)]
    snapshot = _snapshot(ds, owned)
    family = running(sort_family(snapshot))
    wanted = {
        role.name: await _wanted(client, target, role=role, family=family) for role in ds.spec.roles
    }
    notes = [f"{ds.spec.slices} slices, shown is slice 0"] if ds.spec.slices > 1 else []
    return of_disaggregatedset(
        title=f"DisaggregatedSet {target.namespace}/{target.name} to revision {snapshot.key}",
        wanted=wanted,
        revisions=old_revisions(family),
        notes=notes,
    )


def _snapshot(ds: DisaggregatedSet, sets: list[LeaderWorkerSet]) -> SliceSnapshot:
    """Slice 0, as the controller would see it."""
    held = [RoleSet(lws, place_of(lws, ds=ds.metadata.name)) for lws in sets]
    templates: dict[Any, dict[str, set[str]]] = {}
    for one in held:
        roles = templates.setdefault(one.place.revision, {})
        roles.setdefault(one.place.role, set()).add(lws_digest(one.lws))
    wanted = read_wanted(ds)
    return SliceSnapshot(
        ds=ds,
        wanted=wanted,
        key=wanted_key(wanted, templates),
        slice_index=0,
        sets=tuple(one for one in held if one.place.slice_index == 0),
        services=(),
        scalers=ScalerViews(replicas={}, conflicts=frozenset()),
    )


async def _wanted(
    client: KubernetesClient,
    target: _Target,
    *,
    role: disaggregatedset.Role,
    family: SliceFamily,
) -> Wanted:
    held = family.new.get(role.name)
    wanted = wanted_of(role, new=0 if held is None else held.replicas)
    if not role.is_external:
        return wanted
    scaler = await client.get(
        resources.DISAGGREGATEDSETROLESCALERS,
        namespace=target.namespace,
        name=names.role_scaler(ds=target.name, role=role.name),
    )
    return wanted._replace(target=int((scaler.get("spec") or {}).get("replicas", 0)))


def _is_owned(lws: LeaderWorkerSet, ds: DisaggregatedSet) -> bool:
    return any(
        owner.controller and owner.uid == ds.metadata.uid for owner in lws.metadata.owner_references
    )


async def _get(client: KubernetesClient, target: _Target) -> Document:
    return await client.get(target.resource, namespace=target.namespace, name=target.name)


def _over(live: LeaderWorkerSet | DisaggregatedSet, manifest: Document) -> Document:
    """The live object with the manifest's spec."""
    document = msgspec.json.decode(live.document)
    return {**document, "spec": manifest.get("spec") or {}}


def _decode(document: Document, decode: Callable[[bytes], T]) -> T:
    try:
        return decode(msgspec.json.encode(document))
    except msgspec.ValidationError as error:
        raise InvalidInput(field=str(document.get("kind", "object")), message=str(error)) from error
