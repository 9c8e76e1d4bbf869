"""The writes of the controller to pods and to the status of sets, with their events."""

from lws.client.resources import PODS, STATEFULSETS
from lws.sandbox.cluster.context import CONTROLLERS, Context
from lws.sandbox.cluster.objects import name_of, namespace_of
from lws.sandbox.cluster.statefulset.claims import SOURCE, Claims
from lws.sandbox.cluster.statefulset.identity import (
    has_identity,
    has_storage,
    with_identity,
    with_storage,
)
from lws.sandbox.cluster.worker import Again
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

_ATTEMPTS = 5


class Hands:
    """Each write waits until the cache has it, so that the next pass sees it."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._recorder = context.recorder
        self._pods = context.caches.of(PODS)
        self._sets = context.caches.of(STATEFULSETS)
        self.claims = Claims(context)

    async def create(self, stateful_set: JsonObject, pod: JsonObject) -> None:
        """The claims, then the pod."""
        try:
            await self.claims.create_missing(stateful_set, pod)
            created = await self._api.create(
                PODS, pod, namespace=namespace_of(pod), caller=CONTROLLERS
            )
            await self.claims.apply_policy(stateful_set, pod)
        except (ApiStatus, Again) as problem:
            if not (isinstance(problem, ApiStatus) and problem.reason == "AlreadyExists"):
                self._record("Create", stateful_set, pod, str(problem))
            raise
        self._record("Create", stateful_set, pod)
        await self._pods.seen(created)

    async def delete(self, stateful_set: JsonObject, pod: JsonObject) -> None:
        """With the pod's own grace; one that is gone already is just as well."""
        space, name = namespace_of(pod), name_of(pod)
        try:
            await self._api.delete(PODS, name=name, namespace=space, caller=CONTROLLERS)
        except ApiStatus as refusal:
            if refusal.code != 404:
                self._record("Delete", stateful_set, pod, refusal.message)
                raise
        self._record("Delete", stateful_set, pod)
        await self._pods.seen(pod, later=True)

    async def repair(self, stateful_set: JsonObject, pod: JsonObject) -> None:
        """Give the pod its labels, and its claims their owners."""
        fixed = pod
        if not has_identity(stateful_set, pod):
            fixed = with_identity(stateful_set, fixed)
        if not has_storage(stateful_set, pod):
            fixed = with_storage(stateful_set, fixed)
            await self.claims.create_missing(stateful_set, pod)
        if not self.claims.match_policy(stateful_set, pod):
            await self.claims.apply_policy(stateful_set, pod)
        if fixed is pod:
            return
        try:
            updated = await self._api.update(
                PODS, fixed, namespace=namespace_of(pod), caller=CONTROLLERS
            )
        except ApiStatus as refusal:
            self._record("Update", stateful_set, pod, refusal.message)
            raise
        self._record("Update", stateful_set, pod)
        await self._pods.seen(updated)

    async def set_status(self, stateful_set: JsonObject, status: JsonObject) -> None:
        """Write it; again if somebody else was faster."""
        space, name = namespace_of(stateful_set), name_of(stateful_set)
        for attempt in range(_ATTEMPTS):
            try:
                updated = await self._api.update(
                    STATEFULSETS,
                    {**stateful_set, "status": status},
                    namespace=space,
                    subresource="status",
                    caller=CONTROLLERS,
                )
            except ApiStatus as refusal:
                if refusal.reason != "Conflict" or attempt + 1 == _ATTEMPTS:
                    raise
                stateful_set = self._api.get(STATEFULSETS, name=name, namespace=space)
            else:
                await self._sets.seen(updated)
                return

    def _record(
        self, verb: str, stateful_set: JsonObject, pod: JsonObject, problem: str = ""
    ) -> None:
        said = f"{verb} Pod {name_of(pod)} in StatefulSet {name_of(stateful_set)}"
        if problem:
            text = f"{said} failed error: {problem}"
            self._recorder.warning(SOURCE, stateful_set, f"Failed{verb}", text)
        else:
            self._recorder.normal(SOURCE, stateful_set, f"Successful{verb}", f"{said} successful")
