"""Plans for one DisaggregatedSet (spec: disaggregatedset.md).

Law: pure; one function a rule of the spec.
"""
