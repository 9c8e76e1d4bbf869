"""Objects in our place that are not ours: met when a create runs into them, asked after until
they are gone. Our watches do not show them, for they need not carry our labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.base.ids import UID
from lws.client.errors import NotFound
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.executor.caches import RESOURCES
from lws.executor.owners import controller_of

ASK_SECONDS = 4.0
"""Not more often than this is one asked whether it is still there."""

Family = tuple[str, str]
"""(namespace, name) of a LeaderWorkerSet."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object as the API server has it, whatever our watches show."""

    uid: UID
    owner: str
    """UID of the controlling owner, "" if it has none."""
    labels: Mapping[str, str]


@dataclass(slots=True)
class _Met:
    owner: str
    """UID that would make it ours."""
    asked: float


def _nobody(_: Family) -> None:
    return None


class ForeignObjects:
    """By LeaderWorkerSet: what stands in the way; `changed` is called when that is another, since
    whoever meets one need not be who tells of it."""

    def __init__(
        self,
        client: KubernetesClient,
        clock: Clock,
        *,
        resources: Mapping[Kind, Resource] = RESOURCES,
        changed: Callable[[Family], None] = _nobody,
    ) -> None:
        self._resources = resources
        self._changed = changed
        self._client = client
        self._clock = clock
        self._met: dict[Family, dict[tuple[Kind, str], _Met]] = {}

    def of(self, family: Family) -> list[tuple[Kind, str]]:
        """Kind and name of each, in a steady order."""
        return sorted(self._met.get(family, ()), key=lambda met: (met[0].kind, met[1]))

    def note(self, family: Family, *, kind: Kind, name: str, owner: str) -> None:
        """One was met; `owner` is the UID that should have controlled it."""
        met = self._met.setdefault(family, {})
        is_news = (kind, name) not in met
        met[kind, name] = _Met(owner, self._clock.monotonic())
        if is_news:
            self._changed(family)

    def resolved(self, family: Family, *, kind: Kind, name: str) -> None:
        """It stands there no more, or ours does."""
        if self._met.get(family, {}).pop((kind, name), None) is not None:
            self._changed(family)

    def forget(self, family: Family) -> None:
        """The LeaderWorkerSet is gone."""
        self._met.pop(family, None)

    async def refresh(self, family: Family) -> None:
        """Ask after those that have not been asked after for a while."""
        now = self._clock.monotonic()
        for (kind, name), met in list(self._met.get(family, {}).items()):
            if now - met.asked < ASK_SECONDS:
                continue
            met.asked = now
            found = await self.found(kind, family[0], name)
            if found is None or found.owner == met.owner:
                self.resolved(family, kind=kind, name=name)
        if not self._met.get(family, True):
            del self._met[family]

    async def found(self, kind: Kind, namespace: str, name: str) -> Found | None:
        """What stands there; None: no such object."""
        try:
            thing = await self._client.get(self._resources[kind], namespace=namespace, name=name)
        except NotFound:
            return None
        metadata = thing["metadata"]
        return Found(
            uid=UID(metadata.get("uid") or ""),
            owner=controller_of(thing).get("uid", ""),
            labels=metadata.get("labels") or {},
        )
