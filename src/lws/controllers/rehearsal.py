"""A look of every controller at what lists show, with nothing written.

The caches are filled once in place of being watched; then the very controllers pass over each set,
and a `Rehearsal` in the place of the performer says what they would have done.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from lws.api import apps, core, disaggregatedset, leaderworkerset
from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.controllers.disaggregatedset_pair import DisaggregatedSetPair
from lws.controllers.group import GroupController
from lws.controllers.leaderworkerset import LeaderWorkerSetController
from lws.executor.caches import RESOURCES, Caches, make_caches
from lws.executor.disaggregatedset.caches import make_disaggregated_caches
from lws.executor.disaggregatedset.families import DisaggregatedKey, SliceKey
from lws.executor.families import Families, GroupKey, SetKey
from lws.executor.foreign import ForeignObjects
from lws.executor.observe import Observer
from lws.executor.perform import Failure
from lws.executor.rehearsal import Rehearsal
from lws.planner.actions import Action
from lws.planner.pods.gang import Gang
from lws.runtime.guard import Guard
from lws.runtime.informer import Informer
from lws.runtime.metrics import Metrics

T = TypeVar("T")
Documents = Iterable[bytes]
"""Objects as JSON, as a list gives them."""


_DUE_SECONDS = 60.0
"""Whatever a controller puts off, to fold it with what may come next, is due by then."""


class _LaterClock:
    """A clock that can be put ahead for those who measure time, and not for those who tell it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead = 0.0

    def now(self) -> float:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    def random(self) -> float:
        return self._clock.random()


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What the first pass over one set would do."""

    namespace: str
    name: str
    actions: list[Action]
    obstacles: list[Failure]


async def _rehearsed(
    performer: Rehearsal, clock: _LaterClock, look: Callable[[], Awaitable[None]]
) -> tuple[list[Action], list[Failure]]:
    """Two passes: the second, some time later, does what the first has put off. What the first
    met in its way the second knows of, and tries no more."""
    clock.ahead = 0.0
    await look()
    _, met = performer.take()
    clock.ahead = _DUE_SECONDS
    await look()
    actions, obstacles = performer.take()
    return actions, [*met, *obstacles]


class SetRehearsal:
    """LeaderWorkerSets and all that is theirs: `put…` every object, then `run`."""

    def __init__(
        self,
        client: KubernetesClient,
        clock: Clock,
        *,
        gang: Gang | None = None,
        pod_groups: Resource | None = None,
    ) -> None:
        """`gang` and `pod_groups`, its kind: as the operator would be configured."""
        self._client, self._gang = client, gang
        self._clock = _LaterClock(clock)
        self._resources = dict(RESOURCES)
        if pod_groups is not None:
            self._resources[Kind.POD_GROUP] = pod_groups
        self.caches: Caches = make_caches(client, clock, Metrics(), pod_groups=pod_groups)

    def put_sets(self, documents: Documents) -> None:
        """LeaderWorkerSets. msgspec.ValidationError: one cannot be read."""
        _fill(self.caches.sets, documents, leaderworkerset.decode)

    def put_statefulsets(self, documents: Documents) -> None:
        """Those that carry our label."""
        _fill(self.caches.statefulsets, documents, apps.decode_statefulset)

    def put_pods(self, documents: Documents) -> None:
        """Those that carry our label."""
        _fill(self.caches.pods, documents, core.decode_pod)

    def put_services(self, documents: Documents) -> None:
        """Those that carry our label."""
        _fill(self.caches.services, documents, core.decode_service)

    def put_revisions(self, documents: Documents, *, retired: bool = False) -> None:
        """Of the sets, not of their StatefulSets; active ones or retired ones."""
        informer = self.caches.retired if retired else self.caches.revisions
        _fill(informer, documents, apps.decode_revision)

    def put_pod_groups(self, documents: Documents) -> None:
        """Those that carry our label."""
        assert self.caches.pod_groups is not None, "asked for with a gang scheduler"
        _fill(self.caches.pod_groups, documents, core.decode_pod_group)

    async def run(self) -> list[Rehearsed]:
        """One pass over each set and each of its groups."""
        groups: dict[SetKey, list[GroupKey]] = {}
        families = Families(
            self.caches,
            wake_set=lambda key: groups.update({key: []}),
            wake_group=lambda key: groups[SetKey(key.namespace, key.lws)].append(key),
        )
        families.start()
        families.wake_all()
        foreign = ForeignObjects(self._client, self._clock, resources=self._resources)
        performer = Rehearsal(
            client=self._client,
            caches=self.caches,
            foreign=foreign,
            clock=self._clock,
            resources=self._resources,
        )
        whole = LeaderWorkerSetController(
            observer=Observer(
                caches=self.caches, families=families, foreign=foreign, clock=self._clock
            ),
            performer=performer,
            foreign=foreign,
            clock=self._clock,
            metrics=Metrics(),
        )
        one = GroupController(
            families=families, performer=performer, client=self._client, gang=self._gang
        )
        rehearsed = []
        for key, own in groups.items():

            async def look(key: SetKey = key, own: list[GroupKey] = own) -> None:
                await whole.reconcile(key)
                for group in own:
                    await one.reconcile(group)

            rehearsed.append(Rehearsed(*key, *await _rehearsed(performer, self._clock, look)))
        return rehearsed


class DisaggregatedRehearsal:
    """DisaggregatedSets and all that is theirs: `put…` every object, then `run`."""

    def __init__(self, client: KubernetesClient, clock: Clock) -> None:
        self._client, self._clock = client, _LaterClock(clock)
        self._shared = make_caches(client, clock, Metrics())
        self.caches = make_disaggregated_caches(client, clock, Metrics(), shared=self._shared)

    def put_sets(self, documents: Documents) -> None:
        """DisaggregatedSets. msgspec.ValidationError: one cannot be read."""
        _fill(self.caches.sets, documents, disaggregatedset.decode)

    def put_leaderworkersets(self, documents: Documents) -> None:
        """Those of the roles."""
        _fill(self._shared.sets, documents, leaderworkerset.decode)

    def put_services(self, documents: Documents) -> None:
        """Those of the roles."""
        _fill(self.caches.services, documents, core.decode_service)

    def put_scalers(self, documents: Documents) -> None:
        """Those of External roles."""
        _fill(self.caches.scalers, documents, disaggregatedset.decode_role_scaler)

    async def run(self) -> list[Rehearsed]:
        """One pass over each slice of each set, then over the set."""
        foreign = ForeignObjects(self._client, self._clock)
        performer = Rehearsal(
            client=self._client, caches=self._shared, foreign=foreign, clock=self._clock
        )
        pair = DisaggregatedSetPair(
            self.caches,
            wake_set=lambda _: None,
            wake_slice=lambda _: None,
            performer=performer,
            foreign=foreign,
            guard=Guard(),
            clock=self._clock,
            metrics=Metrics(),
        )
        pair.families.start()
        rehearsed = []
        for ds in list(self.caches.sets.store.values()):
            key = DisaggregatedKey(ds.metadata.namespace, ds.metadata.name)

            async def look(key: DisaggregatedKey = key) -> None:
                for index in sorted(pair.families.slices(key)):
                    await pair.slices.reconcile(SliceKey(*key, index))
                await pair.sets.reconcile(key)

            rehearsed.append(Rehearsed(*key, *await _rehearsed(performer, self._clock, look)))
        return rehearsed


def _fill(
    informer: Informer[Any], documents: Documents, decode: Callable[[bytes | msgspec.Raw], Any]
) -> None:
    for document in documents:
        informer.store.put(decode(document))
