"""ResourceQuotas: how much of each is used.

The admission charges what is made; here it is counted anew: for a new quota, a changed one, when
something ends, and every few minutes, since a charge stays when its object was then not stored.
"""

import asyncio
from collections.abc import Collection, Iterator
from functools import partial

from lws.client.resources import CRDS, Resource
from lws.sandbox.cluster.absent import find
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.objects import (
    is_terminating,
    namespace_of,
    place_of,
    status_of,
    uid_of,
    with_status,
)
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.quota import (
    NOTHING,
    Amount,
    Amounts,
    Evaluator,
    amounts,
    evaluator_of,
)
from lws.sandbox.server.verbs import JsonObject

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
_NAMESPACE = "namespace"
_RECOUNT_SECONDS = 300.0
_SECONDS_PER_OBJECT = 1e-4  # between two counts; to count an object again takes a tenth of it
Place = tuple[str, str]


class _Known:
    """What an object used when it was last counted."""

    __slots__ = ("_spec", "_state", "usage")

    def __init__(self, obj: JsonObject, usage: Amounts) -> None:
        self._spec, self._state, self.usage = obj.get("spec"), _state(obj), usage

    def is_of(self, obj: JsonObject) -> bool:
        """Does it still? An object shares with its next version what has not changed."""
        is_same = self._spec is not None and self._spec is obj.get("spec")
        return is_same and not is_terminating(obj) and self._state == _state(obj)


def _state(obj: JsonObject) -> tuple[object, object]:
    """What usage goes by besides the spec."""
    shown = status_of(obj)
    return shown.get("phase"), shown.get("allocatedResources")


class QuotaController:
    """Keeps the status of quotas, which the admission goes by; watches only what they count."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._clock = context.clock
        self._caches = context.caches
        self._quotas = context.caches.of(QUOTAS)
        self._quotas.index(_NAMESPACE, lambda quota: (namespace_of(quota),))
        self._watched: set[Resource] = set()
        self._known: dict[Place, dict[str, _Known]] = {}
        self._soon: set[Place] = set()
        self.worker: Worker[Place] = Worker(context.clock, self._count, parallel=4)
        self._quotas.on_change(self._quota_changed)
        context.caches.of(CRDS).on_change(lambda *_: self._resources_changed())

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.run())
            group.create_task(self._recount())

    async def _recount(self) -> None:
        while True:
            await self._clock.sleep(_RECOUNT_SECONDS)
            self._add_all()

    # What is due

    def _add_all(self) -> None:
        for quota in self._quotas:
            self.worker.add(place_of(quota))

    def _quota_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and (old is None or _hard(old) != _hard(new)):
            self.worker.add(place_of(new))

    def _resources_changed(self) -> None:
        """What a quota counts may be served from now on, or no more."""
        self._watched &= set(self._api.resources())
        self._add_all()

    def _object_changed(
        self, evaluator: Evaluator, old: JsonObject | None, new: JsonObject | None
    ) -> None:
        if old is None or not self._quotas.count(_NAMESPACE, namespace_of(old)):
            return
        if new is not None and not evaluator.frees(old, new, self._clock.now()):
            return
        for quota in self._quotas.by(_NAMESPACE, namespace_of(old)):
            if any(map(evaluator.covers, _hard(quota))):
                self._add_soon(place_of(quota))

    def _add_soon(self, place: Place) -> None:
        """Many that end together are one count, if it is a long one."""
        if place not in self._soon:
            self._soon.add(place)
            self.worker.add_after(place, len(self._known.get(place, ())) * _SECONDS_PER_OBJECT)

    def _watch(self, resource: Resource, evaluator: Evaluator) -> None:
        if resource not in self._watched:
            self._watched.add(resource)
            self._caches.of(resource).on_change(partial(self._object_changed, evaluator))

    # One quota

    async def _count(self, place: Place) -> None:
        namespace, name = place
        self._soon.discard(place)
        quota = find(self._api, QUOTAS, name=name, namespace=namespace)
        if quota is None:
            self._known.pop(place, None)
            return
        shown, hard = status_of(quota), _hard(quota)
        used = {**amounts(shown.get("used")), **self._used(quota)}
        used = {one: amount for one, amount in used.items() if one in hard}
        if shown.get("hard") == hard and _are_equal(used, amounts(shown.get("used"))):
            return
        written = {one: str(amount) for one, amount in used.items()}
        new = with_status(quota, hard=hard, used=written)
        await self._api.update(
            QUOTAS, new, namespace=namespace, subresource="status", caller=CONTROLLERS
        )

    def _used(self, quota: JsonObject) -> dict[str, Amount]:
        used: dict[str, Amount] = {}
        before, now = self._known.get(place_of(quota), {}), self._clock.now()
        known: dict[str, _Known] = {}
        for resource, evaluator in self._counted(_hard(quota)):
            self._watch(resource, evaluator)
            names = [name for name in _hard(quota) if evaluator.covers(name)]
            used.update(dict.fromkeys(names, NOTHING))
            for obj in self._api.list(resource, namespace=namespace_of(quota)).items:
                if not evaluator.counts(quota, obj):
                    continue
                one = before.get(uid_of(obj))
                if one is None or not one.is_of(obj):
                    one = _Known(obj, evaluator.usage(obj, now))
                known[uid_of(obj)] = one
                _add(used, one.usage, names)
        self._known[place_of(quota)] = known
        return used

    def _counted(self, names: Collection[str]) -> Iterator[tuple[Resource, Evaluator]]:
        """Kinds whose objects one of the resources counts."""
        for resource in self._api.resources():
            evaluator = evaluator_of(resource)
            if evaluator is not None and any(map(evaluator.covers, names)):
                yield resource, evaluator


def _hard(quota: JsonObject) -> dict[str, str]:
    return quota["spec"].get("hard") or {}


def _add(used: dict[str, Amount], more: Amounts, names: Collection[str]) -> None:
    for name in names:
        if name in more:
            used[name] = used[name].plus(more[name])


def _are_equal(left: Amounts, right: Amounts) -> bool:
    return left.keys() == right.keys() and all(
        left[name].nanos == right[name].nanos for name in left
    )
