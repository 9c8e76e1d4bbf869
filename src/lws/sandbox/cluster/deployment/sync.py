"""One pass over one Deployment."""

from collections.abc import Mapping, Sequence

from lws.base.clock import Clock
from lws.sandbox.cluster.deployment import revisions, status
from lws.sandbox.cluster.deployment.hands import Hands
from lws.sandbox.cluster.deployment.proportions import shared_out
from lws.sandbox.cluster.deployment.rollout import new_size, old_sizes
from lws.sandbox.cluster.deployment.sizes import (
    DESIRED,
    REVISION,
    active,
    deadline_of,
    history_limit_of,
    is_recreate,
    number,
    replicas_of,
    revision_of,
)
from lws.sandbox.cluster.objects import (
    annotations_of,
    controller_of,
    is_terminating,
    name_of,
    status_of,
    uid_of,
    with_metadata,
)
from lws.sandbox.cluster.worker import Again
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject


class Sync:
    """One pass. `again_in`: in how many seconds there is to be another, if nothing happens."""

    def __init__(
        self,
        hands: Hands,
        clock: Clock,
        deployment: JsonObject,
        sets: Sequence[JsonObject],
        *,
        has_old_pods: bool,
    ) -> None:
        self._hands = hands
        self._clock = clock
        self._deployment = deployment
        self._new = revisions.new_set(deployment, sets)
        self._old = revisions.old_sets(sets, self._new)
        self._has_old_pods = has_old_pods
        self.again_in: float | None = None

    @property
    def _all(self) -> list[JsonObject]:
        return [*self._old, *([self._new] if self._new is not None else [])]

    async def run(self) -> None:
        """Everything that may be done now."""
        if is_terminating(self._deployment):
            await self._tell_counts()
            return
        await self._note_pause()
        is_paused = bool(self._deployment["spec"].get("paused"))
        if is_paused or await self._was_scaled():
            await self._keep_new()
            await self._scale_all()
            if is_paused:
                await self._forget_old()
            await self._tell_counts()
        elif is_recreate(self._deployment):
            await self._recreate()
        else:
            await self._roll()

    # Revisions

    async def _keep_new(self) -> None:
        """The ReplicaSet of the template is told what is new; it is not made."""
        if self._new is None:
            return
        revision = revisions.next_revision(self._old)
        wanted = revisions.updated_set(self._deployment, self._new, revision)
        if wanted is not self._new:
            self._new = await self._hands.update(wanted)
            return
        fresh = self._with_revision(str(revision_of(self._new)))
        if self._misses_progress():
            found = f'Found new replica set "{name_of(self._new)}"'
            fresh = self._with_progress(fresh, "True", "FoundNewReplicaSet", found)
        await self._set(fresh)

    async def _ensure_new(self) -> None:
        """The ReplicaSet of the template is made if it is not there."""
        if self._new is not None:
            await self._keep_new()
            return
        revision = revisions.next_revision(self._old)
        size = new_size(self._deployment, self._old, 0)
        made = revisions.made_set(self._deployment, revision, size)
        fresh = self._with_revision(str(revision))
        try:
            self._new = await self._hands.create(self._deployment, made)
        except ApiStatus as refusal:
            if refusal.reason == "AlreadyExists":
                self._new = await self._taken(made)
            else:
                await self._refused(fresh, made, refusal)
        else:
            if deadline_of(self._deployment) is not None:
                text = f'Created new replica set "{name_of(self._new)}"'
                fresh = self._with_progress(fresh, "True", "NewReplicaSetCreated", text)
        await self._set(fresh)

    async def _taken(self, made: JsonObject) -> JsonObject:
        """Ours after all, which the cache had not yet; or else another name, the next time."""
        present = self._hands.get(made)
        owner = controller_of(present)
        is_ours = owner is not None and owner["uid"] == uid_of(self._deployment)
        if is_ours and revisions.is_of_template(present, self._deployment):
            return present
        count = int(status_of(self._deployment).get("collisionCount") or 0) + 1
        collided = {**status_of(self._deployment), "collisionCount": count}
        await self._set({**self._deployment, "status": collided})
        raise Again(f"the name {name_of(made)} is taken")

    async def _refused(self, fresh: JsonObject, made: JsonObject, refusal: ApiStatus) -> None:
        text = f'Failed to create new replica set "{name_of(made)}": {refusal.message}'
        if deadline_of(self._deployment) is not None:
            await self._set(
                self._with_progress(self._deployment, "False", "ReplicaSetCreateError", text)
            )
        self._hands.warn(fresh, "ReplicaSetCreateError", text)
        raise refusal

    def _with_revision(self, revision: str) -> JsonObject:
        present = annotations_of(self._deployment)
        if present.get(REVISION) == revision:
            return self._deployment
        return with_metadata(self._deployment, annotations={**present, REVISION: revision})

    # Progress

    def _misses_progress(self) -> bool:
        is_told = status.find(self._status, status.PROGRESSING) is not None
        return deadline_of(self._deployment) is not None and not is_told

    def _with_progress(
        self, deployment: JsonObject, is_so: str, reason: str, text: str
    ) -> JsonObject:
        new = status.entry(self._clock, status.PROGRESSING, is_so, reason, text)
        present = dict(status_of(deployment))
        return {**deployment, "status": status.with_entry(present, new)}

    @property
    def _status(self) -> JsonObject:
        return dict(status_of(self._deployment))

    async def _note_pause(self) -> None:
        """A pause, and its end, begin the time anew in which there is to be progress."""
        present = status.find(self._status, status.PROGRESSING)
        reason = present.get("reason") if present is not None else ""
        if deadline_of(self._deployment) is None or reason == status.TIMED_OUT:
            return
        is_paused = bool(self._deployment["spec"].get("paused"))
        if is_paused == (reason == status.PAUSED):
            return
        words = ("DeploymentPaused", "paused") if is_paused else ("DeploymentResumed", "resumed")
        text = f"Deployment is {words[1]}"
        await self._set(self._with_progress(self._deployment, "Unknown", words[0], text))

    async def _set(self, deployment: JsonObject) -> None:
        """Write the status and the annotations, if they are news."""
        if deployment is self._deployment or deployment == self._deployment:
            return
        self._deployment = await self._hands.set_status(deployment)

    async def _tell_counts(self) -> None:
        counted = status.counted_status(self._deployment, self._all, self._new, self._clock)
        await self._set({**self._deployment, "status": counted})

    async def _tell_rollout(self) -> None:
        counted = status.counted_status(self._deployment, self._all, self._new, self._clock)
        counted = status.with_progress(self._deployment, counted, self._all, self._new, self._clock)
        await self._set({**self._deployment, "status": counted})
        self.again_in = status.late_in(self._deployment, counted, self._clock.now())

    # Scaling

    async def _was_scaled(self) -> bool:
        """Do the ReplicaSets remember another size of the Deployment?"""
        await self._keep_new()
        wanted = replicas_of(self._deployment)
        known = (annotations_of(one).get(DESIRED) for one in active(self._all))
        return any(text is not None and number(text) != wanted for text in known)

    async def _scale_all(self) -> None:
        """To the Deployment's size: the only one that has pods, or all in proportion."""
        wanted, having = replicas_of(self._deployment), active(self._all)
        if len(having) <= 1:
            latest = having or ([self._new] if self._new is not None else self._old[-1:])
            await self._resize({name_of(one): wanted for one in latest if one is not None})
            return
        desired = number(annotations_of(self._new).get(DESIRED)) if self._new is not None else 0
        if status.is_saturated(self._deployment, self._new, desired):
            await self._resize({name_of(one): 0 for one in active(self._old)})
        elif not is_recreate(self._deployment):
            await self._resize(shared_out(self._deployment, self._all))

    async def _resize(self, sizes: Mapping[str, int]) -> bool:
        """Did any get another number of replicas?"""
        is_changed = False
        for index, one in enumerate(self._old):
            size = sizes.get(name_of(one))
            if size is not None:
                is_changed |= size != replicas_of(one)
                self._old[index] = await self._hands.scale(self._deployment, one, size)
        if self._new is not None and name_of(self._new) in sizes:
            size = sizes[name_of(self._new)]
            is_changed |= size != replicas_of(self._new)
            self._new = await self._hands.scale(self._deployment, self._new, size)
        return is_changed

    # Strategies

    async def _roll(self) -> None:
        await self._ensure_new()
        assert self._new is not None, "it is there, or the pass has ended"
        present = replicas_of(self._new)
        wanted = replicas_of(self._deployment)
        size = min(wanted, new_size(self._deployment, self._all, present))
        if size == present or not await self._resize({name_of(self._new): size}):
            sizes = old_sizes(self._deployment, active(self._old), self._new)
            if not await self._resize(sizes):
                await self._finish()
        await self._tell_rollout()

    async def _recreate(self) -> None:
        await self._keep_new()
        is_changed = await self._resize({name_of(one): 0 for one in active(self._old)})
        if not is_changed and not self._has_old_pods:
            await self._ensure_new()
            assert self._new is not None, "it is there, or the pass has ended"
            await self._resize({name_of(self._new): replicas_of(self._deployment)})
            await self._finish()
        await self._tell_rollout()

    async def _finish(self) -> None:
        if status.is_complete(self._deployment, self._status):
            await self._forget_old()

    async def _forget_old(self) -> None:
        """Delete the oldest revisions beyond the limit, if they have no pods left."""
        limit = history_limit_of(self._deployment)
        if limit is None:
            return
        kept = [one for one in self._old if not is_terminating(one)]
        surplus = sorted(kept, key=revision_of)[: max(0, len(kept) - limit)]
        for one in surplus:
            if _is_empty(one):
                await self._hands.delete(one)


def _is_empty(replica_set: JsonObject) -> bool:
    found = status_of(replica_set)
    is_seen = (found.get("observedGeneration") or 0) >= replica_set["metadata"]["generation"]
    return is_seen and not found.get("replicas") and not replicas_of(replica_set)
