"""Whose objects are whose: owners take orphans that they select, and let go of all else."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from lws.client.requests import PatchType
from lws.client.resources import Resource
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.objects import (
    controller_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)
from lws.sandbox.cluster.worker import Again
from lws.sandbox.server.selectors import matches_labels, selector_requirements
from lws.sandbox.server.verbs import JsonObject

OWNER = "controller"
Selection: TypeAlias = Callable[[JsonObject], bool]


def owner_keys(obj: JsonObject) -> Iterable[str]:
    """For an index: namespace and UID of the controller, or only the namespace."""
    owner = controller_of(obj)
    yield owner_key(namespace_of(obj), owner["uid"] if owner else "")


def owner_key(namespace: str, uid: str) -> str:
    """The same, to look up."""
    return f"{namespace}/{uid}"


def selection(owner: JsonObject) -> Selection:
    """Which objects `spec.selector` takes; for many of them."""
    selector = selector_requirements(owner["spec"].get("selector"))
    if selector is None:
        return lambda _: False
    return lambda obj: matches_labels(selector, labels_of(obj))


def selects(owner: JsonObject, obj: JsonObject) -> bool:
    """Does `spec.selector` of the one take the other?"""
    return selection(owner)(obj)


class Owners:
    """Between one kind of owners and one kind of objects that they own."""

    def __init__(
        self,
        context: Context,
        owners: Resource,
        owned: Resource,
        selection: Callable[[JsonObject], Selection] = selection,
    ) -> None:
        self._selection = selection
        self._api = context.api
        self._owners = owners
        self._owned = owned
        self._cache = context.caches.of(owned)
        self._cache.index(OWNER, owner_keys)
        self._owner_cache = context.caches.of(owners)

    def owner_of(self, one: JsonObject) -> JsonObject | None:
        """Its controller, if that is one of these owners and still the same."""
        reference = controller_of(one)
        if reference is None or reference["kind"] != self._owners.kind:
            return None
        owner = self._owner_cache.get(namespace_of(one), reference["name"])
        return owner if owner is not None and uid_of(owner) == reference["uid"] else None

    def of(self, owner: JsonObject) -> list[JsonObject]:
        """What has it as its controller, selected or not."""
        return self._cache.by(OWNER, owner_key(namespace_of(owner), uid_of(owner)))

    async def claimed(
        self, owner: JsonObject, counts: Callable[[JsonObject], bool] = bool
    ) -> list[JsonObject]:
        """Its objects that count, after orphans are taken and what it does not select is let go."""
        mine = []
        is_over, is_selected = is_terminating(owner), self._selection(owner)
        for one in filter(counts, self.of(owner)):
            if is_selected(one):
                mine.append(one)
            elif not is_over:
                await self._patch(one, {"$patch": "delete", "uid": uid_of(owner)})
        if is_over:
            return mine
        for one in filter(counts, self._cache.by(OWNER, owner_key(namespace_of(owner), ""))):
            is_wanted = is_selected(one) and not is_terminating(one)
            if is_wanted and await self._adopt(owner, one):
                mine.append(one)
        return mine

    async def _adopt(self, owner: JsonObject, one: JsonObject) -> bool:
        live = self._api.get(self._owners, name=name_of(owner), namespace=namespace_of(owner))
        if uid_of(live) != uid_of(owner) or is_terminating(live):
            raise Again(f"{name_of(owner)} has just been deleted")
        return await self._patch(one, owner_reference(owner))

    async def _patch(self, one: JsonObject, reference: JsonObject) -> bool:
        """False if it has gone."""
        change = {"metadata": {"uid": uid_of(one), "ownerReferences": [reference]}}
        with may_be_gone(422):
            patched = await self._api.patch(
                self._owned,
                change,
                patch_type=PatchType.STRATEGIC,
                name=name_of(one),
                namespace=namespace_of(one),
                caller=CONTROLLERS,
            )
            await self._cache.seen(patched)
            return True
        return False
