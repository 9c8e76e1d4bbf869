"""The writes of the controller, with their events."""

import asyncio
from collections.abc import Sequence

from lws.client.resources import PODS
from lws.sandbox.cluster.context import CONTROLLERS, REPLICA_SETS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import name_of, namespace_of, owner_reference
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

_SOURCE = Source("replicaset-controller")
_BURST = 500
_ATTEMPTS = 2


class Hands:
    """Each write waits until the cache has it, so that the next pass sees it."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._recorder = context.recorder
        self._pods = context.caches.of(PODS)
        self._sets = context.caches.of(REPLICA_SETS)

    async def create(self, replica_set: JsonObject, count: int) -> None:
        """Pods, one at first, then twice as many each time; none after one that was refused."""
        left, size = min(count, _BURST), 1
        while left > 0:
            batch = min(size, left)
            works = (self._create_one(replica_set) for _ in range(batch))
            results = await asyncio.gather(*works, return_exceptions=True)
            _raise_first(results)
            left, size = left - batch, size * 2

    async def delete(self, replica_set: JsonObject, pods: Sequence[JsonObject]) -> None:
        """With the pods' own grace; one that is gone already is just as well."""
        works = (self._delete_one(replica_set, pod) for pod in pods[:_BURST])
        _raise_first(await asyncio.gather(*works, return_exceptions=True))

    async def set_status(self, replica_set: JsonObject, status: JsonObject) -> None:
        """Write it; again if somebody else was faster."""
        space, name = namespace_of(replica_set), name_of(replica_set)
        for attempt in range(_ATTEMPTS):
            try:
                updated = await self._api.update(
                    REPLICA_SETS,
                    {**replica_set, "status": status},
                    namespace=space,
                    subresource="status",
                    caller=CONTROLLERS,
                )
            except ApiStatus as refusal:
                if refusal.reason != "Conflict" or attempt + 1 == _ATTEMPTS:
                    raise
                replica_set = self._api.get(REPLICA_SETS, name=name, namespace=space)
            else:
                await self._sets.seen(updated)
                return

    async def _create_one(self, replica_set: JsonObject) -> None:
        try:
            created = await self._api.create(
                PODS,
                _new_pod(replica_set),
                namespace=namespace_of(replica_set),
                caller=CONTROLLERS,
            )
        except ApiStatus as refusal:
            if not _is_namespace_going(refusal):
                text = f"Error creating: {refusal.message}"
                self._recorder.warning(_SOURCE, replica_set, "FailedCreate", text)
                raise
            return
        text = f"Created pod: {name_of(created)}"
        self._recorder.normal(_SOURCE, replica_set, "SuccessfulCreate", text)
        await self._pods.seen(created)

    async def _delete_one(self, replica_set: JsonObject, pod: JsonObject) -> None:
        name = name_of(pod)
        try:
            await self._api.delete(PODS, name=name, namespace=namespace_of(pod), caller=CONTROLLERS)
        except ApiStatus as refusal:
            if refusal.code != 404:
                text = f"Error deleting: {refusal.message}"
                self._recorder.warning(_SOURCE, replica_set, "FailedDelete", text)
                raise
            return
        self._recorder.normal(_SOURCE, replica_set, "SuccessfulDelete", f"Deleted pod: {name}")
        await self._pods.seen(pod, later=True)


def _raise_first(results: Sequence[BaseException | None]) -> None:
    for result in results:
        if result is not None:
            raise result


def _is_namespace_going(refusal: ApiStatus) -> bool:
    return any(cause.reason == "NamespaceTerminating" for cause in refusal.causes)


def _new_pod(replica_set: JsonObject) -> JsonObject:
    template = replica_set["spec"]["template"]
    metadata = template.get("metadata") or {}
    kept = {
        field: metadata[field]
        for field in ("labels", "annotations", "finalizers")
        if metadata.get(field)
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{name_of(replica_set)}-",
            "namespace": namespace_of(replica_set),
            **kept,
            "ownerReferences": [owner_reference(replica_set)],
        },
        "spec": template["spec"],
    }
