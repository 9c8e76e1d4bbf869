"""The executor of DisaggregatedSets: caches, families, snapshots, and who shows a write.

Law: as of the executor's other modules; it decides nothing.
"""
