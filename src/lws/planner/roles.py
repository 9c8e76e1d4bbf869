"""LeaderWorkerSets that are roles of a DisaggregatedSet: it is looked at, they are its parts."""

from lws.api import names
from lws.api.leaderworkerset import LeaderWorkerSet
from lws.planner.actions import Telling


def is_role(lws: LeaderWorkerSet) -> bool:
    """Whether a DisaggregatedSet controls it."""
    return any(
        owner.controller
        and owner.kind == names.DS_KIND
        and owner.api_version == names.DS_API_VERSION
        for owner in lws.metadata.owner_references
    )


def telling_of_making(lws: LeaderWorkerSet) -> Telling:
    """How the StatefulSets that are made for a set and its groups are told."""
    return Telling.TOGETHER if is_role(lws) else Telling.FEW
