"""Plans for one DisaggregatedSet (spec: disaggregatedset.md).

Law: pure; one function a rule of the spec. The planner proper (`next_step`) knows numbers only,
one a role; what those numbers mean for several old revisions is in `rolling_step` and below it.
"""

from lws.planner.disaggregatedset.budgets import DEFAULT_BUDGETS, Budgets, resolve_budgets
from lws.planner.disaggregatedset.drain import Drain, coordinated_drain
from lws.planner.disaggregatedset.revisions import OldRevision, merged_roles, newest_first
from lws.planner.disaggregatedset.rolling import (
    Growth,
    RollingStep,
    Wanted,
    is_rolled_out,
    rolling_step,
)
from lws.planner.disaggregatedset.steps import all_steps, is_done, next_step
from lws.planner.disaggregatedset.targets import (
    external_target,
    scaler_seed,
    static_target,
    target_while_draining,
)

__all__ = [
    "DEFAULT_BUDGETS",
    "Budgets",
    "Drain",
    "Growth",
    "OldRevision",
    "RollingStep",
    "Wanted",
    "all_steps",
    "coordinated_drain",
    "external_target",
    "is_done",
    "is_rolled_out",
    "merged_roles",
    "newest_first",
    "next_step",
    "resolve_budgets",
    "rolling_step",
    "scaler_seed",
    "static_target",
    "target_while_draining",
]
