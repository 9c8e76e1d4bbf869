"""The writes of the controller, with their events."""

from lws.client.resources import DEPLOYMENTS
from lws.sandbox.cluster.absent import may_be_gone
from lws.sandbox.cluster.context import CONTROLLERS, REPLICA_SETS, Context
from lws.sandbox.cluster.deployment.revisions import size_annotations
from lws.sandbox.cluster.deployment.sizes import replicas_of
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import annotations_of, name_of, namespace_of, with_metadata
from lws.sandbox.server.verbs import JsonObject

_SOURCE = Source("deployment-controller")


class Hands:
    """Each write waits until the cache has it, so that the next pass sees it."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._recorder = context.recorder
        self._deployments = context.caches.of(DEPLOYMENTS)
        self._sets = context.caches.of(REPLICA_SETS)

    async def create(self, deployment: JsonObject, made: JsonObject) -> JsonObject:
        """A new ReplicaSet; ApiStatus if it is refused, or its name is taken."""
        created = await self._api.create(
            REPLICA_SETS, made, namespace=namespace_of(made), caller=CONTROLLERS
        )
        await self._sets.seen(created)
        if replicas_of(created):
            self._say_scaled(deployment, created, 0)
        return created

    def get(self, replica_set: JsonObject) -> JsonObject:
        """The live object of this name."""
        space = namespace_of(replica_set)
        return self._api.get(REPLICA_SETS, name=name_of(replica_set), namespace=space)

    async def update(self, replica_set: JsonObject) -> JsonObject:
        """A ReplicaSet with other annotations."""
        updated = await self._api.update(
            REPLICA_SETS, replica_set, namespace=namespace_of(replica_set), caller=CONTROLLERS
        )
        await self._sets.seen(updated)
        return updated

    async def scale(
        self, deployment: JsonObject, replica_set: JsonObject, replicas: int
    ) -> JsonObject:
        """Other replicas, and what the ReplicaSet remembers of the Deployment's size."""
        before = replicas_of(replica_set)
        known = size_annotations(deployment)
        if before == replicas and known.items() <= annotations_of(replica_set).items():
            return replica_set
        changed = with_metadata(replica_set, annotations={**annotations_of(replica_set), **known})
        spec = {**replica_set["spec"], "replicas": replicas}
        updated = await self.update({**changed, "spec": spec})
        if before != replicas:
            self._say_scaled(deployment, updated, before)
        return updated

    async def delete(self, replica_set: JsonObject) -> None:
        """One that is gone already is just as well."""
        with may_be_gone():
            await self._api.delete(
                REPLICA_SETS,
                name=name_of(replica_set),
                namespace=namespace_of(replica_set),
                caller=CONTROLLERS,
            )
            await self._sets.seen(replica_set, later=True)

    async def set_status(self, deployment: JsonObject) -> JsonObject:
        """The status, and the annotations with it."""
        updated = await self._api.update(
            DEPLOYMENTS,
            deployment,
            namespace=namespace_of(deployment),
            subresource="status",
            caller=CONTROLLERS,
        )
        await self._deployments.seen(updated)
        return updated

    def warn(self, deployment: JsonObject, reason: str, message: str) -> None:
        """An event that something went wrong."""
        self._recorder.warning(_SOURCE, deployment, reason, message)

    def _say_scaled(self, deployment: JsonObject, replica_set: JsonObject, before: int) -> None:
        after = replicas_of(replica_set)
        word = "up" if after > before else "down"
        text = f"Scaled {word} replica set {name_of(replica_set)} from {before} to {after}"
        self._recorder.normal(_SOURCE, deployment, "ScalingReplicaSet", text)
