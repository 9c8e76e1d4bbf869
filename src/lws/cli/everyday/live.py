"""Words that a live cluster completes: sets, groups, roles, revisions. Quietly none without it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from lws.api import names
from lws.base.errors import LwsError
from lws.cli.everyday.cluster import (
    Cluster,
    Named,
    find_set,
    named,
    revisions_of,
    sets_in,
)
from lws.cli.everyday.family import Document, group_of, labels_of
from lws.client import resources

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

PATIENCE_SECONDS = 0.4
"""Whoever has pressed Tab waits."""
Words = list[str]
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_NAMESPACES = resources.Resource("", "v1", "namespaces", "Namespace", namespaced=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom to ask, and what has been typed so far."""

    client: "KubernetesClient"
    namespace: str
    incomplete: str
    set_name: str

    async def pods(self) -> list[Document]:
        """Of the set that is named already."""
        found = await self.found()
        if found is None:
            return []
        label = names.DS_NAME if Named.of(found).is_disaggregated else names.NAME
        return await self.listed(resources.PODS, f"{label}={_name_of(found)}")

    async def found(self) -> Document | None:
        """The set that is named already."""
        return await find_set(self.client, self.namespace, named(self.set_name))

    async def listed(
        self, resource: resources.Resource, selector: str | None = None
    ) -> list[Document]:
        """Objects of the namespace."""
        page = await self.client.list_all(
            resource, namespace=self.namespace, label_selector=selector
        )
        return [*page.items]


def _quietly(ask: Callable[[Asked], Awaitable[Words]]) -> Complete:
    """Ask the cluster that the command line names so far; nothing, if anything goes wrong."""

    def complete(
        context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        given = context.params
        place = Cluster(given.get("namespace"), given.get("kubeconfig"), given.get("context"))
        # Behind a flag that lacks its value click stops reading, and has the words before it here.
        typed = given.get("name") or (context.args[0] if context.args else "")
        try:
            words = place.ask(
                lambda client, namespace: ask(Asked(client, namespace, incomplete, typed)),
                seconds=PATIENCE_SECONDS,
            )
        except (LwsError, OSError, ValueError):  # a timeout is an OSError
            return []
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]

    return complete


def _name_of(document: Document) -> str:
    return str(document["metadata"]["name"])


async def _sets(asked: Asked) -> Words:
    found = [Named.of(one) for one in await sets_in(asked.client, asked.namespace)]
    if "/" in asked.incomplete:
        return [f"{one.kind}/{one.name}" for one in found]
    return [one.name for one in found]


async def _lws(asked: Asked) -> Words:
    prefix = "lws/" if "/" in asked.incomplete else ""
    return [f"{prefix}{_name_of(one)}" for one in await asked.listed(resources.LEADERWORKERSETS)]


async def _groups(asked: Asked) -> Words:
    found = {group for pod in await asked.pods() if (group := group_of(pod)) is not None}
    return [str(group) for group in sorted(found)]


async def _roles(asked: Asked) -> Words:
    return sorted({labels_of(pod).get(names.DS_ROLE, "") for pod in await asked.pods()} - {""})


async def _containers(asked: Asked) -> Words:
    parts = ("containers", "initContainers")
    pods = await asked.pods()
    return sorted(
        {one["name"] for pod in pods for part in parts for one in pod["spec"].get(part) or ()}
    )


async def _revisions(asked: Asked) -> Words:
    found = await asked.found()
    if found is None:
        return []
    if Named.of(found).is_disaggregated:
        selector = f"{names.DS_NAME}={_name_of(found)}"
        sets = await asked.listed(resources.LEADERWORKERSETS, selector)
        return sorted({labels_of(one).get(names.DS_REVISION, "") for one in sets} - {""})
    recorded = await revisions_of(asked.client, found)
    return [labels_of(one).get(names.REVISION_KEY, "") for one in recorded]


async def _namespaces(asked: Asked) -> Words:
    return [_name_of(one) for one in (await asked.client.list_all(_NAMESPACES)).items]


sets, lws, groups, roles = map(_quietly, (_sets, _lws, _groups, _roles))
containers, revisions, namespaces = map(_quietly, (_containers, _revisions, _namespaces))
