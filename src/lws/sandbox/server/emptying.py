"""Namespaces and definitions that are to go: what is in them goes first."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from lws.base.times import format_time
from lws.client.requests import Propagation
from lws.sandbox.server.api import Api
from lws.sandbox.server.definitions import CLEANUP, DEFINITIONS
from lws.sandbox.server.deletion import delete_all
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.lifecycle import NAMESPACES
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import Caller, DeleteOptions
from lws.sandbox.store import Changed, Key, Missing

JsonObject = dict[str, Any]

_CALLER = Caller(user="system:apiserver", field_manager="kube-controller-manager")
_BACKGROUND = DeleteOptions(propagation=Propagation.BACKGROUND)
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0  # for pods that take their grace, and finalizers


@dataclass(slots=True)
class _Case:
    """One that is to go."""

    key: Key
    wait: float = _FIRST_WAIT


class Emptier:
    """Empties what is to go, again and again until it is empty."""

    def __init__(self, world: World, api: Api) -> None:
        self._world = world
        self._api = api
        self._cases: asyncio.Queue[_Case] = asyncio.Queue()
        self._known: set[Key] = set()
        for storage in (NAMESPACES, DEFINITIONS):
            for _, obj in world.store.list(storage).items:
                self._notice(storage, obj)

    def on_write(self, kind: Kind, new: JsonObject | None, old: JsonObject | None) -> None:
        """Notices what is to go."""
        del old
        if new is not None and kind.storage in (NAMESPACES, DEFINITIONS):
            self._notice(kind.storage, new)

    def _notice(self, storage: str, obj: JsonObject) -> None:
        key = Key(storage, "", obj["metadata"]["name"])
        if obj["metadata"].get("deletionTimestamp") and key not in self._known:
            self._known.add(key)
            self._cases.put_nowait(_Case(key))

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                case = await self._cases.get()
                tasks.create_task(self._finish(case))

    async def _finish(self, case: _Case) -> None:
        while not await self._is_done(case):
            await self._world.clock.sleep(case.wait)
            case.wait = min(2 * case.wait, _LONGEST_WAIT)
        self._known.discard(case.key)

    async def _is_done(self, case: _Case) -> bool:
        """One round; True if it is gone."""
        obj = self._world.store.get(case.key)
        if obj is None or not obj["metadata"].get("deletionTimestamp"):
            return True
        try:
            if case.key.resource == NAMESPACES:
                return await self._empty_namespace(case.key, obj)
            return await self._empty_definition(case.key, obj)
        except (ApiStatus, Changed, Missing):
            return False  # a webhook that refuses, or somebody who writes meanwhile

    async def _empty_namespace(self, key: Key, namespace: JsonObject) -> bool:
        store, remaining = self._world.store, 0
        for kind in self._world.registry.stored_kinds():
            if kind.resource.namespaced:
                await self._delete_all(kind, key.name)
                remaining += store.count(kind.storage, key.name)
        if remaining:
            self._tell(key, namespace, remaining)
            return False
        return self._finalize(key)

    async def _delete_all(self, kind: Kind, namespace: str | None) -> None:
        page = self._world.store.list(kind.storage, namespace=namespace)
        objects = [obj for _, obj in page.items if not obj["metadata"].get("deletionTimestamp")]
        operation = Operation(kind=kind, namespace=namespace or "", caller=_CALLER)
        await delete_all(self._world, operation, objects, _BACKGROUND)

    def _finalize(self, key: Key) -> bool:
        """Takes our finalizer off, as it is empty; others may still hold it."""
        namespace = self._world.store.get(key)
        if namespace is None:
            return True
        others = [one for one in part(namespace, "spec", "finalizers") or () if one != "kubernetes"]
        if others or namespace["metadata"].get("finalizers"):
            if others != part(namespace, "spec", "finalizers"):
                spec = {**namespace["spec"], "finalizers": others}
                self._put(key, {**namespace, "spec": spec}, namespace)
            return False
        self._end(key, namespace)
        return True

    def _tell(self, key: Key, namespace: JsonObject, remaining: int) -> None:
        """Says in the status what it waits for."""
        message = f"{remaining} objects remain in the namespace"
        status = namespace.get("status") or {}
        conditions = [
            one
            for one in status.get("conditions") or ()
            if one.get("type") != "NamespaceContentRemaining"
        ]
        if len(conditions) != len(status.get("conditions") or ()):
            return
        condition = {
            "type": "NamespaceContentRemaining",
            "status": "True",
            "lastTransitionTime": format_time(self._world.clock.now()),
            "reason": "SomeResourcesRemain",
            "message": message,
        }
        told = {**status, "conditions": [*conditions, condition]}
        self._put(key, {**namespace, "status": told}, namespace)

    async def _empty_definition(self, key: Key, definition: JsonObject) -> bool:
        spec = definition["spec"]
        storage = f"{spec['group']}/{spec['names']['plural']}"
        for kind in self._world.registry.stored_kinds():
            if kind.storage == storage:
                await self._delete_everywhere(kind)
        if self._world.store.count(storage):
            return False
        finalizers = definition["metadata"].get("finalizers") or []
        others = [one for one in finalizers if one != CLEANUP]
        if not others:
            self._end(key, definition)
            return True
        if others != finalizers:
            metadata = {**definition["metadata"], "finalizers": others}
            self._put(key, {**definition, "metadata": metadata}, definition)
        return False

    async def _delete_everywhere(self, kind: Kind) -> None:
        page = self._world.store.list(kind.storage)
        for (namespace, _), obj in page.items:
            if not obj["metadata"].get("deletionTimestamp"):
                operation = Operation(kind=kind, namespace=namespace, caller=_CALLER)
                await delete_all(self._world, replace(operation), [obj], _BACKGROUND)

    def _put(self, key: Key, new: JsonObject, old: JsonObject) -> None:
        stored = self._world.store.update(key, new, expected=old)
        self._world.after_write(self._kind(key), stored, old)

    def _end(self, key: Key, old: JsonObject) -> None:
        self._world.store.delete(key, expected=old)
        self._world.after_write(self._kind(key), None, old)

    def _kind(self, key: Key) -> Kind:
        group, _, plural = key.resource.rpartition("/")
        kind = self._world.registry.find(group, "v1", plural)
        assert kind is not None, "namespaces and definitions are built in"
        return kind
