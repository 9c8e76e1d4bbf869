"""Operator for LeaderWorkerSet and DisaggregatedSet on Kubernetes."""

__version__ = "0.1.0"
