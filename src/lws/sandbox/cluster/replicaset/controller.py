"""Which ReplicaSets are due, and their passes."""

from collections.abc import Sequence

from lws.client.resources import PODS
from lws.sandbox.cluster.children import Children
from lws.sandbox.cluster.context import REPLICA_SETS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import (
    TERMINAL,
    available_in,
    controller_of,
    is_ready,
    is_terminating,
    labels_of,
    namespace_of,
    phase_of,
    place_of,
    status_of,
)
from lws.sandbox.cluster.owners import OWNER, Owners, owner_key, owner_keys, selects
from lws.sandbox.cluster.replicaset.preference import surplus
from lws.sandbox.cluster.replicaset.status import counted_status
from lws.sandbox.cluster.worker import Again, Worker
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

Place = tuple[str, str]

_NAMESPACE = "namespace"
_SOURCE = Source("replicaset-controller")


class ReplicaSetController:
    """Makes and ends the pods of all ReplicaSets."""

    def __init__(self, context: Context) -> None:
        self._clock = context.clock
        self._sets = context.caches.of(REPLICA_SETS)
        self._sets.index(_NAMESPACE, lambda obj: (namespace_of(obj),))
        self._sets.index(OWNER, owner_keys)
        self._pods = context.caches.of(PODS)
        self._owners = Owners(context, REPLICA_SETS, PODS)
        self._children = Children(context, REPLICA_SETS, _SOURCE)
        self.worker: Worker[Place] = Worker(context.clock, self._sync)
        self._sets.on_change(self._set_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    # What is due

    def _set_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        del old
        if new is not None:
            self.worker.add(place_of(new))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if not len(self._sets):
            return
        before = controller_of(old) if old is not None else None
        after = controller_of(new) if new is not None else None
        for pod in (old, new):
            owner = self._owners.owner_of(pod) if pod is not None else None
            if owner is not None:
                self.worker.add(place_of(owner))
        if new is None or after is not None or is_terminating(new):
            return
        if old is None or before is not None or labels_of(old) != labels_of(new):
            self._add_matching(new)

    def _add_matching(self, pod: JsonObject) -> None:
        for one in self._sets.by(_NAMESPACE, namespace_of(pod)):
            if selects(one, pod):
                self.worker.add(place_of(one))

    # A pass

    async def _sync(self, place: Place) -> None:
        replica_set = self._sets.get(*place)
        if replica_set is None:
            return
        pods = await self._owners.claimed(replica_set, is_active)
        problem: ApiStatus | Again | None = None
        if not is_terminating(replica_set):
            try:
                await self._manage(replica_set, pods)
            except (ApiStatus, Again) as error:
                problem = error
        await self._tell(replica_set, pods, str(problem) if problem is not None else "")
        if problem is not None:
            raise problem
        self._plan_check(replica_set, pods)

    async def _manage(self, replica_set: JsonObject, pods: Sequence[JsonObject]) -> None:
        missing = int(replica_set["spec"].get("replicas") or 0) - len(pods)
        if missing > 0:
            await self._children.create(replica_set, missing)
        elif missing < 0:
            now = self._clock.now()
            going = surplus(pods, self._siblings(replica_set), -missing, now)
            await self._children.delete(replica_set, going)

    def _siblings(self, replica_set: JsonObject) -> list[JsonObject]:
        """Active pods of all ReplicaSets of the same Deployment."""
        owner, space = controller_of(replica_set), namespace_of(replica_set)
        sets = [replica_set]
        if owner is not None:
            sets = self._sets.by(OWNER, owner_key(space, owner["uid"]))
        return [pod for one in sets for pod in self._owners.of(one) if is_active(pod)]

    async def _tell(
        self, replica_set: JsonObject, pods: Sequence[JsonObject], problem: str
    ) -> None:
        terminating = sum(
            is_ending(pod) and selects(replica_set, pod) for pod in self._owners.of(replica_set)
        )
        status = counted_status(replica_set, pods, terminating, problem, self._clock)
        if status != status_of(replica_set):
            await self._children.set_status(replica_set, status)

    def _plan_check(self, replica_set: JsonObject, pods: Sequence[JsonObject]) -> None:
        """Come back when the next pod has been ready for long enough."""
        min_ready, now = int(replica_set["spec"].get("minReadySeconds") or 0), self._clock.now()
        if min_ready:
            waits = [available_in(pod, min_ready, now) for pod in pods if is_ready(pod)]
            soon = [wait for wait in waits if wait]
            if soon:
                self.worker.add_after(place_of(replica_set), min(soon))


def is_active(pod: JsonObject) -> bool:
    """Neither over nor on its way out."""
    return phase_of(pod) not in TERMINAL and not is_terminating(pod)


def is_ending(pod: JsonObject) -> bool:
    """Deleted, and not over yet."""
    return phase_of(pod) not in TERMINAL and is_terminating(pod)
