"""What is typed, and what is printed."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday import live, tables
from lws.cli.everyday.cluster import (
    Cluster,
    Named,
    family_of,
    named,
    revisions_of,
    set_of,
    with_cluster,
)
from lws.cli.everyday.diff import applying, disaggregatedset, leaderworkerset, revisions
from lws.cli.everyday.diff.fields import Difference, lines_of
from lws.cli.everyday.family import Document
from lws.cli.everyday.history import read_revisions
from lws.client import resources

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

EXIT_DIFFERENT = 1
EXIT_TROUBLE = 3
"""Whatever else went wrong; a wrong command line is 2 as everywhere."""


@click.command()
@click.argument("name", required=False, shell_complete=live.sets)
@click.option(
    "--filename", "-f", type=click.Path(), metavar="FILE", help="Manifest to be applied; - is in."
)
@click.option(
    "--from-revision",
    metavar="KEY",
    shell_complete=live.revisions,
    help="A recorded revision, or how its key begins.",
)
@click.option(
    "--to-revision",
    metavar="KEY",
    shell_complete=live.revisions,
    help="Likewise; else the one that the spec wants.",
)
@click.option(
    "--output",
    "-o",
    type=click.Choice(("text", "json", "yaml")),
    default="text",
    help="What to print.",
)
@with_cluster(trouble=EXIT_TROUBLE)
def diff(
    *,
    cluster: Cluster,
    name: str | None,
    filename: str | None,
    from_revision: str | None,
    to_revision: str | None,
    output: str,
) -> None:
    """Say what applying a manifest would change: revision, groups, and which fields matter.

    With NAME alone: what a live set still lacks of its own spec. With NAME and --from-revision:
    what changed between two recorded revisions. Exit code 0: nothing differs, 1: something does,
    more: it cannot be said.
    """
    is_history = from_revision is not None or to_revision is not None
    if (name is None) == (filename is None):
        raise InvalidInput(field="NAME", message="give either the NAME of a set or -f FILE")
    if is_history and (filename is not None or from_revision is None):
        raise InvalidInput(field="--from-revision", message="goes with the NAME of a set")
    documents = [] if filename is None else _manifests(filename)
    wanted = None if name is None else named(name)

    async def ask(client: "KubernetesClient", namespace: str) -> list[Difference]:
        if wanted is None:
            return [await _of_manifest(client, one, namespace, cluster) for one in documents]
        found = await set_of(client, namespace, wanted)
        return [await _of_live(client, found, from_revision, to_revision, is_history)]

    found = cluster.ask(ask)
    _show(found, output)
    sys.exit(0 if all(one.is_none for one in found) else EXIT_DIFFERENT)


def _manifests(filename: str) -> list[Document]:
    from lws.cli.plan.manifests import read_documents, require_valid  # loads the schemas

    documents = read_documents(filename)
    for document in documents:
        require_valid(document)
    return documents


async def _of_manifest(
    client: "KubernetesClient", manifest: Document, namespace: str, cluster: Cluster
) -> Difference:
    where, name = applying.place_of(manifest, namespace, typed=cluster.namespace)
    live = await applying.live_of(client, manifest, where, name)
    after = await applying.applied(client, manifest, live, where)
    if manifest["kind"] == names.KIND:
        if live is None:
            return leaderworkerset.created(after)
        return leaderworkerset.difference(await _standing(client, live), after)
    if live is None:
        return disaggregatedset.created(after)
    return disaggregatedset.difference(await _standing_roles(client, live), after)


async def _of_live(
    client: "KubernetesClient", live: Document, old: str | None, new: str | None, is_history: bool
) -> Difference:
    if Named.of(live).is_disaggregated:
        roles = await _standing_roles(client, live)
        if is_history:
            return revisions.between_roles(roles, old, new)
        return disaggregatedset.pending(roles)
    standing = await _standing(client, live)
    if is_history:
        return revisions.between(standing, old, new)
    return leaderworkerset.pending(standing)


async def _standing(client: "KubernetesClient", live: Document) -> leaderworkerset.Standing:
    family = await family_of(client, live)
    recorded = read_revisions(await revisions_of(client, live))
    return leaderworkerset.Standing(family, tuple(recorded))


async def _standing_roles(client: "KubernetesClient", live: Document) -> disaggregatedset.Standing:
    metadata = live["metadata"]
    sets = await client.list_all(
        resources.LEADERWORKERSETS,
        namespace=metadata["namespace"],
        label_selector=f"{names.DS_NAME}={metadata['name']}",
    )
    return disaggregatedset.standing_of(live, sets.items)


def _show(found: Sequence[Difference], output: str) -> None:
    if output in ("json", "yaml"):
        documents = [one.as_document() for one in found]
        tables.show_document(documents[0] if len(documents) == 1 else documents, output)
        return
    for one in found:
        for line in lines_of(one, colour=tables.wants_colour()):
            click.echo(line)
