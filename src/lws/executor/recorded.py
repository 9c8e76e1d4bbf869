"""Templates read once: a revision's data does not change, and a spec's only with its generation."""

from collections.abc import Hashable

from lws.api.apps import ControllerRevision
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.base.ids import UID
from lws.planner.leaderworkerset.revisions import read_wanted
from lws.planner.leaderworkerset.snapshot import WantedTemplate
from lws.planner.revision import Revision, UnreadableRevision, read_revision, topologies_of


class RecordedTemplates:
    """Revisions as planners read them, by UID and resourceVersion."""

    def __init__(self) -> None:
        self._read: dict[UID, tuple[str, Revision | None]] = {}

    def read(self, recorded: ControllerRevision) -> Revision | None:
        """None: its data is not what a LeaderWorkerSet controller records."""
        meta = recorded.metadata
        known = self._read.get(meta.uid)
        if known is not None and known[0] == meta.resource_version:
            return known[1]
        try:
            revision = read_revision(recorded)
        except UnreadableRevision:
            revision = None
        self._read[meta.uid] = (meta.resource_version, revision)
        return revision

    def forget(self, recorded: ControllerRevision) -> None:
        """It is gone, or went over to the other watch."""
        self._read.pop(recorded.metadata.uid, None)


class WantedTemplates:
    """What each LeaderWorkerSet asks for, of its life and generation."""

    def __init__(self) -> None:
        self._read: dict[Hashable, tuple[tuple[object, ...], WantedTemplate]] = {}

    def read(self, key: Hashable, lws: LeaderWorkerSet) -> WantedTemplate:
        """Read anew only where the spec or the topology annotations changed."""
        topologies = topologies_of(lws.metadata.annotations)
        meta = lws.metadata
        version = (meta.uid, meta.generation, *sorted(topologies.items()))
        known = self._read.get(key)
        if known is not None and known[0] == version:
            return known[1]
        wanted = read_wanted(lws)
        self._read[key] = (version, wanted)
        return wanted

    def forget(self, key: Hashable) -> None:
        """The LeaderWorkerSet is gone."""
        self._read.pop(key, None)
