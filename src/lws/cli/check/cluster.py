"""The whole check: definitions, lease, webhooks, then every set."""

from collections.abc import Sequence
from dataclasses import dataclass

from lws.api.crds import custom_resource_definitions
from lws.base.clock import Clock
from lws.cli.check import deployments, hooks, leases
from lws.cli.check.definitions import Unknown, judge_definition, unknown_fields
from lws.cli.check.findings import (
    Finding,
    Inventory,
    Report,
    Severity,
    Subject,
    Topic,
)
from lws.cli.check.reading import find, pages
from lws.cli.check.survey import Survey, denied
from lws.client import resources
from lws.client.errors import Forbidden
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import Request
from lws.client.resources import Resource
from lws.client.responses import JsonObject
from lws.manager.gang import ConfiguredGang, configured_gang


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed."""

    namespaces: tuple[str, ...] = ()
    """Empty: all."""
    operator_namespace: str = "lws-system"
    provider: str | None = None
    """Of gang scheduling, as ours would be configured."""
    back: bool = False
    """Judge the way back to the public controller too."""


async def check_cluster(client: KubernetesClient, clock: Clock, asked: Asked) -> Report:
    """Look at everything once; InvalidInput: there is no such provider."""
    return await _Check(client, clock, asked, configured_gang(asked.provider)).run()


class _Check:
    def __init__(
        self,
        client: KubernetesClient,
        clock: Clock,
        asked: Asked,
        gang: ConfiguredGang | None,
    ) -> None:
        self._client, self._clock, self._asked = client, clock, asked
        self._gang = gang
        self._inventory = Inventory(namespaces=asked.namespaces)
        self._findings: list[Finding] = []

    async def run(self) -> Report:
        version = await self._client.request_object(
            Request("GET", "/version", verb="get", resource="version")
        )
        self._inventory.server = str(version.get("gitVersion", ""))
        unknown = await self._definitions()
        await self._deployment()
        await self._lease()
        await self._webhooks()
        survey = Survey(
            self._client,
            self._clock,
            inventory=self._inventory,
            unknown=unknown,
            gang=self._gang,
            back=self._asked.back,
        )
        for namespace in self._asked.namespaces or (None,):
            await survey.leaderworkersets(namespace)
            await survey.disaggregatedsets(namespace)
        self._findings += survey.findings.all()
        await self._judge_gang(survey)
        order = list(Severity)
        self._findings.sort(key=lambda one: order.index(one.severity))
        return Report(self._inventory, tuple(self._findings))

    async def _definitions(self) -> list[Unknown]:
        unknown: list[Unknown] = []
        for ours in custom_resource_definitions():
            name = ours["metadata"]["name"]
            try:
                live = await find(self._client, resources.CRDS, name)
            except Forbidden as error:
                self._findings.append(denied(resources.CRDS, error))
                return unknown
            self._findings += judge_definition(ours, live)
            self._inventory.definitions[name] = "not installed"
            if live is not None:
                served = [one["name"] for one in live["spec"]["versions"] if one.get("served")]
                self._inventory.definitions[name] = ", ".join(served)
                unknown.append(unknown_fields(ours, live))
        return unknown

    async def _deployment(self) -> None:
        namespace = self._asked.operator_namespace
        try:
            live = await find(self._client, resources.DEPLOYMENTS, deployments.NAME, namespace)
        except Forbidden as error:
            self._findings.append(denied(resources.DEPLOYMENTS, error))
            return
        if live is not None:
            self._findings += deployments.judge_deployment(live)

    async def _lease(self) -> None:
        """In whatever namespace; in the operator's own, if only that may be read."""
        by_name = f"metadata.name={leases.NAME}"
        try:
            found = await self._all(resources.LEASES, field_selector=by_name)
        except Forbidden:
            try:
                own = await find(
                    self._client, resources.LEASES, leases.NAME, self._asked.operator_namespace
                )
            except Forbidden as error:
                self._inventory.lease = "may not be read"
                self._findings.append(denied(resources.LEASES, error))
                return
            found = [] if own is None else [own]
        now = self._clock.now()
        held = [one for one in found if leases.is_held(one, now=now)] or found
        first = held[0] if held else None
        image = None if first is None else await self._image(first)
        self._inventory.lease = leases.lease_line(first, image=image, now=now)
        self._findings += leases.judge_leases(
            found, namespace=self._asked.operator_namespace, now=now
        )

    async def _image(self, lease: JsonObject) -> str | None:
        """What the holder runs: its identity begins with the name of its pod."""
        name = leases.holder_of(lease).partition("_")[0]
        if not name:
            return None
        namespace = lease["metadata"]["namespace"]
        try:
            pod = await find(self._client, resources.PODS, name, namespace)
        except Forbidden:
            return None
        return None if pod is None else ", ".join(one["image"] for one in pod["spec"]["containers"])

    async def _webhooks(self) -> None:
        for resource in (
            resources.MUTATINGWEBHOOKCONFIGURATIONS,
            resources.VALIDATINGWEBHOOKCONFIGURATIONS,
        ):
            try:
                configurations = await self._all(resource)
            except Forbidden as error:
                self._findings.append(denied(resource, error))
                continue
            for one in configurations:
                found = hooks.hooks_of(
                    one, kind=resource.kind, namespace=self._asked.operator_namespace
                )
                missing = [place for hook in found if (place := await self._missing(hook))]
                self._findings += hooks.judge_hooks(found, missing=missing)

    async def _missing(self, hook: hooks.Hook) -> tuple[str, str] | None:
        """The webhook's service, if it is known not to be there."""
        if hook.service is None:
            return None
        namespace, name = hook.service
        try:
            found = await find(self._client, resources.SERVICES, name, namespace)
        except Forbidden:
            return None
        return hook.service if found is None else None

    async def _judge_gang(self, survey: Survey) -> None:
        """The provider's kind is there; and pods that are marked have a provider."""
        if self._gang is not None:
            kind = self._gang.provider.kind
            name = f"{kind.plural}.{kind.group}"
            if await find(self._client, resources.CRDS, name) is None:
                message = "is not installed, so no PodGroup can be made and no group starts"
                hint = f"install the scheduler that {self._asked.provider} stands for"
                about = Subject(resources.CRDS.kind, name=name)
                self._findings.append(_gang_finding(about, message, hint=hint))
        for gang, pod in survey.gangs.items():
            if gang != self._asked.provider:
                message = f"is placed by {gang}, which is not what was named with --gang-provider"
                hint = f"configure gangSchedulingManagement.schedulerProvider: {gang}, and check "
                hint += f"with --gang-provider {gang}"
                self._findings.append(_gang_finding(pod, message, hint=hint))

    async def _all(
        self, resource: Resource, *, field_selector: str | None = None
    ) -> Sequence[JsonObject]:
        found: list[JsonObject] = []
        async for page in pages(self._client, resource, field_selector=field_selector):
            found += page
        return found


def _gang_finding(about: Subject, message: str, *, hint: str) -> Finding:
    return Finding(
        severity=Severity.ERROR, topic=Topic.GANG, about=about, message=message, hint=hint
    )
