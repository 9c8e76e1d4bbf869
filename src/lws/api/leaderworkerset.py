"""LeaderWorkerSet, as our controllers read it (spec: api.md section 2).

Every default of the schema stands here too, so that an object that reached the store without a
webhook, or under an older CRD, reads the same. Pod templates stay JSON until one is built.
"""

from enum import StrEnum

import msgspec

from lws.api.intorpercent import IntOrPercent
from lws.api.meta import Condition, ObjectMeta, Struct


class RestartPolicy(StrEnum):
    """`leaderWorkerTemplate.restartPolicy`."""

    RECREATE_GROUP_ON_POD_RESTART = "RecreateGroupOnPodRestart"
    RECREATE_GROUP_AFTER_START = "RecreateGroupAfterStart"
    NONE = "None"
    DEFAULT = "Default"
    """Old name of NONE."""


class SubGroupPolicyType(StrEnum):
    """`subGroupPolicy.subGroupPolicyType`."""

    LEADER_WORKER = "LeaderWorker"
    LEADER_EXCLUDED = "LeaderExcluded"


class StartupPolicy(StrEnum):
    """`startupPolicy`."""

    LEADER_CREATED = "LeaderCreated"
    LEADER_READY = "LeaderReady"


class SubdomainPolicy(StrEnum):
    """`networkConfig.subdomainPolicy`."""

    SHARED = "Shared"
    UNIQUE_PER_REPLICA = "UniquePerReplica"


class SubGroupPolicy(Struct, frozen=True, kw_only=True):
    """`leaderWorkerTemplate.subGroupPolicy`."""

    sub_group_policy_type: str = SubGroupPolicyType.LEADER_WORKER
    sub_group_size: int | None = None


class LeaderWorkerTemplate(Struct, frozen=True, kw_only=True):
    """`leaderWorkerTemplate`: what one group is made from."""

    leader_template: msgspec.Raw = msgspec.Raw(b"null")
    worker_template: msgspec.Raw = msgspec.Raw(b"{}")
    size: int = 1
    restart_policy: str = RestartPolicy.RECREATE_GROUP_ON_POD_RESTART
    sub_group_policy: SubGroupPolicy | None = None
    volume_claim_templates: msgspec.Raw = msgspec.Raw(b"null")
    persistent_volume_claim_retention_policy: dict[str, str] | None = None
    max_group_restarts: int | None = None


class NetworkConfig(Struct, frozen=True, kw_only=True):
    """`networkConfig`."""

    subdomain_policy: str | None = None


class RollingUpdateConfiguration(Struct, frozen=True, kw_only=True):
    """`rolloutStrategy.rollingUpdateConfiguration`."""

    partition: int | None = None
    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None


class RolloutStrategy(Struct, frozen=True, kw_only=True):
    """`rolloutStrategy`."""

    type: str = "RollingUpdate"
    rolling_update_configuration: RollingUpdateConfiguration | None = None


class LeaderWorkerSetSpec(Struct, frozen=True, kw_only=True):
    """`spec`; `leader_worker_template` is typed, its pod templates are JSON."""

    replicas: int | None = None
    leader_worker_template: LeaderWorkerTemplate = LeaderWorkerTemplate()
    rollout_strategy: RolloutStrategy | None = None
    startup_policy: str = StartupPolicy.LEADER_CREATED
    network_config: NetworkConfig | None = None
    revision_history_limit: int | None = None
    paused: bool = False
    progress_deadline_seconds: int | None = None


class GroupRestart(Struct, frozen=True, kw_only=True):
    """`status.groupRestarts[]`: the row of recreations that one group is in (pods.md section 2)."""

    group: int
    count: int = 0
    last_time: str = ""
    reason: str = ""


class LeaderWorkerSetStatus(Struct, frozen=True, kw_only=True):
    """`status`."""

    conditions: tuple[Condition, ...] = ()
    ready_replicas: int = 0
    updated_replicas: int = 0
    replicas: int = 0
    hpa_pod_selector: str = ""
    observed_generation: int = 0
    group_restarts: tuple[GroupRestart, ...] = ()


class LeaderWorkerSet(Struct, frozen=True, kw_only=True):
    """One LeaderWorkerSet; `document` is the whole of it as JSON (set by `decode`)."""

    metadata: ObjectMeta
    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()
    status: LeaderWorkerSetStatus = LeaderWorkerSetStatus()
    document: bytes = b""


_decoder = msgspec.json.Decoder(LeaderWorkerSet)


def decode(data: bytes | msgspec.Raw) -> LeaderWorkerSet:
    """Read one; msgspec.ValidationError (with the field's path) if a type is wrong."""
    document = bytes(data)
    return msgspec.structs.replace(_decoder.decode(document), document=document)


class Template(Struct, frozen=True, kw_only=True):
    """What a revision records: the template, and the network configuration that belongs to it."""

    leader_worker_template: LeaderWorkerTemplate
    network_config: NetworkConfig | None = None
