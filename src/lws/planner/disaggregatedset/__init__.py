"""Plans for one DisaggregatedSet (spec: disaggregatedset.md).

Law: pure; one function a rule of the spec.
"""

from lws.planner.disaggregatedset.steps import all_steps, is_done, next_step

__all__ = ["all_steps", "is_done", "next_step"]
