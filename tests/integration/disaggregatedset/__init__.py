"""DisaggregatedSets on a real control plane, the operator a process of its own."""
