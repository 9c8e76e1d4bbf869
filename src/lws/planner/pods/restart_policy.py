"""`restartPolicy`: which losses of a group's members recreate the group."""

from enum import Enum

from lws.api import names
from lws.api.leaderworkerset import LeaderWorkerSet, RestartPolicy


class RestartScope(Enum):
    """What the policy of a set comes to."""

    NOTHING = "nothing"
    """No loss recreates a group."""
    EVERYTHING = "everything"
    """Every loss since the leader lives."""
    AFTER_START = "after-start"
    """Losses after the moment at which the last pod of the group began to run."""


def restart_scope(lws: LeaderWorkerSet) -> RestartScope:
    """The scope of a live set; a policy that we do not know destroys nothing."""
    policy = lws.spec.leader_worker_template.restart_policy
    if policy == RestartPolicy.RECREATE_GROUP_AFTER_START:
        return RestartScope.AFTER_START
    if policy != RestartPolicy.RECREATE_GROUP_ON_POD_RESTART:
        return RestartScope.NOTHING
    if names.RECREATE_AFTER_START in lws.metadata.annotations:
        return RestartScope.AFTER_START
    return RestartScope.EVERYTHING
