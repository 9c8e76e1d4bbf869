"""What would be written, and nothing written: a performer that only takes notes."""

from collections.abc import Mapping
from typing import Any, cast

from lws.api.kinds import Kind
from lws.base.clock import Clock
from lws.client.kubernetes import KubernetesClient
from lws.client.resources import Resource
from lws.executor.caches import RESOURCES, Caches
from lws.executor.foreign import ForeignObjects
from lws.executor.perform import Failure, Family, Performer, Standing
from lws.planner.actions import Action, Apply, Create, Emit, Write
from lws.runtime.events import EventRecorder
from lws.runtime.guard import Guard


class Rehearsal(Performer):
    """Stands in for a `Performer`: every action is kept, in order, and none is sent.

    What would be made is looked for first (a GET): something foreign in its place is met as a
    pass would meet it.
    """

    def __init__(
        self,
        *,
        client: KubernetesClient,
        caches: Caches,
        foreign: ForeignObjects,
        clock: Clock,
        resources: Mapping[Kind, Resource] = RESOURCES,
    ) -> None:
        no_recorder: Any = None  # `emit` is ours
        super().__init__(
            client=client,
            caches=caches,
            guard=Guard(),
            recorder=cast(EventRecorder, no_recorder),
            foreign=foreign,
            clock=clock,
            resources=resources,
        )
        self._actions: list[Action] = []
        self._obstacles: list[Failure] = []

    def take(self) -> tuple[list[Action], list[Failure]]:
        """What was kept since the last time: actions, and what stood in the way of some."""
        taken = self._actions, self._obstacles
        self._actions, self._obstacles = [], []
        return taken

    def emit(self, action: Emit) -> None:
        """Keep the event."""
        self._actions.append(action)

    async def write(self, family: Family, action: Write) -> Failure | None:
        """Keep the write, and answer as if it had been done."""
        is_first = isinstance(action, Create) or (isinstance(action, Apply) and action.uid is None)
        if is_first and isinstance(action, Create | Apply):
            met = await self.met(family, action)
            if met is not None and met.standing is Standing.FOREIGN:
                self._obstacles.append(met)
                return met
        self._actions.append(action)
        return None
