"""Statuses: when the planner's are written, and how."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lws.api.kinds import Kind
from lws.api.meta import ObjectMeta
from lws.base.clock import Clock
from lws.executor.perform import Failure, Family, Performer
from lws.planner.actions import Emit, MergePatch
from lws.planner.timing import Timing

Key = TypeVar("Key")


@dataclass(slots=True)
class _Moments:
    written: float = -math.inf
    unsaid_since: float | None = None


class Statuses(Generic[Key]):
    """Remembers by key what `Timing` asks; a restart forgets it, and nothing is late by that."""

    def __init__(self, *, kind: Kind, performer: Performer, clock: Clock) -> None:
        self._kind = kind
        self._performer = performer
        self._clock = clock
        self._moments: dict[Key, _Moments] = {}

    def timing(self, key: Key) -> Timing:
        """For the planner."""
        now, moments = self._clock.monotonic(), self._moments.get(key, _Moments())
        since = moments.unsaid_since
        return Timing(age=now - moments.written, unsaid=0.0 if since is None else now - since)

    def put_off(self, key: Key) -> None:
        """It is to say something else, later."""
        moments = self._moments.setdefault(key, _Moments())
        if moments.unsaid_since is None:
            moments.unsaid_since = self._clock.monotonic()

    def stands(self, key: Key) -> None:
        """It says what it should."""
        if key in self._moments:
            self._moments[key].unsaid_since = None

    async def write(
        self,
        key: Key,
        *,
        family: Family,
        meta: ObjectMeta,
        fields: Mapping[str, Any],
        events: tuple[Emit, ...],
    ) -> Failure | None:
        """Change these fields of it, then tell; one that was refused is still unsaid."""
        patch = MergePatch(
            kind=self._kind,
            namespace=meta.namespace,
            name=meta.name,
            body={"status": dict(fields)},
            uid=meta.uid,
            subresource="status",
        )
        failure = await self._performer.strand(family, (patch, *events))
        if failure is None:
            self._moments[key] = _Moments(written=self._clock.monotonic())
        else:
            self.put_off(key)
        return failure

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._moments.pop(key, None)
