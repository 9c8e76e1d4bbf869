"""One function per kind of action: the only place that writes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import msgspec

from lws.api import names
from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.client import requests
from lws.client.errors import (
    AlreadyExists,
    ClientError,
    Conflict,
    Invalid,
    MalformedAnswer,
    NotFound,
    TellUser,
)
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import PatchType, Request
from lws.client.resources import Resource
from lws.executor.caches import RESOURCES, Caches
from lws.executor.foreign import ForeignObjects, Found
from lws.executor.owners import Owners, controller_of
from lws.executor.refusals import Refusals
from lws.planner.actions import (
    Action,
    Apply,
    Create,
    Delete,
    Emit,
    MergePatch,
    Telling,
    WakeAfter,
    Write,
)
from lws.runtime.events import Event, EventRecorder, ObjectReference
from lws.runtime.guard import Cache, Guard


class Standing(Enum):
    """What a failed write means for the pass."""

    STALE = "stale"
    """The world moved on: look again soon."""
    RETRY = "retry"
    """The server or the way to it has trouble: back off."""
    TOLD = "told"
    """A person must change something: wait, and say so."""
    FOREIGN = "foreign"
    """Something that is not ours is in the way."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A write that did not happen."""

    action: Write
    standing: Standing
    message: str
    error: ClientError | None
    wait_seconds: float = 0.0
    """TOLD: how long the same write is held back."""


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    uid: str = ""


class _Answer(msgspec.Struct, frozen=True):
    kind: str = ""
    metadata: _Meta = _Meta()


_answers = msgspec.json.Decoder(_Answer)


def _read(answer: bytes) -> _Answer:
    try:
        return _answers.decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAnswer(f"not an object ({error}): {answer[:200]!r}") from error


@dataclass(frozen=True, slots=True)
class Family:
    """Whose writes these are: `key` for the guard, the set that foreign objects are noted for."""

    key: tuple[Any, ...]
    lws: tuple[str, str]


class Performer:
    """Carries out actions in order, and tells the guard what it wrote."""

    def __init__(
        self,
        *,
        client: KubernetesClient,
        caches: Caches,
        guard: Guard,
        recorder: EventRecorder,
        foreign: ForeignObjects,
        clock: Clock,
        resources: Mapping[Kind, Resource] = RESOURCES,
    ) -> None:
        self._client = client
        self._resources = resources
        self._caches = caches
        self._guard = guard
        self._recorder = recorder
        self._foreign = foreign
        self._refusals = Refusals(clock)
        self._owners = Owners(client, clock, resources=resources)

    async def strand(self, family: Family, actions: Iterable[Action]) -> Failure | None:
        """Carry out actions in order; the first failure drops the rest and is returned."""
        for action in actions:
            if isinstance(action, Emit):
                self.emit(action)
            elif not isinstance(action, WakeAfter):
                failure = await self.write(family, action)
                if failure is not None:
                    return failure
        return None

    async def strands(self, family: Family, strands: Sequence[Sequence[Action]]) -> list[Failure]:
        """Strands do not depend on each other: one that fails stops no other."""
        outcomes = [await self.strand(family, strand) for strand in strands]
        return [outcome for outcome in outcomes if outcome is not None]

    def emit(self, action: Emit) -> None:
        """Hand an event to the recorder."""
        about = action.regarding
        self._recorder.emit(
            Event(
                regarding=ObjectReference(
                    api_version=about.kind.api_version,
                    kind=about.kind.kind,
                    namespace=about.namespace,
                    name=about.name,
                    uid=about.uid,
                    resource_version=about.resource_version,
                ),
                type=action.type.value,
                reason=action.reason,
                action=action.action,
                note=action.note,
                **_TELLING[action.telling],
            )
        )

    async def write(self, family: Family, action: Write) -> Failure | None:
        """Carry out one write."""
        target = (type(action), action.kind, action.namespace, action.name)
        digest = 0 if isinstance(action, Delete) else hash(requests.encode(dict(action.body)))
        held = self._refusals.standing(target, digest)
        if held is not None:
            seconds = self._refusals.seconds_left(held)
            return _told(action, held.error, seconds)
        try:
            failure = await self._send(family, action)
        except TellUser as error:
            if _is_another_life(error):
                return Failure(action, Standing.STALE, str(error), error)
            refusal = self._refusals.note(target, digest, error)
            self._emit_failure(action, error)
            return _told(action, error, self._refusals.seconds_left(refusal))
        except (AlreadyExists, Conflict, NotFound) as error:
            return Failure(action, Standing.STALE, str(error), error)
        except ClientError as error:
            return Failure(action, Standing.RETRY, str(error), error)
        self._refusals.forget(target)
        if failure is not None:
            return failure
        if isinstance(action, Create | Apply):
            self._foreign.resolved(family.lws, kind=action.kind, name=action.name)
        if action.event is not None:
            self.emit(action.event)
        return None

    async def _send(self, family: Family, action: Write) -> Failure | None:
        match action:
            case Create():
                return await self._create(family, action)
            case Apply():
                return await self._apply(family, action)
            case MergePatch():
                await self._patch(family, action)
            case Delete():
                await self._delete(family, action)
        return None

    async def _create(self, family: Family, action: Create) -> Failure | None:
        if await self._owners.is_gone(action):
            return self._orphaned(action)
        try:
            answer = await self._client.request_bytes(
                _request(action, self._resources[action.kind])
            )
        except AlreadyExists:
            return await self._meet(family, action)
        self._owners.made(action)
        self._wrote(family, action, answer)
        return None

    def _orphaned(self, action: Create | Apply) -> Failure:
        """Nothing but time, or the cache, will show more."""
        self._owners.made(action)
        return _stale(action, "for an owner that is gone")

    async def _apply(self, family: Family, action: Apply) -> Failure | None:
        """An apply cannot say "only if it is not there", so a first one looks before."""
        if action.uid is None:
            met = await self._meet(family, action)
            if met is not None:
                return met
            if await self._owners.is_gone(action):
                return self._orphaned(action)
            self._owners.made(action)
        answer = await self._client.request_bytes(_request(action, self._resources[action.kind]))
        self._wrote(family, action, answer)
        return None

    async def met(self, family: Family, action: Create | Apply) -> Failure | None:
        """What stands where we would create: nothing, ours (the cache lags), or a stranger."""
        found = await self._foreign.found(action.kind, action.namespace, action.name)
        return self._judged(family, action, found)

    async def _meet(self, family: Family, action: Create | Apply) -> Failure | None:
        """The same; and one of ours without the label that our watches ask for gets it again."""
        found = await self._foreign.found(action.kind, action.namespace, action.name)
        failure = self._judged(family, action, found)
        lost = {} if found is None else _lost_labels(action, found)
        if found is not None and lost:
            patch = MergePatch(
                kind=action.kind,
                namespace=action.namespace,
                name=action.name,
                body={"metadata": {"labels": lost}},
                uid=found.uid,
            )
            await self._patch(family, patch)
        return failure

    def _judged(
        self, family: Family, action: Create | Apply, found: Found | None
    ) -> Failure | None:
        owner = owner_of(action.body)
        if found is None:
            return None if isinstance(action, Apply) else _stale(action, "gone again")
        if found.owner == owner:
            return _stale(action, "there already, not in the cache yet")
        self._foreign.note(family.lws, kind=action.kind, name=action.name, owner=owner)
        message = f"{action.kind.kind} {action.name} exists and is not ours"
        return Failure(action, Standing.FOREIGN, message, None)

    async def _patch(self, family: Family, action: MergePatch) -> None:
        answer = await self._client.request_bytes(_request(action, self._resources[action.kind]))
        self._wrote(family, action, answer)

    async def _delete(self, family: Family, action: Delete) -> None:
        """Gone already, or living another life: all normal. What has changed where that saves it
        stands yet, so that nothing that was to follow its end may."""
        try:
            answer = await self._client.request_bytes(
                _request(action, self._resources[action.kind])
            )
        except NotFound:
            return
        except Conflict:
            if action.resource_version is not None:
                raise
            return
        decoded = _read(answer)
        for cache in self._caches_of(action):
            if decoded.kind not in ("Status", "") and decoded.metadata.uid == action.uid:
                self._guard.wrote(family.key, cache, decoded.metadata.resource_version)
            self._guard.deleted(
                family.key,
                cache,
                namespace=action.namespace,
                name=action.name,
                uid=action.uid,
            )

    def _wrote(self, family: Family, action: Write, answer: bytes) -> None:
        version = _read(answer).metadata.resource_version
        for cache in self._caches_of(action):
            self._guard.wrote(family.key, cache, version)

    def _caches_of(self, action: Write) -> list[Cache]:
        """The informers that will show this write."""
        caches = self._caches
        match action.kind:
            case Kind.POD:
                return [caches.pods]
            case Kind.SERVICE:
                return [caches.services]
            case Kind.STATEFUL_SET:
                return [caches.statefulsets]
            case Kind.LEADER_WORKER_SET:
                return [caches.sets]
            case Kind.CONTROLLER_REVISION:
                return self._revision_caches(action)
            case Kind.POD_GROUP if caches.pod_groups is not None:
                return [caches.pod_groups]
        raise AssertionError(f"no cache shows a {action.kind.kind}")

    def _revision_caches(self, action: Write) -> list[Cache]:
        """A revision that is retired or brought back goes from one watch to the other."""
        labels = (
            action.body.get("metadata", {}).get("labels", {})
            if isinstance(action, MergePatch)
            else {}
        )
        if names.HISTORY_OF in labels:
            return [self._caches.revisions, self._caches.retired]
        retired = self._caches.retired.store.get(namespace=action.namespace, name=action.name)
        return [self._caches.revisions if retired is None else self._caches.retired]

    def _emit_failure(self, action: Write, error: ClientError) -> None:
        if action.failure is not None:
            note = f"{action.failure.note}: {message_of(error)}"
            self.emit(replace(action.failure, note=note))


_TELLING: Mapping[Telling, Mapping[str, Any]] = {
    Telling.EACH: {},
    Telling.FEW: {"notes_max": 4},
    Telling.TOGETHER: {"notes_max": 1, "fold_seconds": 1.0},
}


def owner_of(body: Any) -> str:
    """UID of the owner that a body names as its controller."""
    return controller_of(body).get("uid", "")


_RELABELLED = (Kind.STATEFUL_SET, Kind.CONTROLLER_REVISION)
"""Kinds without which a set stands still; a Service works as well unseen, and is not ours to
patch by the manager's rights."""


def _lost_labels(action: Create | Apply, found: Found) -> dict[str, str]:
    """The label that our watches select by, where an object of ours has lost it: unseen for ever,
    though it is there. A revision that was retired has lost it on purpose."""
    is_ours = found.owner == owner_of(action.body) and names.HISTORY_OF not in found.labels
    if not is_ours or action.kind not in _RELABELLED or names.NAME in found.labels:
        return {}
    return {names.NAME: action.body["metadata"]["labels"][names.NAME]}


def message_of(error: ClientError) -> str:
    """The server's own words, without the request that they answer."""
    return str(getattr(error, "message", "") or error)


def _is_another_life(error: TellUser) -> bool:
    """An apply for an object that was made anew: its UID is told as an immutable field."""
    causes = error.causes if isinstance(error, Invalid) else ()
    return any(cause.field == "metadata.uid" for cause in causes)


def _told(action: Write, error: ClientError, seconds: float) -> Failure:
    return Failure(action, Standing.TOLD, message_of(error), error, seconds)


def _stale(action: Write, why: str) -> Failure:
    return Failure(action, Standing.STALE, f"{action.kind.kind} {action.name} is {why}", None)


def _request(action: Write, resource: Resource) -> Request:
    """The request that an action is."""
    namespace, name = action.namespace, action.name
    match action:
        case Create():
            return requests.create(
                resource,
                namespace=namespace,
                body=dict(action.body),
                field_manager=names.FIELD_MANAGER,
            )
        case Apply():
            return requests.apply(
                resource,
                namespace=namespace,
                name=name,
                body=_with_preconditions(action.body, action.uid, action.resource_version),
                field_manager=names.FIELD_MANAGER,
                force=True,
            )
        case MergePatch():
            return requests.patch(
                resource,
                namespace=namespace,
                name=name,
                body=_with_preconditions(action.body, action.uid, action.resource_version),
                patch_type=PatchType.MERGE,
                field_manager=names.FIELD_MANAGER,
                subresource=action.subresource,
            )
        case Delete():
            return requests.delete(
                resource,
                namespace=namespace,
                name=name,
                propagation=requests.Propagation(action.propagation.value),
                uid=action.uid,
                resource_version=action.resource_version,
            )


def _with_preconditions(body: Any, uid: str | None, version: str | None) -> dict[str, Any]:
    metadata = dict(body.get("metadata") or {})
    if uid:
        metadata["uid"] = uid
    if version:
        metadata["resourceVersion"] = version
    return {**body, "metadata": metadata}
