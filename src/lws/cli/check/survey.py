"""Walks a cluster in portions, each small enough to be held whole, and forgets each."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from lws.api import names
from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.cli.check import intents, objects, returning
from lws.cli.check.definitions import Unknown, used_fields
from lws.cli.check.findings import Finding, Findings, Inventory, Severity, Subject, Topic
from lws.cli.check.reading import find, pages
from lws.client import resources
from lws.client.errors import Forbidden
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.client.responses import JsonObject
from lws.controllers.rehearsal import DisaggregatedRehearsal, Rehearsed, SetRehearsal
from lws.manager.gang import ConfiguredGang, resources_of

PORTION = 50
"""So many sets of one namespace at a time: their names fit into one selector of a request."""


class Survey:
    """One walk; what it sees is counted in `inventory`, what it has to say in `findings`."""

    def __init__(
        self,
        client: KubernetesClient,
        clock: Clock,
        *,
        inventory: Inventory,
        unknown: Sequence[Unknown] = (),
        gang: ConfiguredGang | None = None,
        back: bool = False,
    ) -> None:
        """`unknown`: fields that our definitions do not know; `back`: judge the way back too."""
        self._client, self._clock = client, clock
        self._inventory = inventory
        self._unknown = {one.kind: one for one in unknown}
        self._gang = gang
        self.findings = Findings()
        self._back = back
        self.gangs: dict[str, Subject] = {}
        """Gang schedulers that pods are marked for, with one of those pods."""
        self._denied: set[str] = set()

    async def leaderworkersets(self, namespace: str | None) -> None:
        """All of a namespace, or of all."""
        async for portion in self._portions(resources.LEADERWORKERSETS, namespace):
            rehearsal = SetRehearsal(
                self._client,
                self._clock,
                gang=self._gang,
                pod_groups=None if self._gang is None else self._gang.resource,
            )
            standing = self._sets(portion, kind=names.KIND, put=rehearsal.put_sets)
            for space, group in _by_namespace(standing):
                await self._family(rehearsal, space, group)
            await self._tell(await rehearsal.run(), kind=names.KIND)

    async def disaggregatedsets(self, namespace: str | None) -> None:
        """All of a namespace, or of all."""
        async for portion in self._portions(resources.DISAGGREGATEDSETS, namespace):
            rehearsal = DisaggregatedRehearsal(self._client, self._clock)
            standing = self._sets(portion, kind=names.DS_KIND, put=rehearsal.put_sets)
            for space, group in _by_namespace(standing):
                selector = f"{names.DS_NAME} in ({','.join(map(_name, group))})"
                async for page in self._pages(resources.LEADERWORKERSETS, space, selector):
                    self._put(page, Kind.LEADER_WORKER_SET, rehearsal.put_leaderworkersets)
                async for page in self._pages(resources.SERVICES, space, selector):
                    self._inventory.count("Service", len(page))
                    self._put(page, Kind.SERVICE, rehearsal.put_services)
                scalers = resources.DISAGGREGATEDSETROLESCALERS
                async for page in self._pages(scalers, space, selector):
                    self._inventory.count(scalers.kind, len(page))
                    self._put(page, Kind.ROLE_SCALER, rehearsal.put_scalers)
            await self._tell(await rehearsal.run(), kind=names.DS_KIND)

    async def _family(
        self, rehearsal: SetRehearsal, namespace: str, sets: Sequence[JsonObject]
    ) -> None:
        """What belongs to some sets of one namespace."""
        wanted = f"in ({','.join(map(_name, sets))})"
        selector = f"{names.NAME} {wanted}"
        leaders: dict[str, JsonObject] = {}
        async for page in self._pages(resources.STATEFULSETS, namespace, selector):
            self._seen(page, Kind.STATEFUL_SET)
            for item in page:
                if names.GROUP_INDEX not in item["metadata"].get("labels", {}):
                    self.findings.add(objects.judge_application(item))
                    leaders[item["metadata"]["name"]] = item
            self._put(page, Kind.STATEFUL_SET, rehearsal.put_statefulsets)
        async for page in self._pages(resources.SERVICES, namespace, selector):
            self._seen(page, Kind.SERVICE)
            self._put(page, Kind.SERVICE, rehearsal.put_services)
        await self._revisions(rehearsal, namespace, sets, leaders)
        async for page in self._pages(resources.PODS, namespace, selector):
            self._pods(page)
            self._put(page, Kind.POD, rehearsal.put_pods)
        if self._gang is not None:
            async for page in self._pages(self._gang.resource, namespace, selector):
                self._seen(page, Kind.POD_GROUP)
                self._put(page, Kind.POD_GROUP, rehearsal.put_pod_groups)

    async def _revisions(
        self,
        rehearsal: SetRehearsal,
        namespace: str,
        sets: Sequence[JsonObject],
        leaders: Mapping[str, JsonObject],
    ) -> None:
        """Active and retired ones of some sets, and not those of the StatefulSet controller."""
        wanted = f"in ({','.join(map(_name, sets))})"
        active = f"{names.NAME} {wanted},!{names.STATEFULSET_REVISION_HASH}"
        async for page in self._pages(resources.CONTROLLERREVISIONS, namespace, active):
            self._seen(page, Kind.CONTROLLER_REVISION)
            self._put(page, Kind.CONTROLLER_REVISION, rehearsal.put_revisions)
            if self._back:
                self._judge_return(sets, leaders, page)
        retired = f"{names.HISTORY_OF} {wanted}"
        async for page in self._pages(resources.CONTROLLERREVISIONS, namespace, retired):
            self._seen(page, Kind.CONTROLLER_REVISION)
            self._put(
                page,
                Kind.CONTROLLER_REVISION,
                lambda these: rehearsal.put_revisions(these, retired=True),
            )

    def _judge_return(
        self,
        sets: Sequence[JsonObject],
        leaders: Mapping[str, JsonObject],
        revisions: Sequence[JsonObject],
    ) -> None:
        by_name = {_name(lws): lws for lws in sets}
        for revision in revisions:
            labels = revision["metadata"]["labels"]
            leader = leaders.get(labels[names.NAME])
            key = labels.get(names.REVISION_KEY)
            if leader is None or leader["metadata"]["labels"].get(names.REVISION_KEY) != key:
                continue
            self.findings.add(returning.judge_strategy(leader))
            self.findings.add(returning.judge_spelling(by_name[labels[names.NAME]], revision))

    def _pods(self, page: Sequence[JsonObject]) -> None:
        self._inventory.count("Pod", len(page))
        marker = None if self._gang is None else self._gang.provider
        for pod in page:
            self.findings.add(objects.judge_pod(pod, marker=marker))
            gang = objects.gang_of(pod)
            if gang is not None:
                metadata = pod["metadata"]
                self.gangs.setdefault(gang, Subject("Pod", metadata["namespace"], metadata["name"]))

    def _sets(self, portion: Sequence[JsonObject], *, kind: str, put: Any) -> list[JsonObject]:
        """Those that can be read."""
        self._seen(portion, kind)
        readable = []
        for document in portion:
            self.findings.add(objects.judge_set(document, kind=kind))
            if self._back:
                self.findings.add(returning.judge_additions(document, kind=kind))
            unknown = self._unknown.get(kind)
            used = [] if unknown is None else used_fields(document, unknown)
            if used:
                self.findings.add([_lost(document, kind, used)])
            if self._put([document], kind, put):
                readable.append(document)
        return readable

    def _seen(self, page: Sequence[JsonObject], kind: Kind | str) -> None:
        word = kind if isinstance(kind, str) else kind.kind
        self._inventory.count(word, len(page))
        for item in page:
            self._inventory.count_managers(word, objects.managers_of(item))
            if word not in (names.KIND, names.DS_KIND):
                self.findings.add(objects.judge_managers(item, kind=word))

    def _put(self, page: Iterable[JsonObject], kind: Kind | str, put: Any) -> bool:
        """Into the caches; whether all could be read."""
        word = kind if isinstance(kind, str) else kind.kind
        is_whole = True
        for item in page:
            try:
                put([msgspec.json.encode(item)])
            except msgspec.ValidationError as error:
                is_whole = False
                metadata = item["metadata"]
                about = Subject(word, metadata.get("namespace", ""), metadata["name"])
                self.findings.add([_unreadable(about, str(error))])
        return is_whole

    async def _tell(self, rehearsed: Sequence[Rehearsed], *, kind: str) -> None:
        for one in rehearsed:
            of = Subject(kind, one.namespace, one.name)
            self.findings.add(map(intents.obstacle_of, one.obstacles))
            for action in one.actions:
                live = None
                if intents.reads_live(action):
                    live = await self._live(action)
                finding = intents.finding_of(action, of=of, live=live)
                if finding is not None:
                    self.findings.add([finding])

    async def _live(self, action: Any) -> JsonObject | None:
        resource = resources_of(self._gang)[action.kind]
        return await find(self._client, resource, action.name, action.namespace)

    async def _portions(
        self, resource: Resource, namespace: str | None
    ) -> AsyncIterator[list[JsonObject]]:
        async for page in self._pages(resource, namespace, None, size=PORTION):
            yield page

    async def _pages(
        self, resource: Resource, namespace: str | None, selector: str | None, *, size: int = 500
    ) -> AsyncIterator[list[JsonObject]]:
        """Nothing, and a finding, where we may not look."""
        try:
            async for page in pages(
                self._client, resource, namespace=namespace, selector=selector, size=size
            ):
                yield page
        except Forbidden as error:
            if resource.plural not in self._denied:
                self._denied.add(resource.plural)
                self.findings.add([denied(resource, error)])


def denied(resource: Resource, error: Forbidden) -> Finding:
    """What could not be looked at."""
    group = f".{resource.group}" if resource.group else ""
    return Finding(
        severity=Severity.ERROR,
        topic=Topic.RIGHT,
        about=Subject(resource.kind),
        message=f"may not be read, so nothing is known of any: {error.message}",
        hint=f"ask for the right to get and list {resource.plural}{group}",
    )


def _lost(document: JsonObject, kind: str, used: Sequence[str]) -> Finding:
    metadata = document["metadata"]
    return Finding(
        severity=Severity.ERROR,
        topic=Topic.DEFINITION,
        about=Subject(kind, metadata["namespace"], metadata["name"]),
        message="uses fields that our definition does not know: they would be lost",
        fields=tuple(used),
        hint="take a newer version of ours, or do without the fields",
    )


def _unreadable(about: Subject, why: str) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        topic=Topic.CHANGE,
        about=about,
        message=f"cannot be read by this operator, which would leave it alone: {why}",
        hint="mend the field",
    )


def _by_namespace(
    sets: Sequence[JsonObject],
) -> Iterable[tuple[str, list[JsonObject]]]:
    ordered = sorted(sets, key=_namespace)
    return [(space, list(group)) for space, group in groupby(ordered, key=_namespace)]


def _namespace(document: JsonObject) -> str:
    return str(document["metadata"]["namespace"])


def _name(document: JsonObject) -> str:
    return str(document["metadata"]["name"])
