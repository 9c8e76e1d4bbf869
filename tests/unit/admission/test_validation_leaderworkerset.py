"""Every rule of a LeaderWorkerSet, with the path that it names."""

import copy
from typing import Any

import pytest

from lws.admission.defaulting import default_leaderworkerset
from lws.admission.validation import Cause, Verdict, validate_leaderworkerset
from tests.unit.admission import golden

TEMPLATE = "spec.leaderWorkerTemplate"
BUDGETS = "spec.rolloutStrategy.rollingUpdateConfiguration"
SUBGROUP = f"{TEMPLATE}.subGroupPolicy"
TOPOLOGY = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def lws(changes: dict[str, Any] | None = None, *, name: str = "serve") -> dict[str, Any]:
    """A valid set, with values put at dotted paths (None: removed)."""
    obj = default_leaderworkerset(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"leaderWorkerTemplate": {"size": 4, "workerTemplate": {"spec": {}}}},
        }
    )
    obj = copy.deepcopy(obj)
    for path, value in (changes or {}).items():
        put(obj, path, value)
    return obj


def put(obj: dict[str, Any], path: str, value: object) -> None:
    *parents, last = path.split(".")
    for key in parents:
        obj = obj.setdefault(key, {})
    obj[last] = value


def paths(verdict: Verdict) -> list[str]:
    return [error.path for error in verdict.errors]


def claims(amount: object = "1Gi", **extra: object) -> list[dict[str, Any]]:
    spec = {"resources": {"requests": {"storage": amount}}, **extra}
    return [{"metadata": {"name": "data"}, "spec": spec}]


WRONG = [
    ("fewer than no groups", {"spec.replicas": -1}, "spec.replicas"),
    ("more than a million groups", {"spec.replicas": 1_000_001}, "spec.replicas"),
    ("no pods in a group", {f"{TEMPLATE}.size": 0}, f"{TEMPLATE}.size"),
    ("a size beyond 32 bits", {f"{TEMPLATE}.size": 2**31}, f"{TEMPLATE}.size"),
    (
        "more pods than 32 bits count",
        {"spec.replicas": 1_000_000, f"{TEMPLATE}.size": 2148},
        "spec.replicas",
    ),
    ("no worker template", {f"{TEMPLATE}.workerTemplate": None}, f"{TEMPLATE}.workerTemplate"),
    (
        "an unknown restart policy",
        {f"{TEMPLATE}.restartPolicy": "Always"},
        f"{TEMPLATE}.restartPolicy",
    ),
    ("an unknown strategy", {"spec.rolloutStrategy.type": "OnDelete"}, "spec.rolloutStrategy.type"),
    ("an unknown start-up policy", {"spec.startupPolicy": "Late"}, "spec.startupPolicy"),
    (
        "an unknown subdomain policy",
        {"spec.networkConfig.subdomainPolicy": "Own"},
        "spec.networkConfig.subdomainPolicy",
    ),
    ("a negative partition", {f"{BUDGETS}.partition": -1}, f"{BUDGETS}.partition"),
    ("a negative budget", {f"{BUDGETS}.maxUnavailable": -1}, f"{BUDGETS}.maxUnavailable"),
    ("a negative surge", {f"{BUDGETS}.maxSurge": -1}, f"{BUDGETS}.maxSurge"),
    ("a percentage above 100", {f"{BUDGETS}.maxUnavailable": "101%"}, f"{BUDGETS}.maxUnavailable"),
    (
        "a percentage with thousands of digits",
        {f"{BUDGETS}.maxSurge": "9" * 5000 + "%"},
        f"{BUDGETS}.maxSurge",
    ),
    ("a number as a string", {f"{BUDGETS}.maxSurge": "1"}, f"{BUDGETS}.maxSurge"),
    ("a negative percentage", {f"{BUDGETS}.maxSurge": "-1%"}, f"{BUDGETS}.maxSurge"),
    ("a percentage with a fraction", {f"{BUDGETS}.maxSurge": "2.5%"}, f"{BUDGETS}.maxSurge"),
    ("a budget that is no number", {f"{BUDGETS}.maxSurge": True}, f"{BUDGETS}.maxSurge"),
    ("both budgets zero", {f"{BUDGETS}.maxUnavailable": 0}, f"{BUDGETS}.maxUnavailable"),
    (
        "percentages that come out as zero",
        {f"{BUDGETS}.maxUnavailable": "40%", f"{BUDGETS}.maxSurge": "0%", "spec.replicas": 2},
        f"{BUDGETS}.maxUnavailable",
    ),
    (
        "subgroups without a size",
        {SUBGROUP: {"subGroupPolicyType": "LeaderWorker"}},
        f"{SUBGROUP}.subGroupSize",
    ),
    ("empty subgroups", {SUBGROUP: {"subGroupSize": 0}}, f"{SUBGROUP}.subGroupSize"),
    (
        "a subgroup larger than the group",
        {SUBGROUP: {"subGroupSize": 5}},
        f"{SUBGROUP}.subGroupSize",
    ),
    (
        "subgroups that do not fit",
        {SUBGROUP: {"subGroupSize": 3}, f"{TEMPLATE}.size": 5},
        f"{SUBGROUP}.subGroupSize",
    ),
    (
        "subgroups that do not fit without the leader",
        {SUBGROUP: {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}},
        f"{SUBGROUP}.subGroupSize",
    ),
    (
        "an unknown kind of subgroups",
        {SUBGROUP: {"subGroupSize": 2, "subGroupPolicyType": "Other"}},
        f"{SUBGROUP}.subGroupPolicyType",
    ),
    (
        "a restart budget with no restarts",
        {f"{TEMPLATE}.restartPolicy": "None", f"{TEMPLATE}.maxGroupRestarts": 1},
        f"{TEMPLATE}.maxGroupRestarts",
    ),
    (
        "a negative restart budget",
        {f"{TEMPLATE}.maxGroupRestarts": -1},
        f"{TEMPLATE}.maxGroupRestarts",
    ),
    ("a negative history", {"spec.revisionHistoryLimit": -1}, "spec.revisionHistoryLimit"),
    ("a negative deadline", {"spec.progressDeadlineSeconds": -1}, "spec.progressDeadlineSeconds"),
    ("a pause that is no boolean", {"spec.paused": "yes"}, "spec.paused"),
]

WRONG_TYPES = [
    ("spec", 5),
    ("spec", []),
    ("metadata", "x"),
    ("metadata.name", 5),
    ("metadata.annotations", []),
    ("spec.replicas", "3"),
    ("spec.replicas", 1.5),
    ("spec.replicas", True),
    (TEMPLATE, "x"),
    (f"{TEMPLATE}.size", {}),
    (f"{TEMPLATE}.workerTemplate", "x"),
    (f"{TEMPLATE}.leaderTemplate", []),
    (f"{TEMPLATE}.restartPolicy", 5),
    (f"{TEMPLATE}.subGroupPolicy", 2),
    (f"{TEMPLATE}.subGroupPolicy.subGroupSize", "2"),
    (f"{TEMPLATE}.subGroupPolicy.subGroupPolicyType", 2),
    (f"{TEMPLATE}.volumeClaimTemplates", {"a": 1}),
    (f"{TEMPLATE}.volumeClaimTemplates", ["x"]),
    (f"{TEMPLATE}.persistentVolumeClaimRetentionPolicy", "Delete"),
    (f"{TEMPLATE}.maxGroupRestarts", "1"),
    ("spec.rolloutStrategy", "RollingUpdate"),
    ("spec.rolloutStrategy.type", 1),
    (BUDGETS, []),
    (f"{BUDGETS}.partition", "1"),
    (f"{BUDGETS}.maxUnavailable", {}),
    ("spec.networkConfig", "Shared"),
    ("spec.networkConfig.subdomainPolicy", 1),
    ("spec.startupPolicy", []),
    ("spec.revisionHistoryLimit", "10"),
    ("spec.progressDeadlineSeconds", 1.5),
    ("spec.paused", 1),
]


@pytest.mark.parametrize("name", golden.WORLDS)
def test_what_the_public_webhook_let_in_is_valid(name: str) -> None:
    for stored in golden.world(name)["leaderworkersets"]:
        assert validate_leaderworkerset(stored) == Verdict()
        assert validate_leaderworkerset(stored, stored) == Verdict()


def test_a_plain_set_is_valid() -> None:
    assert validate_leaderworkerset(lws()) == Verdict()


def test_a_set_without_a_single_default_is_valid() -> None:
    bare = {"metadata": {"name": "a"}, "spec": {"leaderWorkerTemplate": {"workerTemplate": {}}}}
    assert validate_leaderworkerset(bare) == Verdict()


@pytest.mark.parametrize(
    ("changes", "path"),
    [case[1:] for case in WRONG],
    ids=[case[0] for case in WRONG],
)
def test_a_new_set_is_refused_for(changes: dict[str, Any], path: str) -> None:
    verdict = validate_leaderworkerset(lws(changes))
    assert paths(verdict) == [path]
    assert not verdict.is_allowed


@pytest.mark.parametrize(
    ("changes", "path"),
    [case[1:] for case in WRONG],
    ids=[case[0] for case in WRONG],
)
def test_an_update_is_refused_if_it_brings_in(changes: dict[str, Any], path: str) -> None:
    verdict = validate_leaderworkerset(lws(changes), lws())
    assert path in paths(verdict)


@pytest.mark.parametrize(
    ("changes", "path"),
    [case[1:] for case in WRONG],
    ids=[case[0] for case in WRONG],
)
def test_an_update_that_leaves_it_as_it_was_is_only_warned_of(
    changes: dict[str, Any], path: str
) -> None:
    old = lws(changes)
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"team": "a"}
    verdict = validate_leaderworkerset(new, old)
    assert verdict.is_allowed
    assert verdict.warnings[0].startswith(f"{path}: ")


@pytest.mark.parametrize(("path", "value"), WRONG_TYPES)
def test_a_wrong_type_is_an_error_at_its_path(path: str, value: object) -> None:
    obj = lws()
    put(obj, path, value)
    verdict = validate_leaderworkerset(obj)
    (error,) = [error for error in verdict.errors if error.path.startswith(path)]
    assert error.kind is Cause.WRONG_TYPE
    assert validate_leaderworkerset(obj, obj).is_allowed
    # A name cannot change any more, so an update is not refused for it.
    assert validate_leaderworkerset(obj, lws()).is_allowed is (path == "metadata.name")


def test_placement_by_subgroup_needs_subgroups() -> None:
    obj = lws()
    obj["metadata"]["annotations"] = {TOPOLOGY: "rack"}
    assert paths(validate_leaderworkerset(obj)) == [f"metadata.annotations[{TOPOLOGY}]"]
    put(obj, f"{SUBGROUP}.subGroupSize", 2)
    assert validate_leaderworkerset(obj) == Verdict()


def test_all_errors_come_back_together() -> None:
    changes = {
        "metadata.name": "9Serve",
        "spec.replicas": -1,
        f"{TEMPLATE}.size": 0,
        f"{BUDGETS}.maxUnavailable": "x",
        f"{BUDGETS}.partition": -2,
    }
    assert paths(validate_leaderworkerset(lws(changes))) == [
        "metadata.name",
        "spec.replicas",
        f"{TEMPLATE}.size",
        f"{BUDGETS}.partition",
        f"{BUDGETS}.maxUnavailable",
    ]


def test_a_message_says_what_was_found_and_what_to_do() -> None:
    (error,) = validate_leaderworkerset(lws({"spec.replicas": -1})).errors
    assert str(error) == "spec.replicas: Invalid value: -1: must be at least 0"


def test_a_long_value_is_quoted_only_to_be_recognised() -> None:
    (error,) = validate_leaderworkerset(lws({"spec.startupPolicy": "x" * 500})).errors
    assert len(str(error)) < 256
    assert '…": ' in str(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec.replicas": 0, f"{BUDGETS}.maxUnavailable": 0},
        {"spec.replicas": 1_000_000, f"{TEMPLATE}.size": 2147},
        {f"{BUDGETS}.maxUnavailable": "100%", f"{BUDGETS}.maxSurge": "0100%"},
        {f"{BUDGETS}.maxUnavailable": "0%", f"{BUDGETS}.maxSurge": "1%"},
        {SUBGROUP: {"subGroupSize": 4}},
        {SUBGROUP: {"subGroupSize": 3}},
        {SUBGROUP: {"subGroupSize": 3, "subGroupPolicyType": "LeaderExcluded"}},
        {f"{TEMPLATE}.restartPolicy": "RecreateGroupAfterStart", f"{TEMPLATE}.maxGroupRestarts": 0},
        {f"{TEMPLATE}.restartPolicy": "Default"},
        {"spec.rolloutStrategy.type": ""},
        {"spec.networkConfig.subdomainPolicy": None},
        {"spec.paused": True, "spec.revisionHistoryLimit": 0, "spec.progressDeadlineSeconds": 0},
    ],
)
def test_a_limit_itself_is_allowed(changes: dict[str, Any]) -> None:
    assert validate_leaderworkerset(lws(changes)) == Verdict()


# Names.


@pytest.mark.parametrize("name", ["Serve", "1serve", "serve-", "ser.ve", "ser_ve"])
def test_a_name_that_no_service_can_have_is_refused(name: str) -> None:
    assert paths(validate_leaderworkerset(lws(name=name))) == ["metadata.name"]


@pytest.mark.parametrize(
    ("replicas", "size", "surge", "longest"),
    [
        (1, 4, 0, 63 - len("-0") - 11),
        (10, 4, 0, 63 - len("-9") - 11),
        (10, 4, 1, 63 - len("-10") - 11),
        (10, 4, "1%", 63 - len("-10") - 11),
        (6, 4, 20, 63 - len("-11") - 11),
        (0, 4, 0, 63 - len("-0") - 11),
        (1, 2_000_000_000, 0, 63 - len("-0") - 11),
    ],
    ids=[
        "one group",
        "ten groups",
        "surge included",
        "surge rounded up",
        "surge cut to the replicas",
        "no groups",
        "ten digits of a worker are shorter than a hash",
    ],
)
def test_a_name_leaves_room_for_those_made_from_it(
    replicas: int, size: int, surge: object, longest: int
) -> None:
    changes = {"spec.replicas": replicas, f"{TEMPLATE}.size": size, f"{BUDGETS}.maxSurge": surge}
    assert validate_leaderworkerset(lws(changes, name="a" * longest)) == Verdict()
    too_long = validate_leaderworkerset(lws(changes, name="a" * (longest + 1)))
    assert paths(too_long) == ["metadata.name"]
    assert "shorten it by 1" in too_long.errors[0].message


def test_a_name_that_no_longer_fits_is_only_warned_of_on_update() -> None:
    old, new = lws(name="a" * 50), lws({"spec.replicas": 1000}, name="a" * 50)
    verdict = validate_leaderworkerset(new, old)
    assert verdict.is_allowed
    assert verdict.warnings[0].startswith("metadata.name: ")


def test_a_generated_name_is_judged_by_its_length() -> None:
    obj = lws()
    obj["metadata"] = {"generateName": "a" * 45}
    assert validate_leaderworkerset(obj) == Verdict()
    obj["metadata"] = {"generateName": "a" * 46}
    assert paths(validate_leaderworkerset(obj)) == ["metadata.name"]


def test_a_set_needs_a_name() -> None:
    (error,) = validate_leaderworkerset(lws(name="")).errors
    assert (error.path, error.kind) == ("metadata.name", Cause.REQUIRED)


# What an update must keep.


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (claims("1Gi"), claims("2Gi")),
        (claims(), None),
        (None, claims()),
        (claims(), claims() * 2),
        (claims(), claims(storageClassName="fast")),
        (claims("many"), claims("more")),
    ],
    ids=["larger", "removed", "added", "one more", "another class", "no amounts"],
)
def test_claims_are_immutable(old: object, new: object) -> None:
    path = f"{TEMPLATE}.volumeClaimTemplates"
    verdict = validate_leaderworkerset(lws({path: new}), lws({path: old}))
    assert [(error.path, error.kind) for error in verdict.errors] == [(path, Cause.FORBIDDEN)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, []),
        (claims("1Gi"), claims("1024Mi")),
        (claims(), claims(storageClassName=None)),
        (claims(), claims(selector={}, accessModes=[])),
        (claims("many"), claims("many")),
        (claims(None), claims({})),
    ],
    ids=[
        "none and an empty list",
        "the same amount",
        "null and absent",
        "empty and absent",
        "no amounts",
        "no amount",
    ],
)
def test_claims_are_compared_by_meaning(old: object, new: object) -> None:
    path = f"{TEMPLATE}.volumeClaimTemplates"
    assert validate_leaderworkerset(lws({path: new}), lws({path: old})) == Verdict()


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (None, {"subGroupSize": 2}, SUBGROUP),
        ({"subGroupSize": 2}, None, SUBGROUP),
        ({"subGroupSize": 2}, {"subGroupSize": 4}, f"{SUBGROUP}.subGroupSize"),
    ],
    ids=["added", "removed", "resized"],
)
def test_subgroups_are_immutable(old: object, new: object, path: str) -> None:
    verdict = validate_leaderworkerset(lws({SUBGROUP: new}), lws({SUBGROUP: old}))
    assert paths(verdict) == [path]


@pytest.mark.parametrize(
    ("changes", "old"),
    [
        ({f"{TEMPLATE}.size": 8}, {}),
        ({"spec.replicas": 3}, {}),
        ({"spec.networkConfig": None}, {}),
        ({SUBGROUP: None}, {}),
        (
            {SUBGROUP: {"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"}},
            {"subGroupSize": 2},
        ),
    ],
    ids=["size", "replicas", "network", "null subgroups", "the default written out"],
)
def test_all_else_may_change(changes: dict[str, Any], old: dict[str, Any]) -> None:
    before = lws({SUBGROUP: old} if old else {})
    assert validate_leaderworkerset(lws(changes), before) == Verdict()


# Ratcheting and deletion.


def zero_by_scale() -> dict[str, Any]:
    return lws({f"{BUDGETS}.maxUnavailable": "25%", "spec.replicas": 2})


def test_budgets_that_a_scale_brought_to_zero_refuse_no_unrelated_change() -> None:
    new = zero_by_scale()
    put(new, f"{TEMPLATE}.size", 2)
    verdict = validate_leaderworkerset(new, zero_by_scale())
    assert verdict.is_allowed
    assert verdict.warnings[0].startswith(f"{BUDGETS}.maxUnavailable: ")


def test_a_change_of_replicas_that_brings_both_budgets_to_zero_is_refused() -> None:
    old = lws({f"{BUDGETS}.maxUnavailable": "25%", "spec.replicas": 8})
    assert paths(validate_leaderworkerset(zero_by_scale(), old)) == [f"{BUDGETS}.maxUnavailable"]


def test_a_role_is_taken_through_every_number_whatever_its_percentages_come_to() -> None:
    owner = {"kind": "DisaggregatedSet", "apiVersion": "disaggregatedset.x-k8s.io/v1"}
    old = lws({f"{BUDGETS}.maxUnavailable": "50%", "spec.replicas": 2})
    new = lws({f"{BUDGETS}.maxUnavailable": "50%", "spec.replicas": 1})
    assert not validate_leaderworkerset(new, old).is_allowed
    for one in (old, new):
        one["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    assert validate_leaderworkerset(new, old) == Verdict()
    assert validate_leaderworkerset(new) == Verdict()


def test_a_change_of_the_budget_that_leaves_it_zero_is_refused() -> None:
    new = zero_by_scale()
    put(new, f"{BUDGETS}.maxUnavailable", "20%")
    assert paths(validate_leaderworkerset(new, zero_by_scale())) == [f"{BUDGETS}.maxUnavailable"]


def test_one_wrong_value_for_another_is_refused() -> None:
    old, new = lws({"spec.replicas": -1}), lws({"spec.replicas": -2})
    assert paths(validate_leaderworkerset(new, old)) == ["spec.replicas"]


def test_too_many_pods_by_another_number_are_refused() -> None:
    old = lws({"spec.replicas": 1_000_000, f"{TEMPLATE}.size": 3000})
    new = lws({"spec.replicas": 1_000_000, f"{TEMPLATE}.size": 4000})
    assert paths(validate_leaderworkerset(new, old)) == ["spec.replicas"]


def test_a_wrong_field_can_be_repaired_while_another_stays_wrong() -> None:
    old = lws({"spec.replicas": -1, "spec.startupPolicy": "x"})
    verdict = validate_leaderworkerset(lws({"spec.replicas": -1}), old)
    assert verdict.is_allowed
    assert len(verdict.warnings) == 1


def test_a_finalizer_comes_off_whatever_the_object_is() -> None:
    old = lws({"spec.replicas": -1, "metadata.name": "X", "metadata.finalizers": ["a"]})
    old["metadata"].update(DELETED)
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = []
    assert validate_leaderworkerset(new, old) == Verdict()


def test_a_spec_that_changes_while_the_object_is_being_deleted_is_judged() -> None:
    old = lws()
    old["metadata"].update(DELETED)
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = -1
    assert paths(validate_leaderworkerset(new, old)) == ["spec.replicas"]


def test_an_object_of_another_shape_is_an_error_not_a_crash() -> None:
    nothing: Any = "text"
    assert not validate_leaderworkerset(nothing).is_allowed
    assert not validate_leaderworkerset(lws({"spec.replicas": -1}), nothing).is_allowed
