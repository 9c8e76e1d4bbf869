"""Which sets are due, and their passes."""

from collections.abc import Sequence

from lws.client.resources import PODS, STATEFULSETS
from lws.sandbox.cluster.context import Context
from lws.sandbox.cluster.objects import (
    available_in,
    controller_of,
    is_ready,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    place_of,
)
from lws.sandbox.cluster.owners import Owners, Selection, selection, selects
from lws.sandbox.cluster.statefulset.hands import Hands
from lws.sandbox.cluster.statefulset.identity import min_ready_of, parent_and_ordinal
from lws.sandbox.cluster.statefulset.revisions import History, Revisions
from lws.sandbox.cluster.statefulset.status import SetStatus
from lws.sandbox.cluster.statefulset.sync import Sync
from lws.sandbox.cluster.worker import Again, Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

Place = tuple[str, str]

_NAMESPACE = "namespace"


class StatefulSetController:
    """Makes, updates and ends the pods of all StatefulSets."""

    def __init__(self, context: Context, *, has_max_unavailable: bool = False) -> None:
        self._api = context.api
        self._clock = context.clock
        self._has_max_unavailable = has_max_unavailable
        self._sets = context.caches.of(STATEFULSETS)
        self._pods = context.caches.of(PODS)
        self._owners = Owners(context, STATEFULSETS, PODS, selection=_membership)
        self._sets.index(_NAMESPACE, lambda obj: (namespace_of(obj),))
        self._history = History(context)
        self._hands = Hands(context)
        self.worker: Worker[Place] = Worker(context.clock, self._sync, parallel=20)
        self._sets.on_change(self._set_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    # What is due

    def _set_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        changed = new or old
        if changed is not None:
            self.worker.add(place_of(changed))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        before = controller_of(old) if old is not None else None
        after = controller_of(new) if new is not None else None
        if old is not None and before is not None and before != after:
            self._add_owner(old)
        if new is None:
            return
        if after is None:
            is_same = old is not None and before is None and labels_of(old) == labels_of(new)
            if not is_same and not is_terminating(new):
                self._add_matching(new)
            return
        owner = self._add_owner(new)
        if owner is not None and old is not None and not is_ready(old) and is_ready(new):
            self._add_later(owner)

    def _add_owner(self, pod: JsonObject) -> JsonObject | None:
        owner = self._owners.owner_of(pod)
        if owner is not None:
            self.worker.add(place_of(owner))
        return owner

    def _add_later(self, stateful_set: JsonObject) -> None:
        seconds = min_ready_of(stateful_set)
        if seconds:
            self.worker.add_after(place_of(stateful_set), seconds)

    def _add_matching(self, pod: JsonObject) -> None:
        for one in self._sets.by(_NAMESPACE, namespace_of(pod)):
            if selects(one, pod):
                self.worker.add(place_of(one))

    # A pass

    async def _sync(self, place: Place) -> None:
        stateful_set = self._sets.get(*place)
        if stateful_set is None:
            return
        await self._adopt_revisions(stateful_set)
        pods = await self._owners.claimed(stateful_set)
        now = self._clock.now()
        revisions = await self._history.current_and_update(stateful_set)
        sync = Sync(
            self._hands,
            stateful_set,
            pods,
            revisions,
            now=now,
            has_max_unavailable=self._has_max_unavailable,
        )
        problem: ApiStatus | Again | None = None
        try:
            await sync.run()
        except (ApiStatus, Again) as error:
            problem = error
        await self._finish(stateful_set, pods, revisions, sync.status)
        if problem is not None:
            raise problem
        self._plan_check(stateful_set, pods, sync.status, now)

    async def _finish(
        self,
        stateful_set: JsonObject,
        pods: Sequence[JsonObject],
        revisions: Revisions,
        status: SetStatus,
    ) -> None:
        status.complete(stateful_set)
        if status.differs(stateful_set):
            await self._hands.set_status(stateful_set, status.to_json())
        await self._history.truncate(stateful_set, pods, revisions)

    def _plan_check(
        self, stateful_set: JsonObject, pods: Sequence[JsonObject], status: SetStatus, now: float
    ) -> None:
        """Come back when the next pod has been ready for long enough."""
        min_ready = min_ready_of(stateful_set)
        if not min_ready or status.ready == status.available:
            return
        waits = [wait for pod in pods if (wait := available_in(pod, min_ready, now))]
        self.worker.add_after(place_of(stateful_set), min(waits, default=float(min_ready)))

    # Whose revisions

    async def _adopt_revisions(self, stateful_set: JsonObject) -> None:
        if is_terminating(stateful_set):
            return
        for revision in self._history.listed(stateful_set):
            if controller_of(revision) is None:
                await self._history.adopt(stateful_set, revision)


def _membership(stateful_set: JsonObject) -> Selection:
    """Which pods are selected, and of the set's name."""
    is_selected, name = selection(stateful_set), name_of(stateful_set)
    return lambda pod: parent_and_ordinal(pod)[0] == name and is_selected(pod)
