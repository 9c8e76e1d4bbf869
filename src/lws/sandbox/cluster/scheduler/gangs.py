"""Groups of pods that start together or not at all.

The rule of the pod groups of Volcano and of the coscheduling plugin, and no more of them: as long
as fewer than `minMember` pods of a group can be placed at once, none of them is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lws.client.resources import Resource
from lws.sandbox.cluster.absent import find
from lws.sandbox.cluster.context import Context
from lws.sandbox.cluster.objects import annotations_of, labels_of, namespace_of
from lws.sandbox.server.verbs import JsonObject

GANG = "gang"
_VOLCANO = "scheduling.k8s.io/group-name"
_COSCHEDULING = "scheduling.x-k8s.io/pod-group"
_KINDS = {
    _VOLCANO: ("scheduling.volcano.sh/v1beta1", "PodGroup"),
    _COSCHEDULING: ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
}


@dataclass(frozen=True, slots=True)
class Gang:
    """A group, by the key that says so."""

    namespace: str
    name: str
    by: str

    @property
    def key(self) -> str:
        """For an index of pods."""
        return f"{self.by}/{self.namespace}/{self.name}"


def gang_keys(pod: JsonObject) -> Iterable[str]:
    """The groups that a pod names, whether there are such groups or not."""
    for by in _KINDS:
        name = _name(pod, by)
        if name:
            yield Gang(namespace_of(pod), name, by).key


def _name(pod: JsonObject, by: str) -> str:
    return (annotations_of(pod) if by == _VOLCANO else labels_of(pod)).get(by, "")


class Gangs:
    """Looks groups up. `changed` is called when any pod group comes, goes or changes."""

    def __init__(self, context: Context, changed: Callable[[], None]) -> None:
        self._api = context.api
        self._caches = context.caches
        self._changed = changed
        self._followed: set[str] = set()

    def of(self, pod: JsonObject) -> Gang | None:
        """The pod's group; None if it has none, or if no such kind is served."""
        for by in _KINDS:
            name = _name(pod, by)
            if name and self._resource(by) is not None:
                return Gang(namespace_of(pod), name, by)
        return None

    def min_member(self, gang: Gang) -> int | None:
        """How many have to be placed at once; None if there is no such group."""
        resource = self._resource(gang.by)
        if resource is None:
            return None
        group = find(self._api, resource, name=gang.name, namespace=gang.namespace)
        if group is None:
            return None
        return int((group.get("spec") or {}).get("minMember") or 1)

    def _resource(self, by: str) -> Resource | None:
        resource = self._api.resource_of(*_KINDS[by])
        if resource is not None and by not in self._followed:
            self._followed.add(by)
            self._caches.of(resource).on_change(lambda *_: self._changed())
        return resource
