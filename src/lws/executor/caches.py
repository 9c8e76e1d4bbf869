"""What we watch: one informer a kind, only for what carries our labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lws.api import apps, core, leaderworkerset, names
from lws.api.kinds import Kind
from lws.api.meta import controller_uid
from lws.base.clock import Clock
from lws.client import resources
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics

BY_SET = "set"
"""Index: (namespace, name of the LeaderWorkerSet)."""
BY_GROUP = "group"
"""Index: (namespace, name of the LeaderWorkerSet, group index)."""
BY_OWNER = "owner"
"""Index: UID of the controlling owner."""

RESOURCES: Mapping[Kind, Resource] = {
    Kind.POD: resources.PODS,
    Kind.SERVICE: resources.SERVICES,
    Kind.STATEFUL_SET: resources.STATEFULSETS,
    Kind.CONTROLLER_REVISION: resources.CONTROLLERREVISIONS,
    Kind.LEADER_WORKER_SET: resources.LEADERWORKERSETS,
    Kind.DISAGGREGATED_SET: resources.DISAGGREGATEDSETS,
    Kind.ROLE_SCALER: resources.DISAGGREGATEDSETROLESCALERS,
}

_REVISIONS_OF_OURS = f"{names.NAME},!{names.STATEFULSET_REVISION_HASH}"
"""The StatefulSet controller's revisions carry our label too, one a group: not worth a look."""


@dataclass(frozen=True, slots=True)
class Caches:
    """The informers of the LeaderWorkerSet controllers."""

    sets: Informer[leaderworkerset.LeaderWorkerSet]
    statefulsets: Informer[apps.StatefulSet]
    pods: Informer[core.Pod]
    services: Informer[core.Service]
    revisions: Informer[apps.ControllerRevision]
    retired: Informer[apps.ControllerRevision]
    pod_groups: Informer[core.PodGroup] | None = None
    """None: no gang scheduler is configured."""

    def all(self) -> tuple[Informer[Any], ...]:
        """Every informer, in the order in which they are started."""
        return (
            self.sets,
            self.statefulsets,
            self.pods,
            self.services,
            self.revisions,
            self.retired,
            *(() if self.pod_groups is None else (self.pod_groups,)),
        )

    def check(self) -> str | None:
        """For the readiness probe: which first lists are missing."""
        missing = [one.resource.plural for one in self.all() if not one.is_synced]
        return f"not listed yet: {', '.join(missing)}" if missing else None

    async def synced(self) -> None:
        """Every first list is in."""
        for informer in self.all():
            await informer.synced()


def make_caches(
    client: KubernetesClient,
    clock: Clock,
    metrics: Metrics,
    *,
    pod_groups: Resource | None = None,
) -> Caches:
    """Informers with the indexes that `observe` asks; `pod_groups` is the gang scheduler's kind."""
    common: dict[str, Any] = {"client": client, "clock": clock, "metrics": metrics}
    labelled = {**common, "label_selector": names.NAME}
    caches = Caches(
        sets=Informer(resource=resources.LEADERWORKERSETS, decode=leaderworkerset.decode, **common),
        statefulsets=Informer(
            resource=resources.STATEFULSETS, decode=apps.decode_statefulset, **labelled
        ),
        pods=Informer(resource=resources.PODS, decode=core.decode_pod, **labelled),
        services=Informer(resource=resources.SERVICES, decode=core.decode_service, **labelled),
        revisions=Informer(
            resource=resources.CONTROLLERREVISIONS,
            decode=apps.decode_revision,
            label_selector=_REVISIONS_OF_OURS,
            **common,
        ),
        retired=Informer(
            resource=resources.CONTROLLERREVISIONS,
            decode=apps.decode_revision,
            label_selector=names.HISTORY_OF,
            **common,
        ),
        pod_groups=None
        if pod_groups is None
        else Informer(resource=pod_groups, decode=core.decode_pod_group, **labelled),
    )
    caches.pods.store.add_index(BY_GROUP, _group_of_pod)
    caches.pods.store.add_index(BY_SET, lambda pod: [pod_set(pod)])
    caches.statefulsets.store.add_index(BY_SET, lambda one: [_set_of(one)])
    for informer in (caches.revisions, caches.retired):
        informer.store.add_index(BY_OWNER, _owner_of)
    return caches


def pod_set(pod: core.Pod) -> tuple[str, str]:
    """(namespace, name) of the LeaderWorkerSet whose label a pod carries."""
    return pod.metadata.namespace, pod.metadata.labels.name


def is_leader(pod: core.Pod) -> bool:
    """Whether a pod is labelled as a leader."""
    return pod.metadata.labels.worker_index == "0"


def group_index(pod: core.Pod) -> int | None:
    """Index of a pod's group; None where the labels say nothing (a pod made by hand, say)."""
    if is_leader(pod):
        return names.ordinal(pod.metadata.name)
    return index_in(pod.metadata.labels.group_index)


def index_in(label: str) -> int | None:
    """A group index as a label gives it; None for garbage."""
    if label.isascii() and label.isdigit() and len(label) < 10:
        return int(label)
    return None


def _group_of_pod(pod: core.Pod) -> list[tuple[str, str, int]]:
    index = group_index(pod)
    return [] if index is None else [(*pod_set(pod), index)]


def _set_of(statefulset: apps.StatefulSet) -> tuple[str, str]:
    meta = statefulset.metadata
    return meta.namespace, meta.labels.get(names.NAME, "")


def _owner_of(revision: apps.ControllerRevision) -> list[str]:
    uid = controller_uid(revision.metadata.owner_references)
    return [] if uid is None else [uid]
