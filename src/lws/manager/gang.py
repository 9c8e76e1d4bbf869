"""The configured scheduling provider, as the other parts need it."""

from collections.abc import Mapping

from lws.api.kinds import Kind
from lws.client.resources import Resource
from lws.executor.caches import RESOURCES
from lws.planner.actions import Document
from lws.providers import PodGroupRequest, SchedulerProvider, find_provider


class ConfiguredGang:
    """Makes PodGroups for the planner out of what a provider says."""

    def __init__(self, provider: SchedulerProvider) -> None:
        self.provider = provider
        kind = provider.kind
        self.resource = Resource(kind.group, kind.version, kind.plural, kind.kind)
        self.api_version = self.resource.api_version

    def body(
        self,
        *,
        name: str,
        min_member: int,
        min_resources: dict[str, str],
        annotations: dict[str, str],
    ) -> Document:
        """`spec` and `metadata.annotations` of a PodGroup."""
        request = PodGroupRequest(
            name=name,
            min_member=min_member,
            min_resources=min_resources,
            annotations=annotations,
        )
        return self.provider.pod_group(request)


def configured_gang(name: str | None) -> ConfiguredGang | None:
    """None: none is configured; InvalidInput: there is none of that name."""
    return ConfiguredGang(find_provider(name)) if name else None


def resources_of(gang: ConfiguredGang | None) -> Mapping[Kind, Resource]:
    """Where each kind is served."""
    return RESOURCES if gang is None else {**RESOURCES, Kind.POD_GROUP: gang.resource}
