"""`leaderWorkerTemplate.subGroupPolicy` and the annotation that needs it (api.md section 2)."""

from lws.admission.validation.counts import size_of
from lws.admission.validation.places import Place
from lws.admission.validation.verdict import Cause
from lws.api import names
from lws.api.leaderworkerset import SubGroupPolicyType


def check_subgroups(template: Place) -> None:
    """The policy, if there is one, and how it divides the group."""
    policy = template["subGroupPolicy"]
    if not policy.is_set:
        return
    policy_type = policy["subGroupPolicyType"].one_of(
        tuple(SubGroupPolicyType), default=SubGroupPolicyType.LEADER_WORKER
    )
    size = size_of(template)
    place = policy["subGroupSize"]
    place.require("say how many pods a subgroup has")
    subgroup = place.bounded(1, default=None)
    if size is None or subgroup is None:
        return
    if subgroup > size:
        place.error(Cause.INVALID, f"must not be larger than size ({size})")
    elif size % subgroup and (size - 1) % subgroup:
        place.error(Cause.INVALID, f"must divide size ({size}) or size - 1 ({size - 1})")
    if policy_type == SubGroupPolicyType.LEADER_EXCLUDED and (size - 1) % subgroup:
        place.error(Cause.INVALID, f"must divide size - 1 ({size - 1}) with LeaderExcluded")


def check_subgroup_topology(metadata: Place, *, template: Place) -> None:
    """Placement by subgroup needs subgroups."""
    annotation = metadata["annotations"].entry(names.SUBGROUP_EXCLUSIVE_TOPOLOGY)
    if annotation.is_set and not template["subGroupPolicy"].is_set:
        annotation.error(
            Cause.INVALID,
            f"needs {template.path}.subGroupPolicy: set that, or remove the annotation",
        )


def check_subgroups_kept(template: Place, *, old: Place) -> None:
    """On update: pods are placed by subgroups, so those of a set never change."""
    policy, old_policy = template["subGroupPolicy"], old["subGroupPolicy"]
    if policy.is_set and not old_policy.is_set:
        policy.error(Cause.FORBIDDEN, "cannot be added to a set that exists: create a new one")
    elif old_policy.is_set and not policy.is_set:
        policy.error(Cause.FORBIDDEN, "cannot be removed from a set that exists: create a new one")
    elif policy["subGroupSize"].value != old_policy["subGroupSize"].value:
        was = old_policy["subGroupSize"].value
        policy["subGroupSize"].error(Cause.INVALID, f"is immutable: put it back to {was}")
