"""Objects of one kind by name, and by whatever else they are asked for."""

from collections.abc import Callable, Collection, Hashable, Iterable, ValuesView
from typing import Generic, Protocol, TypeVar


class Metadata(Protocol):
    """What the runtime reads of any object."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> str: ...
    @property
    def deletion_timestamp(self) -> str | None: ...


class KubernetesObject(Protocol):
    """A view of an object: frozen, with its metadata."""

    @property
    def metadata(self) -> Metadata: ...


T = TypeVar("T", bound=KubernetesObject)

Key = tuple[str, str]  # namespace, name
KeyOf = Callable[[T], Iterable[Hashable]]


def key_of(thing: KubernetesObject) -> Key:
    """Where the store keeps an object."""
    return thing.metadata.namespace, thing.metadata.name


class Store(Generic[T]):
    """Read by anyone, written by its informer alone."""

    def __init__(self) -> None:
        self._objects: dict[Key, T] = {}
        self._key_ofs: dict[str, KeyOf[T]] = {}
        self._indexes: dict[str, dict[Hashable, dict[Key, T]]] = {}

    def get(self, *, namespace: str, name: str) -> T | None:
        """The object of that name, None if there is none."""
        return self._objects.get((namespace, name))

    def add_index(self, name: str, key_of: KeyOf[T]) -> None:
        """From now on find objects by the values that `key_of` gives for each."""
        assert name not in self._key_ofs, f"two indexes of the name {name}"
        self._key_ofs[name] = key_of
        self._indexes[name] = {}
        for key, thing in self._objects.items():
            self._enter(name, key, thing, key_of(thing))

    def by_index(self, name: str, value: Hashable) -> Collection[T]:
        """The objects with that value now: a copy as long as the hits, safe across an await."""
        hits = self._indexes[name].get(value)
        return tuple(hits.values()) if hits else ()

    def values(self) -> ValuesView[T]:
        """All objects: a live view, not to be walked across an await."""
        return self._objects.values()

    def names(self) -> Collection[Key]:
        """Namespace and name of all objects: a live view."""
        return self._objects.keys()

    def __len__(self) -> int:
        return len(self._objects)

    def put(self, thing: T) -> T | None:
        """Keep an object; what stood in its place. If an index's function fails, nothing is
        changed."""
        entries = [(name, tuple(function(thing))) for name, function in self._key_ofs.items()]
        key = key_of(thing)
        old = self._objects.get(key)
        if old is not None:
            self._leave(key, old)
        self._objects[key] = thing
        for name, values in entries:
            self._enter(name, key, thing, values)
        return old

    def remove(self, key: Key) -> T | None:
        """Forget an object; what stood there."""
        old = self._objects.pop(key, None)
        if old is not None:
            self._leave(key, old)
        return old

    def _enter(self, name: str, key: Key, thing: T, values: Iterable[Hashable]) -> None:
        index = self._indexes[name]
        for value in values:
            index.setdefault(value, {})[key] = thing

    def _leave(self, key: Key, old: T) -> None:
        for name, function in self._key_ofs.items():
            index = self._indexes[name]
            for value in function(old):
                hits = index.get(value)
                if hits is not None and hits.pop(key, None) is not None and not hits:
                    del index[value]
