"""The kinds that a plan can name."""

from enum import Enum


class Kind(Enum):
    """(group/version, kind) of an object that an action is about."""

    POD = ("v1", "Pod")
    SERVICE = ("v1", "Service")
    STATEFUL_SET = ("apps/v1", "StatefulSet")
    CONTROLLER_REVISION = ("apps/v1", "ControllerRevision")
    LEADER_WORKER_SET = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    DISAGGREGATED_SET = ("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet")
    POD_GROUP = ("", "PodGroup")
    """Of the configured scheduling provider, whose API it is of."""
    ROLE_SCALER = ("disaggregatedset.x-k8s.io/v1", "DisaggregatedSetRoleScaler")

    @property
    def api_version(self) -> str:
        """`apiVersion` as objects carry it."""
        return self.value[0]

    @property
    def kind(self) -> str:
        """`kind` as objects carry it."""
        return self.value[1]
