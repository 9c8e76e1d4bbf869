"""`lws get`, `tree`, `status`, `history`: nothing is written."""

import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from lws.api import names
from lws.base.clock import Clock
from lws.cli.everyday import live, tables
from lws.cli.everyday.cluster import (
    Cluster,
    Named,
    family_of,
    lws_of,
    name_of,
    named,
    refusals_in,
    revisions_of,
    roles_of,
    set_of,
    sets_in,
    with_cluster,
)
from lws.cli.everyday.family import Document
from lws.cli.everyday.groups import lacks_pods
from lws.cli.everyday.roles import Found, status_of_roles
from lws.cli.everyday.status import Status, status_of
from lws.cli.numbers import Seconds
from lws.client.errors import Retryable
from lws.runtime.clock import RealClock

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

LOOK_SECONDS = 1.0

_output = click.option(
    "--output",
    "-o",
    type=click.Choice(tables.OUTPUTS),
    default="table",
    help="What to print; wide tells more.",
)


@click.command()
@click.argument("name", required=False, shell_complete=live.sets)
@click.option("--all-namespaces", "-A", is_flag=True, help="Of every namespace.")
@_output
@with_cluster
def get(*, cluster: Cluster, name: str | None, all_namespaces: bool, output: str) -> None:
    """List LeaderWorkerSets and DisaggregatedSets, or show one, and what it lacks."""
    wanted = None if name is None else named(name)
    if wanted is not None and all_namespaces:
        raise click.UsageError("a NAME is of one namespace; leave out -A or the NAME")

    is_data = output in ("json", "yaml")

    async def ask(client: "KubernetesClient", namespace: str) -> tuple[list[Document], list[str]]:
        if wanted is None:
            return await sets_in(client, None if all_namespaces else namespace), []
        found = await set_of(client, namespace, wanted)
        return [found], [] if is_data else (await _status_of(client, found)).lines[1:]

    sets, held = cluster.ask(ask)
    if is_data:
        listed = {"apiVersion": "v1", "kind": "List", "items": sets}
        tables.show_document(listed if wanted is None else sets[0], output)
        return
    for table in _tables(sets, wide=output == "wide", namespaces=all_namespaces):
        click.echo("\n".join(table))
    for line in held:
        click.echo(line)
    if not sets:
        click.echo("no set here; lws get -A looks in every namespace", err=True)


def _tables(sets: list[Document], *, wide: bool, namespaces: bool) -> Iterator[list[str]]:
    """One for each kind that there is."""
    is_first = True
    for kind, table in ((names.DS_KIND, tables.roles_table), (names.KIND, tables.sets_table)):
        of_kind = [one for one in sets if one["kind"] == kind]
        if of_kind:
            lines = table(
                of_kind,
                now=RealClock().now(),
                wide=wide,
                namespaces=namespaces,
                colour=tables.wants_colour(),
            )
            yield lines if is_first else ["", *lines]
            is_first = False


@click.command()
@click.argument("name", shell_complete=live.sets)
@_output
@with_cluster
def tree(*, cluster: Cluster, name: str, output: str) -> None:
    """Show a set group by group: pods, nodes, restarts, and why they are not ready."""
    wanted = named(name)

    async def ask(client: "KubernetesClient", namespace: str) -> Found:
        return await _look(client, namespace, wanted)

    found = cluster.ask(ask)
    if output in ("json", "yaml"):
        tables.show_document(found.as_document(), output)
        return
    now, wide, colour = RealClock().now(), output == "wide", tables.wants_colour()
    if isinstance(found, Status):
        lines = tables.tree_lines(found, now=now, wide=wide, colour=colour)
    else:
        lines = tables.roles_tree(found, now=now, wide=wide, colour=colour)
    click.echo("\n".join(lines))


async def _look(client: "KubernetesClient", namespace: str, wanted: Named) -> Found:
    return await _status_of(client, await set_of(client, namespace, wanted))


async def _status_of(client: "KubernetesClient", found: Document) -> Found:
    now = RealClock().now()
    if Named.of(found).is_disaggregated:
        roles = await roles_of(client, found)
        short = [family.lws for family in roles.members() if lacks_pods(family)]
        if short:
            roles = replace(roles, refused=await refusals_in(client, short, now=now))
        return status_of_roles(roles)
    family = await family_of(client, found)
    if lacks_pods(family):
        family = replace(family, refused=await refusals_in(client, [found], now=now))
    return status_of(family)


@click.command()
@click.argument("name", shell_complete=live.sets)
@click.option("--watch", "-w", is_flag=True, help="Tell what changes until it is available.")
@click.option(
    "--timeout", type=Seconds(min=0), metavar="SECONDS", help="Of --watch; else for ever."
)
@_output
@with_cluster
def status(*, cluster: Cluster, name: str, watch: bool, timeout: float | None, output: str) -> None:
    """Is a set available? Exit code 0: yes, 1: no, 2: the command is wrong."""
    wanted = named(name)
    if timeout is not None and not watch:
        raise click.UsageError("--timeout goes with --watch")

    async def ask(client: "KubernetesClient", namespace: str) -> bool:
        async def look() -> Found:
            return await _look(client, namespace, wanted)

        def show(found: Found) -> None:
            _show_status(found, output)

        if watch:
            return await watch_status(look, show, seconds=timeout, clock=RealClock())
        found = await look()
        show(found)
        return found.available

    sys.exit(0 if cluster.ask(ask) else 1)


async def watch_status(
    look: Callable[[], Awaitable[Found]],
    show: Callable[[Found], None],
    *,
    seconds: float | None,
    clock: Clock,
) -> bool:
    """Show each change until the set is available, or time is up; whether it is available.

    A server that is away for a moment is sat out once it has answered.
    """
    until = None if seconds is None else clock.monotonic() + seconds
    shown: Found | None = None
    while True:
        is_late = until is not None and clock.monotonic() >= until
        try:
            found = await look()
        except Retryable:
            if shown is None or is_late:
                raise
        else:
            if shown is None or found.lines != shown.lines:
                show(found)
            shown = found
            if found.available or is_late:
                return found.available
        await clock.sleep(LOOK_SECONDS)


def _show_status(found: Found, output: str) -> None:
    if output in ("json", "yaml"):
        tables.show_document(found.as_document(), output)
        return
    colour = tables.wants_colour()
    title, *rest = found.lines
    head, _, tail = title.partition(f": {found.state}, ")
    click.echo(f"{head}: {tables.painted(found.state, colour=colour)}, {tail}")
    for line in [*rest, *found.ready_lines] if output == "wide" else rest:
        click.echo(line)


@click.command()
@click.argument("name", shell_complete=live.lws)
@_output
@with_cluster
def history(*, cluster: Cluster, name: str, output: str) -> None:
    """Show the recorded revisions, and the fields that changed from one to the next.

    wanted: what the spec says; active: groups may still run it; retired: kept to go back to.
    """
    from lws.cli.everyday.history import history_of  # loads the planner

    wanted = name_of(name)

    async def ask(client: "KubernetesClient", namespace: str) -> tuple[Document, list[Document]]:
        lws = await lws_of(client, namespace, wanted)
        return lws, await revisions_of(client, lws)

    found = history_of(*cluster.ask(ask))
    if output in ("json", "yaml"):
        tables.show_document([one.as_document() for one in reversed(found)], output)
        return
    lines = tables.history_lines(found, now=RealClock().now(), wide=output == "wide")
    click.echo("\n".join(lines))
