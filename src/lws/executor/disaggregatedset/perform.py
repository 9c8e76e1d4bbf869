"""Which caches show the writes of a DisaggregatedSet's passes."""

from typing import Any

from lws.api.kinds import Kind
from lws.executor.disaggregatedset.caches import DisaggregatedCaches
from lws.executor.perform import Performer
from lws.planner.actions import Write
from lws.runtime.guard import Cache


class DisaggregatedPerformer(Performer):
    """Services of roles carry another label than those of groups, hence another watch."""

    def __init__(self, *, disaggregated: DisaggregatedCaches, **common: Any) -> None:
        super().__init__(**common)
        self._shown_by: dict[Kind, Cache] = {
            Kind.DISAGGREGATED_SET: disaggregated.sets,
            Kind.ROLE_SCALER: disaggregated.scalers,
            Kind.SERVICE: disaggregated.services,
            Kind.LEADER_WORKER_SET: disaggregated.leaderworkersets,
        }

    def _caches_of(self, action: Write) -> list[Cache]:
        return [self._shown_by[action.kind]]
