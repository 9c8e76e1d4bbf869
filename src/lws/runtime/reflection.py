"""What the server's answers do to the store, and which changes that makes. No I/O, no waiting."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import msgspec

from lws.runtime.store import Key, Store, T, key_of


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """From `old` to `new`: None before the first, None after the last version that we know.

    Old and new are always of one life (one UID): an object that takes a vanished one's name is two
    changes.
    """

    old: T | None
    new: T | None

    @property
    def latest(self) -> T:
        """The newer one of the two."""
        latest = self.new if self.new is not None else self.old
        assert latest is not None, "a change of nothing"
        return latest


class Identity(msgspec.Struct, frozen=True, rename="camel"):
    """As much of an object's metadata as could be read; fields may be empty."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


Publish = Callable[[Change[T]], None]
Refuse = Callable[[Identity, Exception], None]


class Reflection(Generic[T]):
    """Keeps the store equal to the server.

    An object that cannot be indexed is as good as one that cannot be read: it is refused, and what
    was known of it is dropped, because nobody must act on what it was before.
    """

    def __init__(self, store: Store[T], *, publish: Publish[T], refuse: Refuse) -> None:
        self._store = store
        self._publish = publish
        self._refuse = refuse

    def present(self, thing: T) -> None:
        """An event says that the object is like this."""
        old = self._store.get(namespace=thing.metadata.namespace, name=thing.metadata.name)
        if old is not None and not _is_newer(thing, old):
            return  # an event that we know, or an older one: a watch resumed further back
        self._replace(old, thing)

    def absent(self, thing: T) -> None:
        """An event says that the object is gone; this is its last state."""
        key = key_of(thing)
        old = self._store.get(namespace=key[0], name=key[1])
        if old is None:
            return
        if old.metadata.uid != thing.metadata.uid and not _is_newer(thing, old):
            return  # the end of an earlier life
        self.drop(key)

    def drop(self, key: Key) -> None:
        """Nothing is known of the object any more."""
        old = self._store.remove(key)
        if old is not None:
            self._publish(Change(old, None))

    def reset(self, things: dict[Key, T]) -> None:
        """A list says that these are all objects there are, and it is right even where it is older
        than what we have: the server may have come back from a backup."""
        for key in [key for key in self._store.names() if key not in things]:
            self.drop(key)
        for key, thing in things.items():
            old = self._store.get(namespace=key[0], name=key[1])
            if old is None or not _is_same(thing, old):
                self._replace(old, thing)

    def _replace(self, old: T | None, thing: T) -> None:
        if old is not None and old.metadata.uid != thing.metadata.uid:
            self.drop(key_of(old))
            old = None
        try:
            self._store.put(thing)
        except Exception as error:  # noqa: BLE001 - any function of an index may fail on any object
            self.drop(key_of(thing))
            self._refuse(_identity(thing), error)
        else:
            self._publish(Change(old, thing))


def _is_same(one: T, other: T) -> bool:
    """The same version of the same life?"""
    ours, theirs = one.metadata, other.metadata
    return ours.resource_version == theirs.resource_version and ours.uid == theirs.uid


def _is_newer(one: T, other: T) -> bool:
    """By resourceVersion; if they do not compare, whatever differs is news."""
    ours, theirs = one.metadata.resource_version, other.metadata.resource_version
    if ours == theirs:
        return one.metadata.uid != other.metadata.uid
    if ours.isdecimal() and theirs.isdecimal():
        return int(ours) > int(theirs)
    return True


def _identity(thing: T) -> Identity:
    metadata = thing.metadata
    return Identity(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )
