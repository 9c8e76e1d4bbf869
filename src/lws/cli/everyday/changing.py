"""`lws undo`, `pause`, `resume`, `restart`: one write each, refused where it would not last."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday import live
from lws.cli.everyday.cluster import Cluster, lws_of, name_of, revisions_of, with_cluster
from lws.cli.everyday.family import Document, group_of
from lws.cli.everyday.history import Undo
from lws.cli.everyday.history import undo as plan_undo
from lws.client import errors, resources
from lws.client.requests import PatchType, Propagation

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

FIELD_MANAGER = "lws-cli"
TRIES = 5
MANIFEST_NOTE = "note: change your manifest too, or the next apply undoes this"


@click.command()
@click.argument("name", shell_complete=live.lws)
@click.option(
    "--to",
    metavar="KEY",
    shell_complete=live.revisions,
    help="Key of a revision, or how it begins; else the last.",
)
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
@with_cluster
def undo(*, cluster: Cluster, name: str, to: str | None, dry_run: bool) -> None:
    """Put a recorded template back into the spec; the set then rolls to it as to any other."""
    wanted = name_of(name)

    async def ask(client: "KubernetesClient", namespace: str) -> Undo:
        return await go_back(client, namespace, name=wanted, to=to, dry_run=dry_run)

    plan = cluster.ask(ask)
    if not plan.patch:
        click.echo(f"{wanted} is at revision {plan.key} already")
        return
    click.echo(f"{wanted} {'would go' if dry_run else 'goes'} back to revision {plan.key}:")
    for change in plan.changes:
        click.echo(f"  {change}")
    for note in (*(f"note: {one}" for one in plan.notes), MANIFEST_NOTE):
        click.echo(note, err=True)


async def go_back(
    client: "KubernetesClient", namespace: str, *, name: str, to: str | None, dry_run: bool
) -> Undo:
    """Patch the spec back; Conflict if somebody else has changed it since it was read.

    While groups come and go the operator writes the status often; that is no reason to give up.
    """
    lws = await _own(client, namespace, name)
    for _ in range(TRIES):
        plan = plan_undo(lws, await revisions_of(client, lws), to=to)
        if not plan.patch:
            return plan
        try:
            await client.patch(
                resources.LEADERWORKERSETS,
                namespace=namespace,
                name=name,
                body=plan.patch,
                patch_type=PatchType.JSON,
                field_manager=FIELD_MANAGER,
                dry_run=dry_run,
            )
        except errors.Conflict:
            newer = await _own(client, namespace, name)
            if _identity(newer) != _identity(lws):
                raise
            lws = newer
        else:
            return plan
    raise errors.Conflict(f"LeaderWorkerSet {name} changes all the time")


def _identity(lws: Document) -> tuple[str, int]:
    """The same as long as nobody has changed the spec. Pure."""
    return lws["metadata"]["uid"], lws["metadata"]["generation"]


@click.command()
@click.argument("name", shell_complete=live.lws)
@with_cluster
def pause(*, cluster: Cluster, name: str) -> None:
    """Let a running update take no further group; scaling and restarts go on."""
    _set_paused(cluster, name_of(name), paused=True)


@click.command()
@click.argument("name", shell_complete=live.lws)
@with_cluster
def resume(*, cluster: Cluster, name: str) -> None:
    """Let a paused update go on."""
    _set_paused(cluster, name_of(name), paused=False)


def _set_paused(cluster: Cluster, name: str, *, paused: bool) -> None:
    word = "paused" if paused else "not paused"

    async def ask(client: "KubernetesClient", namespace: str) -> bool:
        lws = await _own(client, namespace, name)
        if bool(lws["spec"].get("paused")) == paused:
            return False
        after = await client.patch(
            resources.LEADERWORKERSETS,
            namespace=namespace,
            name=name,
            body={"spec": {"paused": True if paused else None}},
            patch_type=PatchType.MERGE,
            field_manager=FIELD_MANAGER,
        )
        if bool(after["spec"].get("paused")) != paused:
            message = "this cluster's LeaderWorkerSet has no such field: apply deploy/crds"
            raise InvalidInput(field="spec.paused", message=message)
        return True

    changed = cluster.ask(ask)
    click.echo(f"{name} is {word}" if changed else f"{name} is {word} already")
    if changed:
        click.echo(MANIFEST_NOTE, err=True)


@click.command()
@click.argument("name", shell_complete=live.lws)
@click.option(
    "--group",
    type=click.IntRange(min=0),
    metavar="N",
    shell_complete=live.groups,
    help="Only this group; else all at once.",
)
@with_cluster
def restart(*, cluster: Cluster, name: str, group: int | None) -> None:
    """Make groups anew: delete their leader pods, and with each all of its workers.

    Without --group every group goes at once, so nothing serves meanwhile, whatever maxUnavailable
    says. To have them go one after the other, restart them by number and await each with
    lws status --watch.
    """
    wanted = name_of(name)

    async def ask(client: "KubernetesClient", namespace: str) -> list[str]:
        lws = await lws_of(client, namespace, wanted)
        selector = f"{names.NAME}={wanted},{names.WORKER_INDEX}=0"
        listed = await client.list_all(resources.PODS, namespace=namespace, label_selector=selector)
        leaders = leaders_to_end(lws, listed.items, group=group)
        return [one for one in leaders if await _end(client, leaders[one])]

    ended = cluster.ask(ask)
    for one in ended:
        click.echo(f"group {one} is made anew")
    if not ended:
        click.echo("nothing to do: the groups are being made anew already")


async def _end(client: "KubernetesClient", leader: Document) -> bool:
    """Delete this very pod, its workers first; False if it is gone already."""
    metadata = leader["metadata"]
    try:
        await client.delete(
            resources.PODS,
            namespace=metadata["namespace"],
            name=metadata["name"],
            propagation=Propagation.FOREGROUND,
            uid=metadata["uid"],
        )
    except (errors.NotFound, errors.Conflict):
        return False
    return True


def leaders_to_end(
    lws: Document, leaders: Sequence[Document], *, group: int | None
) -> dict[str, Document]:
    """Leader pods by group, those that are going already left out. Pure."""
    name = lws["metadata"]["name"]
    found = {str(index): pod for pod in leaders if (index := group_of(pod)) is not None}
    if group is not None and str(group) not in found:
        there = ", ".join(sorted(found, key=_number)) or "none"
        message = f"{name} has no group {group} with a leader; there are: {there}"
        raise InvalidInput(field="--group", message=message)
    chosen = sorted(found, key=_number) if group is None else [str(group)]
    return {one: found[one] for one in chosen if not _is_going(found[one])}


def _number(index: str) -> int:
    return int(index) if index.isdigit() else -1


def _is_going(pod: Document) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


async def _own(client: "KubernetesClient", namespace: str, name: str) -> Document:
    """The set, if it is its own master; InvalidInput names what writes its spec."""
    lws = await lws_of(client, namespace, name)
    owner = owner_of(lws)
    if owner:
        message = f"belongs to {owner}, which would put it back: change that one"
        raise InvalidInput(field=name, message=message)
    return lws


def owner_of(lws: Document) -> str:
    """Kind and name of the controller that writes the set's spec, empty if there is none. Pure."""
    owners = lws["metadata"].get("ownerReferences") or ()
    return next((f"{one['kind']} {one['name']}" for one in owners if one.get("controller")), "")
