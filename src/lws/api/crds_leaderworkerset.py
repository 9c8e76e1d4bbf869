"""The schema of a LeaderWorkerSet, field for field (spec: api.md section 2)."""

from __future__ import annotations

from lws.api.crds_words import (
    AGE_COLUMN,
    Schema,
    choice,
    conditions,
    count,
    definition,
    described,
    flag,
    generation,
    int_or_percent,
    items_by,
    moment,
    number_column,
    record,
    text,
)
from lws.api.leaderworkerset import (
    RestartPolicy,
    StartupPolicy,
    SubdomainPolicy,
    SubGroupPolicyType,
)
from lws.api.names import GROUP, KIND
from lws.api.schema.builtin import pod_template, volume_claim

REPLICAS_MAX = 1_000_000


def leader_worker_set() -> Schema:
    return definition(
        group=GROUP,
        names={
            "kind": KIND,
            "listKind": f"{KIND}List",
            "plural": "leaderworkersets",
            "singular": "leaderworkerset",
            "shortNames": ["lws"],
            "categories": ["all"],
        },
        description="Groups of pods, each of a leader and its workers, that live and die together.",
        spec=spec(),
        status=_status(),
        columns=(
            number_column("Ready", ".status.readyReplicas", "Groups that are ready"),
            number_column("Desired", ".spec.replicas", "Groups that are wanted"),
            number_column("Up-to-date", ".status.updatedReplicas", "Groups of the newest template"),
            AGE_COLUMN,
        ),
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
    )


def spec() -> Schema:
    """Also the spec of a role of a DisaggregatedSet."""
    return record(
        "What is wanted.",
        {
            "replicas": count("Number of groups.", least=0, most=REPLICAS_MAX, default=1),
            "leaderWorkerTemplate": _leader_worker_template(),
            "rolloutStrategy": _rollout_strategy(),
            "startupPolicy": choice(
                "Whether workers are made with their leader, or once it is ready.",
                list(StartupPolicy),
                StartupPolicy.LEADER_CREATED,
            ),
            "networkConfig": record(
                "How pods find each other.",
                {
                    "subdomainPolicy": choice(
                        "One headless Service for all groups, or one for each.",
                        list(SubdomainPolicy),
                        SubdomainPolicy.SHARED,
                    )
                },
            ),
            "revisionHistoryLimit": count(
                "How many retired revisions are kept to go back to; 10 if not set.", least=0
            ),
            "paused": flag("While true, a running update takes no further group."),
            "progressDeadlineSeconds": count(
                "After so long without progress an update is reported as stuck.", least=0
            ),
        },
        ("leaderWorkerTemplate",),
    )


def _leader_worker_template() -> Schema:
    return record(
        "What a group is made from. A change is a rolling update.",
        {
            "leaderTemplate": described(
                pod_template(), "The leader's pod; without it, the worker template serves."
            ),
            "workerTemplate": described(pod_template(), "The workers' pod."),
            "size": count("Pods in a group, the leader included.", least=1, default=1),
            "restartPolicy": choice(
                "What a failed pod means for its group. Default is an old name of None.",
                list(RestartPolicy),
                RestartPolicy.RECREATE_GROUP_ON_POD_RESTART,
            ),
            "subGroupPolicy": _sub_group_policy(),
            "volumeClaimTemplates": {
                "description": "Claims that each pod gets. They cannot be changed later.",
                "type": "array",
                "items": volume_claim(),
            },
            "persistentVolumeClaimRetentionPolicy": record(
                "What becomes of the claims of pods that are gone.",
                {
                    "whenDeleted": text("When the set is deleted: Retain or Delete."),
                    "whenScaled": text("When the set is scaled down: Retain or Delete."),
                },
            ),
            "maxGroupRestarts": count(
                "A group that failed so often in a row is left as it is, to be looked at.", least=0
            ),
        },
        ("workerTemplate",),
    )


def _sub_group_policy() -> Schema:
    return record(
        "Parts of a group, for placement.",
        {
            "subGroupPolicyType": choice(
                "Whether the leader belongs to a subgroup.",
                list(SubGroupPolicyType),
                SubGroupPolicyType.LEADER_WORKER,
            ),
            "subGroupSize": count("Pods in a subgroup. It cannot be changed later.", least=1),
        },
    )


def _rollout_strategy() -> Schema:
    return record(
        "How a change of the template reaches the groups.",
        {
            "type": choice("The only way there is.", ["RollingUpdate"], "RollingUpdate"),
            "rollingUpdateConfiguration": record(
                "Bounds of a rolling update.",
                {
                    "partition": count(
                        "Groups of a lower index keep the old template.", least=0, default=0
                    ),
                    "maxUnavailable": int_or_percent("Groups that may be missing meanwhile.", 1),
                    "maxSurge": int_or_percent("Groups that may be added meanwhile.", 0),
                },
            ),
        },
    )


def _status() -> Schema:
    return record(
        "What was last seen.",
        {
            "conditions": conditions(),
            "replicas": count("Groups that exist."),
            "readyReplicas": count("Groups that are ready."),
            "updatedReplicas": count("Groups of the newest template."),
            "hpaPodSelector": text("Selects the leaders; for autoscalers."),
            "observedGeneration": generation("Generation that this status is about."),
            "groupRestarts": items_by(
                "group",
                record(
                    "The failures in a row of one group.",
                    {
                        "group": count("Index of the group."),
                        "count": count("How often it was made anew."),
                        "lastTime": moment("When it last was."),
                        "reason": text("Why."),
                    },
                    ("group",),
                ),
                "Groups that were made anew and have not been ready for long since.",
            ),
        },
    )
