"""One pass over a DisaggregatedSet as a whole: when it looks again."""

from typing import Any, cast

from lws.api.kinds import Kind
from lws.controllers.disaggregatedset import DisaggregatedSetController
from lws.controllers.metrics import DisaggregatedSetMetrics
from lws.controllers.outcomes import FOREIGN_SECONDS
from lws.executor.disaggregatedset.reports import Reports
from lws.executor.perform import Performer
from lws.runtime.clock import VirtualClock
from lws.runtime.guard import Guard
from lws.runtime.metrics import Metrics
from tests.unit.executor.disaggregatedset.test_families import KEY, Watched, sliced


class Nothing:
    """A performer that writes nothing, and is refused nothing."""

    async def strands(self, *_: Any) -> list[Any]:
        return []

    async def strand(self, *_: Any) -> None:
        return None


def controller_of(watched: Watched) -> DisaggregatedSetController:
    return DisaggregatedSetController(
        observer=watched.observer,
        families=watched.families,
        reports=Reports(watched.woken.append),
        performer=cast(Performer, Nothing()),
        foreign=watched.foreign,
        guard=Guard(),
        clock=VirtualClock(),
        metrics=DisaggregatedSetMetrics(Metrics()),
    )


async def test_while_something_foreign_is_in_the_way_the_set_looks_again_by_itself() -> None:
    watched = Watched(sliced(1))
    controller = controller_of(watched)
    assert await controller.reconcile(KEY) is None
    watched.foreign.note(KEY, kind=Kind.SERVICE, name="pd-0-0badcafe-decode-prv", owner="ds-uid")
    assert await controller.reconcile(KEY) == FOREIGN_SECONDS
