"""One pass over one set: what it does to the pods, in its order, and the status it counts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from lws.sandbox.cluster.objects import (
    TERMINAL,
    is_available,
    is_running_and_ready,
    is_terminating,
    name_of,
    phase_of,
)
from lws.sandbox.cluster.statefulset import identity
from lws.sandbox.cluster.statefulset.hands import Hands
from lws.sandbox.cluster.statefulset.identity import ordinal_of, revision_of
from lws.sandbox.cluster.statefulset.revisions import Revisions, template_of
from lws.sandbox.cluster.statefulset.status import SetStatus, new_status
from lws.sandbox.server.verbs import JsonObject

Step = Callable[[JsonObject], Awaitable[bool]]
"""Acts on a pod; True ends the pass, where pods go one after another."""

_BATCH_MAX = 500


class Sync:
    """One pass. `status` is what is to be written afterwards, also if the pass failed."""

    def __init__(
        self,
        hands: Hands,
        stateful_set: JsonObject,
        pods: Sequence[JsonObject],
        revisions: Revisions,
        *,
        now: float,
        has_max_unavailable: bool,
    ) -> None:
        self._hands = hands
        self._set = stateful_set
        self._revisions = revisions
        self._now = now
        self._has_max_unavailable = has_max_unavailable
        self._min_ready = identity.min_ready_of(stateful_set)
        self._in_order = not identity.is_parallel(stateful_set)
        self.status: SetStatus = new_status(stateful_set, revisions)
        self.status.count(stateful_set, pods, now)
        self._replicas, self._condemned = self._divided(pods)
        self._first_unavailable = next(
            filter(self._is_unavailable, [*self._replicas, *reversed(self._condemned)]), None
        )

    async def run(self) -> None:
        """Everything that may be done now."""
        if is_terminating(self._set):
            return
        try:
            is_over = (
                await self._for_all(self._replicas, self._keep)
                or await self._for_all(self._condemned, self._fix_claims)
                or await self._for_all(self._condemned, self._end)
            )
        finally:
            self.status.count(self._set, [*self._replicas, *self._condemned], self._now)
        if is_over or identity.is_on_delete(self._set):
            return
        if self._has_max_unavailable:
            await self._update_some()
        else:
            await self._update_one()

    # The pods

    def _divided(self, pods: Sequence[JsonObject]) -> tuple[list[JsonObject], list[JsonObject]]:
        """A pod for each ordinal that is wanted, made up where there is none; and the surplus."""
        wanted: dict[int, JsonObject] = {}
        condemned = []
        for pod in pods:
            if identity.is_in_range(pod, self._set):
                wanted[ordinal_of(pod)] = pod
            elif ordinal_of(pod) >= 0:
                condemned.append(pod)
        start = identity.start_of(self._set)
        ordinals = range(start, start + identity.replicas_of(self._set))
        replicas = [wanted.get(number) or self._new_pod(number) for number in ordinals]
        return replicas, sorted(condemned, key=ordinal_of, reverse=True)

    def _new_pod(self, ordinal: int) -> JsonObject:
        """Below the partition of the current revision, else of the update revision."""
        border = identity.start_of(self._set) + identity.partition_of(self._set)
        revision = self._revisions.current if ordinal < border else self._revisions.update
        return identity.new_pod(self._set, template_of(revision), ordinal, name_of(revision))

    def _is_available(self, pod: JsonObject) -> bool:
        return is_available(pod, self._min_ready, self._now)

    def _is_unavailable(self, pod: JsonObject) -> bool:
        return not self._is_available(pod) or is_terminating(pod)

    # The steps

    async def _for_all(self, pods: Sequence[JsonObject], step: Step) -> bool:
        """One after another until one ends the pass; or all at once, in growing batches."""
        if self._in_order:
            for pod in pods:
                if await step(pod):
                    return True
            return False
        done, size = 0, 1
        while done < len(pods):
            batch = pods[done : done + size]
            results = await asyncio.gather(*map(step, batch), return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
            done, size = done + len(batch), min(2 * size, _BATCH_MAX)
        return False

    async def _keep(self, pod: JsonObject) -> bool:
        """Make a pod that is wanted, or see whether the next one's turn has come."""
        phase = phase_of(pod)
        if phase in TERMINAL:
            if not is_terminating(pod):
                await self._hands.delete(self._set, pod)
            return True
        if not phase:
            if self._hands.claims.are_stale(self._set, pod):
                return True
            await self._hands.create(self._set, pod)
            if self._in_order:
                return True
        if phase == "Pending":
            await self._hands.claims.create_missing(self._set, pod)
            await self._hands.claims.apply_policy(self._set, pod)
        if self._in_order and self._is_waited_for(pod):
            return True
        if phase:
            await self._repair(pod)
        return False

    def _is_waited_for(self, pod: JsonObject) -> bool:
        return is_terminating(pod) or not is_running_and_ready(pod) or not self._is_available(pod)

    async def _repair(self, pod: JsonObject) -> None:
        is_right = (
            identity.has_identity(self._set, pod)
            and identity.has_storage(self._set, pod)
            and self._hands.claims.match_policy(self._set, pod)
        )
        if not is_right:
            await self._hands.repair(self._set, pod)

    async def _fix_claims(self, pod: JsonObject) -> bool:
        if not self._hands.claims.match_policy(self._set, pod):
            await self._hands.claims.apply_policy(self._set, pod)
        return False

    async def _end(self, pod: JsonObject) -> bool:
        """Delete a pod that is not wanted; in order only if no other one is unavailable."""
        if is_terminating(pod):
            return self._in_order
        is_healthy = is_running_and_ready(pod) and self._is_available(pod)
        if self._in_order and not is_healthy and pod is not self._first_unavailable:
            return True
        await self._hands.delete(self._set, pod)
        return True

    # The update

    def _is_outdated(self, pod: JsonObject) -> bool:
        return revision_of(pod) != self.status.update_revision and not is_terminating(pod)

    async def _update_one(self) -> None:
        """The highest pod that is outdated, unless a higher one is unavailable."""
        for pod in reversed(self._replicas[identity.partition_of(self._set) :]):
            if self._is_outdated(pod):
                await self._hands.delete(self._set, pod)
                self.status.current -= 1
                return
            if self._is_unavailable(pod):
                return

    async def _update_some(self) -> None:
        """As many outdated pods as may be unavailable, from the highest down."""
        allowed = max_unavailable_of(self._set)
        allowed -= sum(map(self._is_unavailable, self._replicas))
        for pod in reversed(self._replicas[identity.partition_of(self._set) :]):
            if allowed <= 0:
                return
            if self._is_outdated(pod):
                await self._hands.delete(self._set, pod)
                self.status.current -= 1
                allowed -= 1


def max_unavailable_of(stateful_set: JsonObject) -> int:
    """`maxUnavailable` of a rolling update: a number, or a share rounded down; at least 1."""
    value = identity.rolling_update_of(stateful_set).get("maxUnavailable")
    if value is None:
        return 1
    if isinstance(value, str):
        return max(1, int(value.removesuffix("%")) * identity.replicas_of(stateful_set) // 100)
    return max(1, int(value))
