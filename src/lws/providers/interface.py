"""What a provider is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PodGroupKind:
    """Where the provider's PodGroups are served."""

    group: str
    version: str
    plural: str = "podgroups"
    kind: str = "PodGroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGroupRequest:
    """What the group that is scheduled as one needs; all of it from its leader's own revision."""

    name: str
    """`<lws>-<group>-<revision key>`."""
    min_member: int
    """Pods that must have room before any is placed."""
    min_resources: Mapping[str, str]
    """Requests of leader and workers together, as canonical quantities."""
    annotations: Mapping[str, str]
    """Of the LeaderWorkerSet."""


class SchedulerProvider(Protocol):
    """A gang scheduler."""

    @property
    def kind(self) -> PodGroupKind:
        """Its PodGroup."""
        ...

    def pod_group(self, request: PodGroupRequest) -> Document:
        """`spec` and `metadata.annotations` of the group's PodGroup; the rest is added."""
        ...

    def mark(self, pod: dict[str, Any], *, pod_group_name: str) -> dict[str, Any]:
        """The pod with what tells the scheduler its PodGroup; the argument is not changed."""
        ...
