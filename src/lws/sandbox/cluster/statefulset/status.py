"""The status of a set, counted from its pods."""

from collections.abc import Iterable
from dataclasses import dataclass

from lws.sandbox.cluster.objects import (
    is_available,
    is_running_and_ready,
    is_terminating,
    name_of,
    phase_of,
    status_of,
)
from lws.sandbox.cluster.statefulset.identity import (
    is_on_delete,
    min_ready_of,
    replicas_of,
    revision_of,
)
from lws.sandbox.cluster.statefulset.revisions import Revisions
from lws.sandbox.server.verbs import JsonObject

_COMPARED = (
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "currentReplicas",
    "updatedReplicas",
    "currentRevision",
    "updateRevision",
)


@dataclass(slots=True, kw_only=True)
class SetStatus:
    """`status` of a StatefulSet."""

    observed: int
    current_revision: str
    update_revision: str
    collisions: int
    replicas: int = 0
    ready: int = 0
    available: int = 0
    current: int = 0
    updated: int = 0

    def count(self, stateful_set: JsonObject, pods: Iterable[JsonObject], now: float) -> None:
        """Count these pods, and no others; pods that are not there have no phase."""
        min_ready = min_ready_of(stateful_set)
        self.replicas = self.ready = self.available = self.current = self.updated = 0
        for pod in pods:
            if not phase_of(pod):
                continue
            self.replicas += 1
            if is_running_and_ready(pod):
                self.ready += 1
                self.available += is_available(pod, min_ready, now)
            if not is_terminating(pod):
                self.current += revision_of(pod) == self.current_revision
                self.updated += revision_of(pod) == self.update_revision

    def complete(self, stateful_set: JsonObject) -> None:
        """When all pods are updated and ready, the update revision becomes the current one."""
        wanted = replicas_of(stateful_set)
        if not is_on_delete(stateful_set) and self.updated == self.ready == self.replicas == wanted:
            self.current = self.updated
            self.current_revision = self.update_revision

    def differs(self, stateful_set: JsonObject) -> bool:
        """Is it news for the set?"""
        present, fields = status_of(stateful_set), self.to_json()
        if self.observed > (present.get("observedGeneration") or 0):
            return True
        return any((fields.get(name) or 0) != (present.get(name) or 0) for name in _COMPARED)

    def to_json(self) -> JsonObject:
        """As it is written; counts of 0 are left out where the kind does so."""
        fields: JsonObject = {
            "observedGeneration": self.observed,
            "readyReplicas": self.ready,
            "currentReplicas": self.current,
            "updatedReplicas": self.updated,
            "currentRevision": self.current_revision,
            "updateRevision": self.update_revision,
        }
        return {
            **{name: value for name, value in fields.items() if value},
            "replicas": self.replicas,
            "availableReplicas": self.available,
            "collisionCount": self.collisions,
        }


def new_status(stateful_set: JsonObject, revisions: Revisions) -> SetStatus:
    """Before anything is counted."""
    return SetStatus(
        observed=stateful_set["metadata"].get("generation") or 0,
        current_revision=name_of(revisions.current),
        update_revision=name_of(revisions.update),
        collisions=revisions.collisions,
    )
