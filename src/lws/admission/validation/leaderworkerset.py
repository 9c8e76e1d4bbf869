"""The rules of a LeaderWorkerSet (api.md section 2)."""

from lws.admission.validation.budgets import check_rollout_strategy, max_surge
from lws.admission.validation.counts import check_counts, replicas_of, size_of
from lws.admission.validation.naming import (
    DNS_LABEL_RULE,
    LABEL_LENGTH_MAX,
    expected_name,
    is_dns_label,
    longest_label,
)
from lws.admission.validation.places import Place
from lws.admission.validation.subgroups import (
    check_subgroup_topology,
    check_subgroups,
    check_subgroups_kept,
)
from lws.admission.validation.verdict import Cause
from lws.admission.validation.volumes import check_claims, check_claims_kept
from lws.api import names
from lws.api.intorpercent import resolve
from lws.api.leaderworkerset import RestartPolicy, StartupPolicy, SubdomainPolicy

_RECREATING = frozenset(
    {RestartPolicy.RECREATE_GROUP_ON_POD_RESTART, RestartPolicy.RECREATE_GROUP_AFTER_START}
)


def check_object(document: Place) -> None:
    """Everything but the name, which no update can change."""
    spec = document["spec"]
    check_spec(spec, is_scaled_by_steps=_is_a_roles(document["metadata"]))
    check_subgroup_topology(document["metadata"], template=spec["leaderWorkerTemplate"])


def _is_a_roles(metadata: Place) -> bool:
    """Is a DisaggregatedSet its controller, which takes it through every number in an update?"""
    owners = metadata["ownerReferences"].value
    return isinstance(owners, list) and any(
        isinstance(owner, dict)
        and owner.get("controller") is True
        and owner.get("kind") == names.DS_KIND
        and str(owner.get("apiVersion", "")).partition("/")[0] == names.DS_GROUP
        for owner in owners
    )


def check_spec(spec: Place, *, is_scaled_by_steps: bool = False, is_scaled: bool = False) -> None:
    """The rules that a spec has by itself, also as the spec of a role, which may be External
    (`is_scaled`)."""
    template = spec["leaderWorkerTemplate"]
    check_counts(spec)
    _check_template(template)
    check_subgroups(template)
    check_claims(template)
    check_rollout_strategy(spec, may_come_to_zero=is_scaled_by_steps, is_scaled=is_scaled)
    spec["startupPolicy"].one_of(tuple(StartupPolicy), default=StartupPolicy.LEADER_CREATED)
    spec["networkConfig"]["subdomainPolicy"].one_of(
        tuple(SubdomainPolicy), default=SubdomainPolicy.SHARED
    )
    spec["revisionHistoryLimit"].bounded(0, default=None)
    spec["progressDeadlineSeconds"].bounded(0, default=None)
    spec["paused"].flag()


def check_name(document: Place) -> None:
    """A Service's name, short enough for what is made from it."""
    metadata = document["metadata"]
    name = expected_name(metadata["name"].text(), metadata["generateName"].text())
    if not name:
        metadata["name"].require("give the set a name")
        return
    if not is_dns_label(name):
        metadata["name"].error(Cause.INVALID, DNS_LABEL_RULE)
    length = label_length(document["spec"], name_length=len(name))
    if length is not None and length > LABEL_LENGTH_MAX:
        metadata["name"].error(
            Cause.INVALID,
            f"makes label values of {length} characters with this many groups and pods;"
            f" {LABEL_LENGTH_MAX} is the most: shorten it by {length - LABEL_LENGTH_MAX}",
        )


def check_kept(document: Place, *, old: Place) -> None:
    """What an update must leave as it is."""
    template, old_template = (place["spec"]["leaderWorkerTemplate"] for place in (document, old))
    check_claims_kept(template, old=old_template)
    check_subgroups_kept(template, old=old_template)


def label_length(spec: Place, *, name_length: int) -> int | None:
    """The longest label value that a set of that name would give; None if its spec is invalid."""
    replicas = replicas_of(spec)
    size = size_of(spec["leaderWorkerTemplate"])
    budget = max_surge(spec)
    if replicas is None or size is None or budget is None:
        return None
    surge = resolve(budget, total=replicas, round_up=True)
    return longest_label(name_length, replicas=replicas, surge=surge, size=size)


def _check_template(template: Place) -> None:
    template["leaderTemplate"].fields()
    template["workerTemplate"].fields()
    template["workerTemplate"].require("give the pod template of the workers")
    policy = template["restartPolicy"].one_of(
        tuple(RestartPolicy), default=RestartPolicy.RECREATE_GROUP_ON_POD_RESTART
    )
    restarts = template["maxGroupRestarts"]
    restarts.bounded(0, default=None)
    if restarts.is_set and policy not in _RECREATING:
        restarts.error(
            Cause.FORBIDDEN, f"has no meaning with restartPolicy {policy}: remove one of the two"
        )
