"""The objects, and what may be done to them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lws.sandbox.store.changes import Change, ChangeType, JsonObject, Key, at_revision
from lws.sandbox.store.errors import Changed, Exists, FutureRevision, Missing
from lws.sandbox.store.history import Cursor, History
from lws.sandbox.store.journal import Journal, Record, Snapshot

WINDOW = 10_000  # changes of one resource; a watch that lags more begins anew
_REVISION_GAP = (
    1000  # after a restart: a revision that was seen, but lost with a kill, never returns
)

Place = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list; `revision` is that of the whole list."""

    items: Sequence[tuple[Place, JsonObject]]
    revision: int


class Store:
    """Every method but `durable` is done when it returns, and never half."""

    def __init__(self, *, window: int = WINDOW, journal: Journal | None = None) -> None:
        self._window = window
        self._journal = journal
        self._objects: dict[str, dict[str, dict[str, JsonObject]]] = {}
        self._histories: dict[str, History] = {}
        self._floor = 0
        self.revision = 1
        if journal is not None:
            try:
                self._load(journal)
            except BaseException:
                journal.release()
                raise

    # Reads

    def get(self, key: Key) -> JsonObject | None:
        """The newest."""
        return self._objects.get(key.resource, {}).get(key.namespace, {}).get(key.name)

    def count(self, resource: str, namespace: str | None = None) -> int:
        """How many there are, in one namespace or in all."""
        names = self._objects.get(resource, {})
        if namespace is not None:
            return len(names.get(namespace, ()))
        return sum(map(len, names.values()))

    def list(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        after: Place = ("", ""),
    ) -> Page:
        """All objects by namespace and name; as they were at a revision, if one is given.

        Whoever wants pages gives the last place of one as `after` for the next.
        """
        at = self.revision if revision is None else revision
        if at > self.revision:
            raise FutureRevision(at, self.revision)
        spaces = self._spaces(resource, namespace)
        if at < self.revision:
            spaces = self._rewound(resource, spaces, namespace, at)
        items = [
            ((space, name), objects[name])
            for space in sorted(spaces)
            if space >= after[0]
            for objects in (spaces[space],)
            for name in sorted(objects)
            if (space, name) > after
        ]
        return Page(items, at)

    def everything(self) -> Iterator[tuple[Key, JsonObject]]:
        """All objects of all resources."""
        for resource, spaces in self._objects.items():
            for namespace, objects in spaces.items():
                for name, obj in objects.items():
                    yield Key(resource, namespace, name), obj

    def resources(self) -> Sequence[str]:
        """Resources that have objects."""
        return [name for name, spaces in self._objects.items() if any(spaces.values())]

    def cursor(self, resource: str, revision: int) -> Cursor:
        """For the changes after a revision; `Compacted` if they are forgotten."""
        return Cursor(self._history(resource), revision)

    # Writes

    def create(self, key: Key, obj: JsonObject) -> JsonObject:
        """A new object, as it is stored (with its resourceVersion)."""
        if self.get(key) is not None:
            raise Exists(key)
        return self._write(key, ChangeType.ADDED, obj)

    def update(self, key: Key, obj: JsonObject, *, expected: JsonObject) -> JsonObject:
        """Another object in the place of `expected`, which must be the one that is there."""
        self._require(key, expected)
        return self._write(key, ChangeType.MODIFIED, obj)

    def delete(self, key: Key, *, expected: JsonObject) -> JsonObject:
        """The end of `expected`; as it was, with the revision of its deletion."""
        self._require(key, expected)
        return self._write(key, ChangeType.DELETED, expected)

    def forget(self, revision: int | None = None) -> None:
        """Forget the history up to a revision (the newest, if none is given)."""
        self._floor = max(self._floor, self.revision if revision is None else revision)
        for history in self._histories.values():
            history.forget(self._floor)

    async def durable(self) -> None:
        """Until all that was written before is safe from a kill."""
        if self._journal is not None:
            await self._journal.flushed()

    async def close(self) -> None:
        """Write out what is left."""
        if self._journal is not None:
            await self._journal.close()

    # Inside

    def _require(self, key: Key, expected: JsonObject) -> None:
        present = self.get(key)
        if present is None:
            raise Missing(key)
        if present is not expected:
            raise Changed(key)

    def _write(self, key: Key, kind: ChangeType, obj: JsonObject) -> JsonObject:
        self.revision += 1
        old = self.get(key)
        stored = at_revision(obj, self.revision)
        is_gone = kind is ChangeType.DELETED
        self._put(key, None if is_gone else stored)
        self._history(key.resource).append(Change(self.revision, kind, key, stored, old))
        if self._journal is not None:
            self._journal.append(Record(self.revision, key, None if is_gone else stored))
        return stored

    def _put(self, key: Key, obj: JsonObject | None) -> None:
        objects = self._objects.setdefault(key.resource, {}).setdefault(key.namespace, {})
        if obj is None:
            objects.pop(key.name, None)
        else:
            objects[key.name] = obj

    def _history(self, resource: str) -> History:
        history = self._histories.get(resource)
        if history is None:
            history = self._histories[resource] = History(window=self._window, floor=self._floor)
        return history

    def _spaces(
        self, resource: str, namespace: str | None
    ) -> Mapping[str, Mapping[str, JsonObject]]:
        spaces = self._objects.get(resource, {})
        return spaces if namespace is None else {namespace: spaces.get(namespace, {})}

    def _rewound(
        self,
        resource: str,
        spaces: Mapping[str, Mapping[str, JsonObject]],
        namespace: str | None,
        revision: int,
    ) -> Mapping[str, Mapping[str, JsonObject]]:
        """The objects as they were: later changes taken back, the last one first."""
        rewound = {space: dict(objects) for space, objects in spaces.items()}
        for change in reversed(self._history(resource).after(revision)):
            _, space, name = change.key
            if namespace is not None and space != namespace:
                continue
            objects = rewound.setdefault(space, {})
            if change.old is None:
                objects.pop(name, None)
            else:
                objects[name] = change.old
        return rewound

    def _load(self, journal: Journal) -> None:
        for record in journal.records():
            self._put(record.key, record.object)
            self.revision = max(self.revision, record.revision)
        self.revision = max(self.revision, journal.revision) + _REVISION_GAP
        self._floor = self.revision
        journal.start(self._snapshot)

    def _snapshot(self) -> Snapshot:
        records = (Record(self.revision, key, obj) for key, obj in self.everything())
        return Snapshot(self.revision, records)
