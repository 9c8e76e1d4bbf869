"""Which Deployments are due, and their passes."""

from collections.abc import Sequence

from lws.client.resources import DEPLOYMENTS, PODS
from lws.sandbox.cluster.context import REPLICA_SETS, Context
from lws.sandbox.cluster.deployment.hands import Hands
from lws.sandbox.cluster.deployment.revisions import new_set
from lws.sandbox.cluster.deployment.sizes import is_recreate
from lws.sandbox.cluster.deployment.sync import Sync
from lws.sandbox.cluster.objects import (
    TERMINAL,
    controller_of,
    labels_of,
    namespace_of,
    phase_of,
    place_of,
    status_of,
    uid_of,
)
from lws.sandbox.cluster.owners import OWNER, Owners, owner_key, owner_keys, selects
from lws.sandbox.cluster.worker import Worker
from lws.sandbox.server.verbs import JsonObject

Place = tuple[str, str]

_NAMESPACE = "namespace"


class DeploymentController:
    """Makes, scales and forgets the ReplicaSets of all Deployments."""

    def __init__(self, context: Context) -> None:
        self._clock = context.clock
        self._deployments = context.caches.of(DEPLOYMENTS)
        self._deployments.index(_NAMESPACE, lambda obj: (namespace_of(obj),))
        self._sets = context.caches.of(REPLICA_SETS)
        self._pods = context.caches.of(PODS)
        self._pods.index(OWNER, owner_keys)
        self._owners = Owners(context, DEPLOYMENTS, REPLICA_SETS)
        self._hands = Hands(context)
        self.worker: Worker[Place] = Worker(context.clock, self._sync)
        self._deployments.on_change(self._deployment_changed)
        self._sets.on_change(self._set_changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        """For ever."""
        await self.worker.run()

    # What is due

    def _deployment_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        del old
        if new is not None:
            self.worker.add(place_of(new))

    def _set_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        for one in (old, new):
            owner = self._owners.owner_of(one) if one is not None else None
            if owner is not None:
                self.worker.add(place_of(owner))
        if new is None or controller_of(new) is not None:
            return
        is_same = old is not None and controller_of(old) is None
        if old is None or not is_same or labels_of(old) != labels_of(new):
            for deployment in self._deployments.by(_NAMESPACE, namespace_of(new)):
                if selects(deployment, new):
                    self.worker.add(place_of(deployment))

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        """The last old pod that goes is waited for where all go before new ones come."""
        if old is None or new is not None or not len(self._deployments):
            return
        reference = controller_of(old)
        if reference is None or reference["kind"] != "ReplicaSet":
            return
        replica_set = self._sets.get(namespace_of(old), reference["name"])
        owner = self._owners.owner_of(replica_set) if replica_set is not None else None
        if owner is not None and is_recreate(owner):
            self.worker.add(place_of(owner))

    # A pass

    async def _sync(self, place: Place) -> None:
        deployment = self._deployments.get(*place)
        if deployment is None:
            return
        sets = await self._owners.claimed(deployment)
        has_old_pods = is_recreate(deployment) and self._has_old_pods(deployment, sets)
        sync = Sync(self._hands, self._clock, deployment, sets, has_old_pods=has_old_pods)
        await sync.run()
        if sync.again_in is not None:
            self.worker.add_after(place, sync.again_in)

    def _has_old_pods(self, deployment: JsonObject, sets: Sequence[JsonObject]) -> bool:
        """Does a pod of an old revision still run?"""
        new = new_set(deployment, sets)
        for one in sets:
            if new is not None and uid_of(one) == uid_of(new):
                continue
            if status_of(one).get("replicas"):
                return True
            pods = self._pods.by(OWNER, owner_key(namespace_of(one), uid_of(one)))
            if any(phase_of(pod) not in TERMINAL for pod in pods):
                return True
        return False
