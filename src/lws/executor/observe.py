"""Cache to snapshot: one consistent picture of one LeaderWorkerSet."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lws.api.apps import StatefulSet
from lws.api.core import Service
from lws.api.kinds import Kind
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.api.meta import controller_uid
from lws.base.clock import Clock
from lws.executor.caches import Caches
from lws.executor.families import Families, SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.recorded import WantedTemplates
from lws.planner.leaderworkerset.snapshot import Foreign, LeaderWorkerSetSnapshot


class Observer:
    """Builds snapshots out of the caches; asks the API server nothing."""

    def __init__(
        self, *, caches: Caches, families: Families, foreign: ForeignObjects, clock: Clock
    ) -> None:
        self._caches = caches
        self._families = families
        self._foreign = foreign
        self._clock = clock
        self._wanted = WantedTemplates()
        self._documents: dict[SetKey, tuple[str, Mapping[str, Any]]] = {}

    def lws(self, key: SetKey) -> LeaderWorkerSet | None:
        """The LeaderWorkerSet as cached."""
        return self._caches.sets.store.get(namespace=key.namespace, name=key.name)

    def snapshot(
        self, key: SetKey, *, handing_over: bool = False
    ) -> LeaderWorkerSetSnapshot | None:
        """None: there is no such LeaderWorkerSet."""
        lws = self.lws(key)
        if lws is None:
            return None
        foreign = [
            Foreign(kind, name) for kind, name in self._foreign.of((key.namespace, key.name))
        ]
        statefulset = self._caches.statefulsets.store.get(namespace=key.namespace, name=key.name)
        if statefulset is not None and not _is_ours(statefulset, lws):
            foreign.append(Foreign(Kind.STATEFUL_SET, key.name))
            statefulset = None
        service = self._caches.services.store.get(namespace=key.namespace, name=key.name)
        if service is not None and not _is_ours(service, lws):
            foreign.append(Foreign(Kind.SERVICE, key.name))
        return LeaderWorkerSetSnapshot(
            lws=lws,
            wanted=self._wanted.read(key, lws),
            statefulset=statefulset,
            document={} if statefulset is None else self._document(statefulset),
            revisions=self._families.revisions(lws),
            service=service,
            groups=self._families.facts(key),
            foreign=tuple(dict.fromkeys(foreign)),
            now=self._clock.now(),
            handing_over=handing_over,
        )

    def forget(self, key: SetKey) -> None:
        """The LeaderWorkerSet is gone."""
        self._foreign.forget((key.namespace, key.name))
        self._wanted.forget(key)
        self._documents.pop(key, None)

    def _document(self, statefulset: StatefulSet) -> Mapping[str, Any]:
        meta = statefulset.metadata
        key = SetKey(meta.namespace, meta.name)
        known = self._documents.get(key)
        if known is not None and known[0] == meta.resource_version:
            return known[1]
        assert statefulset.document is not None, "a leader StatefulSet keeps its document"
        document: Mapping[str, Any] = msgspec.json.decode(statefulset.document)
        self._documents[key] = (meta.resource_version, document)
        return document


def _is_ours(thing: StatefulSet | Service, lws: LeaderWorkerSet) -> bool:
    return controller_uid(thing.metadata.owner_references) == lws.metadata.uid
