"""Plans for one LeaderWorkerSet: revisions, leader StatefulSet, rollout, status.

Spec: leaderworkerset.md.

Law: pure; one module a step of the pipeline.
"""
