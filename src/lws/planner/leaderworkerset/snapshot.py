"""One consistent picture of a LeaderWorkerSet and all that is its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lws.api.apps import StatefulSet
from lws.api.core import Service
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet, Template
from lws.planner.pods.snapshot import GroupFacts
from lws.planner.revision import Revision


@dataclass(frozen=True, slots=True)
class WantedTemplate:
    """What the spec asks for: everything whose change is a new revision."""

    document: Mapping[str, Any]
    """`{"leaderWorkerTemplate": …, "networkConfig": …}`, as a revision records it."""
    template: Template
    digest: str
    """Equal for two templates that mean the same (planner.meaning)."""
    topologies: Mapping[str, str]
    """The two topology annotations of the LeaderWorkerSet."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """An object in our place that is not ours."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderWorkerSetSnapshot:
    """What the caches show; every member is immutable."""

    lws: LeaderWorkerSet
    wanted: WantedTemplate
    statefulset: StatefulSet | None
    """The StatefulSet named like the LeaderWorkerSet, if it is ours or was."""
    document: Mapping[str, Any]
    """The whole of `statefulset`; empty if there is none."""
    revisions: tuple[Revision, ...]
    """Ours by UID, active and retired, in no order."""
    service: Service | None
    groups: tuple[GroupFacts, ...]
    """By index; a group of which nothing exists has no entry."""
    foreign: tuple[Foreign, ...]
    """Seen when a create of ours met them; they go from here when they go."""
    now: float
    """Wall time, seconds."""
    handing_over: bool = False
    """The manager is about to stop: nothing may be left that another controller does not know."""
