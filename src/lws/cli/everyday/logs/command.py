"""What is typed, and what is printed."""

import json
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday import live
from lws.cli.everyday.cluster import Cluster, Named, find_set, named, set_of, with_cluster
from lws.cli.everyday.family import Document, group_of, wanted_groups
from lws.cli.everyday.logs.following import Following
from lws.cli.everyday.logs.reading import Extent, Reading, Told
from lws.cli.everyday.logs.sources import (
    Choice,
    Source,
    missing,
    require_few,
    require_groups,
    seconds_of,
    sources_of,
)
from lws.cli.everyday.tables import wants_colour
from lws.client import resources
from lws.runtime.clock import RealClock

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

_BASIC = ("cyan", "green", "yellow", "magenta", "blue")
COLOURS = (*_BASIC, *(f"bright_{name}" for name in _BASIC))


@dataclass(frozen=True, slots=True)
class Look:
    """The pods of a set, asked for again and again."""

    client: "KubernetesClient"
    namespace: str
    named: Named
    choice: Choice

    async def pods(self) -> list[Document]:
        """All that belong to the set."""
        label = names.DS_NAME if self.named.is_disaggregated else names.NAME
        found = await self.client.list_all(
            resources.PODS, namespace=self.namespace, label_selector=f"{label}={self.named.name}"
        )
        return [*found.items]

    async def sources(self) -> Sequence[Source] | None:
        """Those that are wanted; None if the set is gone, and all its pods."""
        pods = await self.pods()
        if not pods and await find_set(self.client, self.namespace, self.named) is None:
            return None
        sources = sources_of(pods, self.choice)
        require_few(sources)
        return sources


class Printer:
    """Puts a label before each line, as wide as the widest so far."""

    def __init__(self, *, timestamps: bool, output: str, colour: bool) -> None:
        self._timestamps = timestamps
        self._output = output
        self._colours: dict[str, str] | None = {} if colour else None
        self._width = 0

    def expect(self, labels: Sequence[str]) -> None:
        """Labels that are going to be printed."""
        self._width = max([self._width, *map(len, labels)])

    def show(self, lines: Sequence[Told]) -> None:
        """On stdout, at once."""
        self.expect([told.source.label for told in lines])
        if lines:
            click.echo("\n".join(map(self.text, lines)))

    def text(self, told: Told) -> str:
        """One line as it is printed."""
        source, line = told
        if self._output == "json":
            where = {"pod": source.pod, "container": source.container}
            return json.dumps({"time": line.time, **where, "line": line.text}, ensure_ascii=False)
        label = f"{source.label:<{self._width}}"
        if self._colours is not None:
            number = len(self._colours) % len(COLOURS)
            label = click.style(label, fg=self._colours.setdefault(source.label, COLOURS[number]))
        time = f"{line.time} " if self._timestamps and line.time else ""
        return f"{label} | {time}{line.text}"


def _tell(label: str, words: str) -> None:
    click.echo(f"{label}: {words}", err=True)


@click.command()
@click.argument("name", shell_complete=live.sets)
@click.option(
    "--group",
    "-g",
    type=click.IntRange(min=0),
    multiple=True,
    metavar="N",
    shell_complete=live.groups,
    help="Only this group; may be given again.",
)
@click.option(
    "--role",
    metavar="NAME",
    shell_complete=live.roles,
    help="Only this role of a DisaggregatedSet.",
)
@click.option(
    "--container",
    "-c",
    metavar="NAME",
    shell_complete=live.containers,
    help="Else the pod's default one, or its first.",
)
@click.option("--follow", "-f", is_flag=True, help="Go on until Ctrl-C, restarts and all.")
@click.option("--previous", "-p", is_flag=True, help="Of the run before the last restart.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Last lines of each pod.")
@click.option("--since", metavar="SPAN", help="Not older than this, such as 30s, 5m or 1h30m.")
@click.option("--timestamps", is_flag=True, help="The time before each line.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(("text", "json")),
    default="text",
    help="json: an object a line, with its time, pod and container.",
)
@with_cluster
def logs(
    *,
    cluster: Cluster,
    name: str,
    group: tuple[int, ...],
    role: str | None,
    container: str | None,
    follow: bool,
    previous: bool,
    tail: int | None,
    since: str | None,
    timestamps: bool,
    output: str,
) -> None:
    """Show the logs of a set's pods side by side, by the time at which each line was written.

    NAME is vllm, lws/vllm or ds/chat. What a pod has no log for is said on stderr.
    """
    if follow and previous:
        raise click.UsageError("--previous is over and cannot be followed; leave out one of them")
    wanted = named(name)
    if role is not None and wanted.kind == "lws":
        raise InvalidInput(field="--role", message="a LeaderWorkerSet has no roles; leave it out")
    choice = Choice(groups=group, role=role, container=container)
    extent = Extent(
        previous=previous,
        since_seconds=None if since is None else seconds_of(since),
        tail_lines=tail,
    )
    printer = Printer(timestamps=timestamps, output=output, colour=wants_colour())

    async def ask(client: "KubernetesClient", namespace: str) -> int:
        found = await set_of(client, namespace, wanted)
        look = Look(client, namespace, Named.of(found), choice)
        sources = await _begin(look, found)
        printer.expect([source.label for source in sources])
        if follow:
            following = Following(
                client, look.sources, extent=extent, tell=_tell, clock=RealClock()
            )
            await following.run(printer.show)
            return 0
        reading = Reading(client, extent, _tell)
        async with aclosing(reading.lines(sources)) as lines:
            async for told in lines:
                printer.show([told])
        return reading.failures

    if cluster.ask(ask):
        sys.exit(1)


async def _begin(look: Look, found: Document) -> list[Source]:
    """The sources there are; InvalidInput if what was asked for cannot be."""
    if look.choice.role is not None and not look.named.is_disaggregated:
        raise InvalidInput(field="--role", message="a LeaderWorkerSet has no roles; leave it out")
    pods = await look.pods()
    wanted = None if look.named.is_disaggregated else wanted_groups(found)
    require_groups(pods, look.choice, wanted=wanted)
    there = {group_of(pod) for pod in pods}
    for words in missing(look.choice, there):
        click.echo(words, err=True)
    sources = sources_of(pods, look.choice)
    require_few(sources)
    if not sources:
        click.echo(f"{look.named.name} has no pods yet", err=True)
    return sources
