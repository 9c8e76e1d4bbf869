"""Read your own writes: nothing is decided on a cache that has not yet seen what we did last."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from lws.runtime.store import KubernetesObject


class Lookup(Protocol):
    """The part of a store that a guard reads."""

    def get(self, *, namespace: str, name: str) -> KubernetesObject | None: ...


class Cache(Protocol):
    """The part of an informer that a guard reads."""

    @property
    def last_seen(self) -> int:
        """The highest resourceVersion that the store reflects."""
        ...

    @property
    def store(self) -> Lookup: ...

    def has_seen(self, resource_version: str) -> bool:
        """Does the store reflect that write?"""
        ...


@dataclass(frozen=True, slots=True)
class _Written:
    """Waits for a version that is no number, which only the informer can recognise."""

    cache: Cache
    resource_version: str

    def is_seen(self) -> bool:
        return self.cache.has_seen(self.resource_version)


@dataclass(frozen=True, slots=True)
class _Deleted:
    """Waits for one life of an object to be over, or to be known to end."""

    cache: Cache
    namespace: str
    name: str
    uid: str

    def is_seen(self) -> bool:
        there = self.cache.store.get(namespace=self.namespace, name=self.name)
        if there is None or there.metadata.uid != self.uid:
            return True
        return there.metadata.deletion_timestamp is not None


class _Family:
    """What one family still waits for: per cache one number, and the few that are no numbers."""

    __slots__ = ("others", "versions")

    def __init__(self) -> None:
        self.versions: dict[Cache, int] = {}
        self.others: set[_Written | _Deleted] = set()

    def is_current(self) -> bool:
        if self.versions:
            seen = [cache for cache, wanted in self.versions.items() if cache.last_seen >= wanted]
            for cache in seen:
                del self.versions[cache]
        if self.others:
            self.others = {wait for wait in self.others if not wait.is_seen()}
        return not self.versions and not self.others


SWEEP_FAMILIES_MIN = 256  # below, a sweep is not worth its while


class Guard:
    """Which families have writes that the caches have not shown yet.

    ResourceVersions of one resource compare as integers (so says the API since Kubernetes 1.35,
    and so it was before); any other kind of version is left to the informer to recognise.
    """

    def __init__(self) -> None:
        self._families: dict[Hashable, _Family] = {}
        self._sweep_at = SWEEP_FAMILIES_MIN

    def __len__(self) -> int:
        return len(self._families)

    def wrote(self, family: Hashable, informer: Cache, resource_version: str) -> None:
        """The answer to our write had this version; an empty one (a dry run) promises nothing."""
        if not resource_version or informer.has_seen(resource_version):
            return
        waits = self._of(family)
        if resource_version.isdecimal():
            version = int(resource_version)
            waits.versions[informer] = max(version, waits.versions.get(informer, 0))
        else:
            waits.others.add(_Written(informer, resource_version))

    def deleted(
        self, family: Hashable, informer: Cache, *, namespace: str, name: str, uid: str
    ) -> None:
        """The server took our deletion; its answer need not carry the version to wait for."""
        wait = _Deleted(informer, namespace, name, uid)
        if not wait.is_seen():
            self._of(family).others.add(wait)

    def is_current(self, family: Hashable) -> bool:
        """Do the caches show all that we did to this family?"""
        waits = self._families.get(family)
        if waits is None:
            return True
        if not waits.is_current():
            return False
        del self._families[family]
        return True

    def _of(self, family: Hashable) -> _Family:
        if family not in self._families and len(self._families) >= self._sweep_at:
            self._sweep()
        return self._families.setdefault(family, _Family())

    def _sweep(self) -> None:
        """Forget families that nobody asks about any more; paid for by as many writes."""
        for family in [name for name, waits in self._families.items() if waits.is_current()]:
            del self._families[family]
        self._sweep_at = max(SWEEP_FAMILIES_MIN, 2 * len(self._families))
