"""Plans for one LeaderWorkerSet: revisions, leader StatefulSet, rollout, status.

Spec: leaderworkerset.md.

Law: pure; one module a step of the pipeline.
"""

from lws.planner.leaderworkerset.rollout import next_rollout as next_rollout
from lws.planner.leaderworkerset.rollout_sequence import RolloutStep as RolloutStep
from lws.planner.leaderworkerset.rollout_sequence import UnderWay as UnderWay
from lws.planner.leaderworkerset.rollout_sequence import all_rollouts as all_rollouts
from lws.planner.leaderworkerset.rollout_values import DeleteLeader as DeleteLeader
from lws.planner.leaderworkerset.rollout_values import Group as Group
from lws.planner.leaderworkerset.rollout_values import LeaderStatefulSet as LeaderStatefulSet
from lws.planner.leaderworkerset.rollout_values import SetRollout as SetRollout
