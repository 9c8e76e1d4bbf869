"""PodDisruptionBudgets: how many pods may be evicted now."""

from collections.abc import Sequence
from dataclasses import dataclass

from lws.base.times import parse_time
from lws.client.resources import PODS, Resource
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.objects import (
    TERMINAL,
    condition,
    controller_of,
    is_ready,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    phase_of,
    place_of,
    status_of,
    with_conditions,
    with_status,
)
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
_NAMESPACE = "namespace"
_EVICTION_SECONDS = 120.0  # an evicted pod that is still not deleted then was not evicted
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Count:
    """How many pods there are to be, and how many of them healthy."""

    expected: int
    desired: int


class DisruptionController:
    """Keeps the status of budgets, which the eviction subresource goes by."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._budgets = context.caches.of(BUDGETS)
        self._pods = context.caches.of(PODS)
        self._pods.index(_NAMESPACE, lambda pod: (namespace_of(pod),))
        self._budgets.index(_NAMESPACE, lambda budget: (namespace_of(budget),))
        self.worker: Worker[Place] = Worker(context.clock, self._look_at, parallel=4)
        self._budgets.on_change(self._budget_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    def _budget_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        del old
        if new is not None:
            self.worker.add(place_of(new))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        pod = new or old
        for budget in self._budgets.by(_NAMESPACE, namespace_of(pod)) if pod is not None else ():
            if any(one is not None and _selects(budget, one) for one in (old, new)):
                self.worker.add(place_of(budget))

    async def _look_at(self, place: Place) -> None:
        budget = self._budgets.get(*place)
        if budget is None:
            return
        pods = [
            pod
            for pod in self._pods.by(_NAMESPACE, place[0])
            if _selects(budget, pod) and phase_of(pod) not in TERMINAL
        ]
        count = self._count(budget, pods)
        disrupted = self._disrupted(budget, pods)
        healthy = sum(
            is_ready(pod) and not is_terminating(pod) and name_of(pod) not in disrupted
            for pod in pods
        )
        wanted = self._with_status(budget, count, healthy, disrupted)
        if wanted["status"] != status_of(budget):
            updated = await self._api.update(
                BUDGETS, wanted, namespace=place[0], subresource="status", caller=CONTROLLERS
            )
            await self._budgets.seen(updated)
        if disrupted:
            self.worker.add_after(place, _EVICTION_SECONDS)

    def _count(self, budget: JsonObject, pods: Sequence[JsonObject]) -> _Count:
        spec = budget["spec"]
        most = spec.get("maxUnavailable")
        if most is not None:
            expected = self._scale(pods)
            return _Count(expected, max(0, expected - _share(most, expected)))
        least = spec.get("minAvailable")
        if isinstance(least, str):
            expected = self._scale(pods)
            return _Count(expected, _share(least, expected))
        return _Count(len(pods), least or 0)

    def _scale(self, pods: Sequence[JsonObject]) -> int:
        """The replicas of all that control one of the pods."""
        replicas: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is not None and owner["uid"] not in replicas:
                replicas[owner["uid"]] = self._replicas(namespace_of(pod), owner)
        return sum(replicas.values())

    def _replicas(self, namespace: str, owner: JsonObject) -> int:
        resource = self._api.resource_of(owner["apiVersion"], owner["kind"])
        if resource is None:
            return 0
        try:
            scale = self._api.get(
                resource, name=owner["name"], namespace=namespace, subresource="scale"
            )
        except ApiStatus:
            return 0  # it has gone, or does not scale
        return int(scale["spec"].get("replicas") or 0)

    def _disrupted(self, budget: JsonObject, pods: Sequence[JsonObject]) -> JsonObject:
        """Pods whose eviction is granted, but not yet seen as a deletion."""
        present = {name_of(pod): pod for pod in pods}
        now = self._clock.now()
        return {
            name: time
            for name, time in (status_of(budget).get("disruptedPods") or {}).items()
            if name in present
            and not is_terminating(present[name])
            and parse_time(time) + _EVICTION_SECONDS > now
        }

    def _with_status(
        self, budget: JsonObject, count: _Count, healthy: int, disrupted: JsonObject
    ) -> JsonObject:
        allowed = max(0, healthy - count.desired) if count.expected > 0 else 0
        fields = with_status(
            budget,
            currentHealthy=healthy,
            desiredHealthy=count.desired,
            expectedPods=count.expected,
            disruptionsAllowed=allowed,
            disruptedPods=disrupted or None,
            observedGeneration=budget["metadata"].get("generation"),
        )
        status, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        entry = condition(self._clock, "DisruptionAllowed", status, reason)
        entry["message"] = ""
        entry["observedGeneration"] = budget["metadata"].get("generation")
        return with_conditions(fields, entry)


def _selects(budget: JsonObject, pod: JsonObject) -> bool:
    selector = selector_requirements(budget["spec"].get("selector"))
    return selector is not None and matches_labels(selector, labels_of(pod))


def _share(value: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up."""
    if isinstance(value, int):
        return value
    return -(-int(value.removesuffix("%")) * total // 100)
