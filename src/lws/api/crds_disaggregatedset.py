"""The schemas of a DisaggregatedSet and of its role scalers (spec: api.md section 3)."""

from __future__ import annotations

from lws.api import crds_leaderworkerset
from lws.api.crds_words import (
    AGE_COLUMN,
    STRINGS,
    Schema,
    choice,
    conditions,
    count,
    definition,
    generation,
    items_by,
    number_column,
    record,
    ruled,
    text,
)
from lws.api.names import DS_GROUP, DS_KIND

ROLES_MIN, ROLES_MAX = 2, 10
SLICES_MAX = 100
SCALER_KIND = "DisaggregatedSetRoleScaler"

_EXTERNAL = "(has(r.scaling) && has(r.scaling.mode) && r.scaling.mode == 'External')"
_ALL_AT_NONE = f"self.all(r, {_EXTERNAL} || !has(r.spec.replicas) || r.spec.replicas == 0)"
_ALL_AT_SOME = f"self.all(r, {_EXTERNAL} || (has(r.spec.replicas) && r.spec.replicas > 0))"


def disaggregated_set() -> Schema:
    return definition(
        group=DS_GROUP,
        names={
            "kind": DS_KIND,
            "listKind": f"{DS_KIND}List",
            "plural": "disaggregatedsets",
            "singular": "disaggregatedset",
            "categories": ["all"],
        },
        description="Roles that serve together, each a LeaderWorkerSet, and are updated together.",
        spec=record(
            "What is wanted.",
            {
                "roles": _roles(),
                "slices": count(
                    "Copies of the whole, each with all roles.", least=1, most=SLICES_MAX, default=1
                ),
                "placementPolicy": _placement_policy(),
            },
            ("roles",),
        ),
        status=_status(),
    )


def role_scaler() -> Schema:
    return definition(
        group=DS_GROUP,
        names={
            "kind": SCALER_KIND,
            "listKind": f"{SCALER_KIND}List",
            "plural": "disaggregatedsetrolescalers",
            "singular": "disaggregatedsetrolescaler",
            "shortNames": ["dsrs"],
        },
        description="Where an autoscaler sets the replicas of one role of a DisaggregatedSet.",
        spec=record("What is wanted.", {"replicas": count("Groups.", least=0, default=0)}),
        status=record(
            "What was last seen.",
            {
                "replicas": count("Groups that exist."),
                "selector": text("Selects the leaders; for autoscalers."),
                "observedGeneration": generation("Generation that this status is about."),
                "conditions": conditions(),
            },
        ),
        columns=(
            number_column("Desired", ".spec.replicas", "Groups that are wanted"),
            number_column("Current", ".status.replicas", "Groups that exist"),
            AGE_COLUMN,
        ),
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    )


def _roles() -> Schema:
    roles = items_by(
        "name", _role(), "What the set consists of.", minItems=ROLES_MIN, maxItems=ROLES_MAX
    )
    return ruled(
        roles,
        rule=f"{_ALL_AT_NONE} || {_ALL_AT_SOME}",
        message="the roles that are not External either all have replicas 0, or all have more",
    )


def _role() -> Schema:
    return record(
        "One role.",
        {
            "name": text(
                "Names the role's objects.",
                minLength=1,
                maxLength=63,
                pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            ),
            "scaling": record(
                "Who sets the replicas.",
                {
                    "mode": choice(
                        "Static: this spec. External: the role's scaler.",
                        ["Static", "External"],
                        "Static",
                    )
                },
            ),
            "metadata": {
                "description": "Labels and annotations of the role's LeaderWorkerSet.",
                "type": "object",
                "properties": {"labels": STRINGS, "annotations": STRINGS},
                "x-kubernetes-preserve-unknown-fields": True,
            },
            "spec": crds_leaderworkerset.spec(),
        },
        ("name", "spec"),
    )


def _placement_policy() -> Schema:
    policy = record(
        "Keeps the slices apart.",
        {
            "type": choice(
                "What may share a domain of the topology.",
                ["None", "ExclusiveSlice", "ExclusiveTopology"],
                "None",
            ),
            "topology": text("Key of the node label that says what a domain is."),
        },
    )
    return ruled(
        policy,
        rule="!has(self.type) || self.type == 'None' || "
        "(has(self.topology) && self.topology != '')",
        message="topology is required unless type is None",
    )


def _status() -> Schema:
    return record(
        "What was last seen.",
        {
            "observedGeneration": generation("Generation that this status is about."),
            "roleStatuses": items_by(
                "name",
                record(
                    "One role, over all slices and revisions.",
                    {
                        "name": text("The role."),
                        "replicas": count("Groups that exist."),
                        "readyReplicas": count("Groups that are ready."),
                        "updatedReplicas": count("Groups of the newest revision."),
                    },
                    ("name",),
                ),
                "One entry a role, in the order of the spec.",
            ),
            "conditions": conditions(),
        },
    )
