"""Ends objects whose owners are gone, foreground deletions first of all what blocks them."""

import asyncio
from collections.abc import Iterable
from functools import partial

from lws.client.requests import PatchType, Propagation
from lws.client.resources import CRDS, Resource
from lws.sandbox.cluster.absent import find, may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.garbage.graph import FOREGROUND, ORPHAN, Graph, Node
from lws.sandbox.cluster.objects import (
    finalizers_of,
    is_terminating,
    owners_of,
    uid_of,
)
from lws.sandbox.cluster.worker import Again, Worker
from lws.sandbox.server.verbs import DeleteOptions, JsonObject

_UNCOLLECTED = frozenset(("events",))


class _Mistaken(Exception):
    """An object of the whole cluster says that something in a namespace owns it: it is let be."""


class GarbageCollector:
    """Watches every kind that the server has, custom ones too."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._caches = context.caches
        self._graph = Graph()
        self._watched: dict[tuple[str, str], Resource] = {}
        self.worker: Worker[str] = Worker(context.clock, self._look_at, parallel=20)
        self._resources_changed = asyncio.Event()
        context.caches.of(CRDS).on_change(lambda *_: self._resources_changed.set())
        self._watch_all()

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.run())
            group.create_task(self._follow_resources())

    async def _follow_resources(self) -> None:
        while True:
            await self._resources_changed.wait()
            self._resources_changed.clear()
            self._watch_all()

    def _watch_all(self) -> None:
        served = {
            (one.group, one.plural): one
            for one in self._api.resources()
            if one.plural not in _UNCOLLECTED
        }
        for key, resource in served.items():
            if key not in self._watched:
                self._watched[key] = resource
                self._caches.of(resource).on_change(partial(self._changed, resource))
        for key in self._watched.keys() - served.keys():
            resource = self._watched.pop(key)
            for obj in self._caches.drop(resource):
                self._changed(resource, obj, None)

    def _changed(self, resource: Resource, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is not None and (new is None or uid_of(old) != uid_of(new)):
            self._add(self._graph.remove(uid_of(old)))
        if new is not None:
            self._add(self._graph.put(resource, new))

    def _add(self, uids: Iterable[str]) -> None:
        for uid in list(uids):
            self.worker.add(uid)

    # One node

    async def _look_at(self, uid: str) -> None:
        node = self._graph.nodes.get(uid)
        if node is None or node.is_virtual:
            return
        live = self._find(node)
        if live is None:
            return  # its watch will tell
        if node.is_orphaning and ORPHAN in finalizers_of(live):
            await self._orphan(node, live)
        elif node.is_foreground and FOREGROUND in finalizers_of(live):
            await self._end_foreground(node, live)
        elif not node.is_terminating:
            await self._judge(node, live)

    def _find(self, node: Node) -> JsonObject | None:
        assert node.resource is not None, "a virtual node is nowhere"
        live = find(self._api, node.resource, name=node.name, namespace=node.namespace)
        return live if live is not None and uid_of(live) == node.uid else None

    async def _judge(self, node: Node, live: JsonObject) -> None:
        """Delete it if no owner of it is left; else forget the owners that are gone."""
        owners = list(owners_of(live))
        if not owners:
            return
        try:
            solid, waiting, gone = self._sorted(node, owners)
        except _Mistaken:
            return
        if solid:
            if waiting or gone:
                await self._drop_owners(node, live, {one["uid"] for one in (*waiting, *gone)})
        elif waiting and node.dependents:
            if any(one.is_foreground for one in node.dependents.values()):
                live = await self._unblock(node, live)  # it may be a circle
            await self._delete(node, live, Propagation.FOREGROUND)
        else:
            await self._delete(node, live, _propagation_of(live))

    def _sorted(
        self, node: Node, owners: Iterable[JsonObject]
    ) -> tuple[list[JsonObject], list[JsonObject], list[JsonObject]]:
        """Owners that are there, that wait for their dependents' end, and that are gone."""
        solid: list[JsonObject] = []
        waiting: list[JsonObject] = []
        gone: list[JsonObject] = []
        for reference in owners:
            owner = self._owner(node, reference)
            if owner is None:
                gone.append(reference)
            elif is_terminating(owner) and FOREGROUND in finalizers_of(owner):
                waiting.append(reference)
            else:
                solid.append(reference)
        return solid, waiting, gone

    def _owner(self, node: Node, reference: JsonObject) -> JsonObject | None:
        """The owner as it is now. A kind that is not served may be one day: nothing is judged."""
        resource = self._api.resource_of(reference["apiVersion"], reference["kind"])
        if resource is None:
            raise Again(f"{reference['kind']} is not served")
        if resource.namespaced and not node.namespace:
            raise _Mistaken
        namespace = node.namespace if resource.namespaced else ""
        owner = find(self._api, resource, name=reference["name"], namespace=namespace)
        return owner if owner is not None and uid_of(owner) == reference["uid"] else None

    # What it does

    async def _delete(self, node: Node, live: JsonObject, propagation: Propagation) -> None:
        assert node.resource is not None, "a virtual node is nowhere"
        options = DeleteOptions(
            propagation=propagation,
            uid=node.uid,
            resource_version=live["metadata"]["resourceVersion"],
        )
        with may_be_gone():
            await self._api.delete(
                node.resource,
                name=node.name,
                namespace=node.namespace or None,
                options=options,
                caller=CONTROLLERS,
            )

    async def _end_foreground(self, node: Node, live: JsonObject) -> None:
        blockers = node.blockers()
        if not blockers:
            await self._drop_finalizer(node, live, FOREGROUND)
        for one in blockers:
            if not one.is_foreground:
                self.worker.add(one.uid)

    async def _orphan(self, node: Node, live: JsonObject) -> None:
        for dependent in list(node.dependents.values()):
            found = None if dependent.is_virtual else self._find(dependent)
            if found is not None:
                await self._drop_owners(dependent, found, {node.uid})
        await self._drop_finalizer(node, live, ORPHAN)

    async def _drop_owners(self, node: Node, live: JsonObject, uids: set[str]) -> None:
        left = [one for one in owners_of(live) if one["uid"] not in uids]
        await self._patch(node, live, {"ownerReferences": left or None})

    async def _unblock(self, node: Node, live: JsonObject) -> JsonObject:
        owners = [{**one, "blockOwnerDeletion": False} for one in owners_of(live)]
        return await self._patch(node, live, {"ownerReferences": owners})

    async def _drop_finalizer(self, node: Node, live: JsonObject, finalizer: str) -> None:
        left = [one for one in finalizers_of(live) if one != finalizer]
        await self._patch(node, live, {"finalizers": left or None})

    async def _patch(self, node: Node, live: JsonObject, metadata: JsonObject) -> JsonObject:
        """Metadata of the object that was read, and of no later one."""
        assert node.resource is not None, "a virtual node is nowhere"
        seen = {"uid": node.uid, "resourceVersion": live["metadata"]["resourceVersion"]}
        return await self._api.patch(
            node.resource,
            {"metadata": {**metadata, **seen}},
            patch_type=PatchType.MERGE,
            name=node.name,
            namespace=node.namespace or None,
            caller=CONTROLLERS,
        )


def _propagation_of(live: JsonObject) -> Propagation:
    finalizers = finalizers_of(live)
    if ORPHAN in finalizers:
        return Propagation.ORPHAN
    return Propagation.FOREGROUND if FOREGROUND in finalizers else Propagation.BACKGROUND
