"""The pods that an owner makes from its template and ends, with the events about that."""

import asyncio
from collections.abc import Sequence

from lws.client.resources import PODS, Resource
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import name_of, namespace_of, owner_reference
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

_BURST = 500
_ATTEMPTS = 2


class Children:
    """Each write waits until the cache has it, so that the next pass sees it.

    `finalizer`: what pods are held by until their owner has counted them.
    """

    def __init__(
        self, context: Context, owners: Resource, source: Source, *, finalizer: str = ""
    ) -> None:
        self._api = context.api
        self._resource = owners
        self._source = source
        self._finalizer = finalizer
        self._recorder = context.recorder
        self._pods = context.caches.of(PODS)
        self._owners = context.caches.of(owners)

    async def create(self, owner: JsonObject, count: int) -> None:
        """Pods, one at first, then twice as many each time; none after one that was refused."""
        left, size = min(count, _BURST), 1
        while left > 0:
            batch = min(size, left)
            works = (self._create_one(owner) for _ in range(batch))
            results = await asyncio.gather(*works, return_exceptions=True)
            _raise_first(results)
            left, size = left - batch, size * 2

    async def delete(self, owner: JsonObject, pods: Sequence[JsonObject]) -> None:
        """With the pods' own grace; one that is gone already is just as well."""
        works = (self._delete_one(owner, pod) for pod in pods[:_BURST])
        _raise_first(await asyncio.gather(*works, return_exceptions=True))

    async def set_status(self, owner: JsonObject, status: JsonObject) -> None:
        """Write it; again if somebody else was faster."""
        space, name = namespace_of(owner), name_of(owner)
        for attempt in range(_ATTEMPTS):
            try:
                updated = await self._api.update(
                    self._resource,
                    {**owner, "status": status},
                    namespace=space,
                    subresource="status",
                    caller=CONTROLLERS,
                )
            except ApiStatus as refusal:
                if refusal.reason != "Conflict" or attempt + 1 == _ATTEMPTS:
                    raise
                owner = self._api.get(self._resource, name=name, namespace=space)
            else:
                await self._owners.seen(updated)
                return

    async def _create_one(self, owner: JsonObject) -> None:
        try:
            created = await self._api.create(
                PODS,
                self._new_pod(owner),
                namespace=namespace_of(owner),
                caller=CONTROLLERS,
            )
        except ApiStatus as refusal:
            if not _is_namespace_going(refusal):
                text = f"Error creating: {refusal.message}"
                self._recorder.warning(self._source, owner, "FailedCreate", text)
                raise
            return
        text = f"Created pod: {name_of(created)}"
        self._recorder.normal(self._source, owner, "SuccessfulCreate", text)
        await self._pods.seen(created)

    def _new_pod(self, owner: JsonObject) -> JsonObject:
        template = owner["spec"]["template"]
        metadata = template.get("metadata") or {}
        kept = {
            field: metadata[field]
            for field in ("labels", "annotations", "finalizers")
            if metadata.get(field)
        }
        if self._finalizer:
            kept["finalizers"] = [*kept.get("finalizers", ()), self._finalizer]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "generateName": f"{name_of(owner)}-",
                "namespace": namespace_of(owner),
                **kept,
                "ownerReferences": [owner_reference(owner)],
            },
            "spec": template["spec"],
        }

    async def _delete_one(self, owner: JsonObject, pod: JsonObject) -> None:
        name = name_of(pod)
        try:
            await self._api.delete(PODS, name=name, namespace=namespace_of(pod), caller=CONTROLLERS)
        except ApiStatus as refusal:
            if refusal.code != 404:
                text = f"Error deleting: {refusal.message}"
                self._recorder.warning(self._source, owner, "FailedDelete", text)
                raise
            return
        self._recorder.normal(self._source, owner, "SuccessfulDelete", f"Deleted pod: {name}")
        await self._pods.seen(pod, later=True)


def _raise_first(results: Sequence[BaseException | None]) -> None:
    for result in results:
        if result is not None:
            raise result


def _is_namespace_going(refusal: ApiStatus) -> bool:
    return any(cause.reason == "NamespaceTerminating" for cause in refusal.causes)
