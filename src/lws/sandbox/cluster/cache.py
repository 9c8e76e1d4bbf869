"""Copies of what the server has, by place and by index, and the news of it.

Objects are the store's own: nobody changes them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from lws.client.resources import Resource
from lws.sandbox.cluster.objects import place_of, uid_of, version_of
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import EventType, JsonObject, Verbs, WatchOptions

Place = tuple[str, str]
Handler = Callable[[JsonObject | None, JsonObject | None], None]
"""Called with the old and the new object; None if there was none, or is none any more."""
IndexOf = Callable[[JsonObject], Iterable[str]]


class Cache:
    """All objects of one resource. `run` keeps it up to date."""

    def __init__(self, api: Verbs, resource: Resource) -> None:
        self._api = api
        self.resource = resource
        self._objects: dict[Place, JsonObject] = {}
        self._indexers: dict[str, IndexOf] = {}
        self._indexes: dict[str, dict[str, dict[Place, JsonObject]]] = {}
        self._handlers: list[Handler] = []
        self._waiters: dict[Place, list[tuple[int, asyncio.Future[None]]]] = {}
        self._revision = 0  # all news up to here has come
        self.synced = asyncio.Event()

    # Reads

    def get(self, namespace: str, name: str) -> JsonObject | None:
        """One object."""
        return self._objects.get((namespace, name))

    def __iter__(self) -> Iterator[JsonObject]:
        """All objects, in no order."""
        return iter(list(self._objects.values()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._objects)

    def by(self, index: str, value: str) -> list[JsonObject]:
        """The objects that an index has under a value, in the order of their coming."""
        return list(self._indexes[index].get(value, {}).values())

    def count(self, index: str, value: str) -> int:
        """How many an index has under a value."""
        return len(self._indexes[index].get(value, ()))

    # Setting up

    def index(self, name: str, keys: IndexOf) -> None:
        """Another index, once by this name; before `run` or afterwards."""
        if name in self._indexers:
            return
        self._indexers[name] = keys
        self._indexes[name] = defaultdict(dict)
        for place, obj in self._objects.items():
            self._enter(name, place, obj)

    def on_change(self, handler: Handler) -> None:
        """Call for every change; what is there already is told at once as new."""
        self._handlers.append(handler)
        for obj in list(self._objects.values()):
            handler(None, obj)

    # Waiting

    async def seen(self, obj: JsonObject, *, later: bool = False) -> None:
        """Until this version of an object, or a later one (only a later one), has come here.

        Whoever has written waits for it, and so never acts on what was before.
        """
        place, version = place_of(obj), version_of(obj) + later
        present = self._objects.get(place)
        if present is None and self._revision >= version_of(obj):
            return  # it came and went, before the writer had its answer
        if present is not None and version_of(present) >= version:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(place, []).append((version, future))
        await future

    # Following

    async def run(self) -> None:
        """List and watch, for ever; list again when the history is lost."""
        while True:
            try:
                listing = self._api.list(self.resource)
            except ApiStatus as refusal:
                if refusal.code != 404:
                    raise
                self._replace(())  # its definition has gone, and it with that
                self.synced.set()
                return
            self._revision = int(listing.resource_version)
            self._replace(listing.items)
            self.synced.set()
            await self._follow(listing.resource_version)

    async def _follow(self, version: str) -> None:
        try:
            while True:
                options = WatchOptions(resource_version=version)
                async with self._api.watch(self.resource, options=options) as events:
                    async for event in events:
                        if event.type is EventType.ERROR:
                            return
                        version = event.object["metadata"]["resourceVersion"]
                        self._take(event.object, is_gone=event.type is EventType.DELETED)
                await asyncio.sleep(0)
        except ApiStatus as refusal:
            if refusal.code not in (404, 410):
                raise

    def _replace(self, objects: Iterable[JsonObject]) -> None:
        fresh: Mapping[Place, JsonObject] = {place_of(obj): obj for obj in objects}
        for place, obj in list(self._objects.items()):
            if place not in fresh or uid_of(fresh[place]) != uid_of(obj):
                self._take(obj, is_gone=True)
        for place, obj in fresh.items():
            present = self._objects.get(place)
            if present is None or version_of(present) != version_of(obj):
                self._take(obj, is_gone=False)
        for waiters in self._waiters.values():
            _release(waiters)
        self._waiters.clear()

    def _take(self, obj: JsonObject, *, is_gone: bool) -> None:
        place = place_of(obj)
        self._revision = max(self._revision, version_of(obj))
        old = self._objects.get(place)
        if old is not None:
            self._leave(place, old)
            del self._objects[place]
        if not is_gone:
            self._objects[place] = obj
            for name in self._indexers:
                self._enter(name, place, obj)
        self._wake(place, version_of(obj))
        for handler in self._handlers:
            handler(old if old is not None or not is_gone else obj, None if is_gone else obj)

    def _wake(self, place: Place, version: int) -> None:
        waiters = self._waiters.pop(place, None)
        if waiters is None:
            return
        _release([one for one in waiters if one[0] <= version])
        left = [one for one in waiters if one[0] > version]
        if left:
            self._waiters[place] = left

    def _enter(self, name: str, place: Place, obj: JsonObject) -> None:
        for key in self._indexers[name](obj):
            self._indexes[name][key][place] = obj

    def _leave(self, place: Place, obj: JsonObject) -> None:
        for name, keys in self._indexers.items():
            for key in keys(obj):
                entries = self._indexes[name].get(key)
                if entries is not None:
                    entries.pop(place, None)
                    if not entries:
                        del self._indexes[name][key]


class Caches:
    """One cache for each resource, shared by all controllers."""

    def __init__(self, api: Verbs) -> None:
        self._api = api
        self._caches: dict[tuple[str, str], Cache] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def of(self, resource: Resource) -> Cache:
        """The cache of a resource; runs once all do."""
        key = (resource.group, resource.plural)
        cache = self._caches.get(key)
        if cache is None:
            cache = self._caches[key] = Cache(self._api, resource)
            if self._group is not None:
                self._tasks[key] = self._group.create_task(cache.run())
        return cache

    def drop(self, resource: Resource) -> list[JsonObject]:
        """A resource that is not served any more; what its cache still held."""
        key = (resource.group, resource.plural)
        cache = self._caches.pop(key, None)
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()
        return list(cache) if cache is not None else []

    async def start(self, group: asyncio.TaskGroup) -> None:
        """All of them, as tasks of a group; returns when each has all there is."""
        self._group = group
        for key, cache in self._caches.items():
            self._tasks[key] = group.create_task(cache.run())
        for cache in list(self._caches.values()):
            await cache.synced.wait()


def _release(waiters: Iterable[tuple[int, asyncio.Future[None]]]) -> None:
    for _, future in waiters:
        if not future.done():
            future.set_result(None)
