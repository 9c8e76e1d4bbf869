"""Every rule of a DisaggregatedSet, with the path that it names."""

import copy
from typing import Any

import pytest

from lws.admission.validation import Cause, Verdict, validate_disaggregatedset
from tests.unit.admission import golden

TEMPLATE = "spec.roles[0].spec.leaderWorkerTemplate"
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
SUBGROUP_EXCLUSIVE = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
PLACED = {"type": "ExclusiveSlice", "topology": "rack"}
BUDGETS = "spec.rolloutStrategy.rollingUpdateConfiguration"


def role(name: str, **changes: object) -> dict[str, Any]:
    """A valid role, with values put at paths written with double underscores."""
    made: dict[str, Any] = {
        "name": name,
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {}}},
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = made
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value
    return made


def ds(*roles: object, name: str = "pd", **spec: object) -> dict[str, Any]:
    """A set of these roles; of two valid ones if there are none."""
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"roles": list(roles) or [role("prefill"), role("decode")], **spec},
    }


def beside(first: object) -> dict[str, Any]:
    return ds(first, role("decode"))


def paths(verdict: Verdict) -> list[str]:
    return [error.path for error in verdict.errors]


def budgets(**values: object) -> dict[str, Any]:
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": values}
    return beside(role("prefill", spec__rolloutStrategy=strategy))


def annotated(key: str, place: str) -> dict[str, Any]:
    first = role("prefill", **{f"{place}__annotations": {key: "rack"}})
    return ds(first, role("decode"), placementPolicy=PLACED)


WRONG = [
    ("no roles", {"metadata": {"name": "pd"}, "spec": {}}, "spec.roles"),
    ("one role", ds(role("decode")), "spec.roles"),
    ("eleven roles", ds(*[role(f"r{i}") for i in range(11)]), "spec.roles"),
    ("a role twice", ds(role("a"), role("a")), "spec.roles[1].name"),
    ("a role without a name", beside({"spec": role("a")["spec"]}), "spec.roles[0].name"),
    ("an upper-case role", beside(role("Prefill")), "spec.roles[0].name"),
    ("a role with a dash at its end", beside(role("prefill-")), "spec.roles[0].name"),
    ("a role with a dot", beside(role("pre.fill")), "spec.roles[0].name"),
    ("no slice", ds(slices=0), "spec.slices"),
    ("101 slices", ds(slices=101), "spec.slices"),
    (
        "an unknown way of scaling",
        beside(role("prefill", scaling={"mode": "Auto"})),
        "spec.roles[0].scaling.mode",
    ),
    (
        "an unknown placement",
        ds(placementPolicy={"type": "Exclusive"}),
        "spec.placementPolicy.type",
    ),
    (
        "placement without a topology",
        ds(placementPolicy={"type": "ExclusiveTopology"}),
        "spec.placementPolicy.topology",
    ),
    (
        "placement with an empty topology",
        ds(placementPolicy={"type": "ExclusiveSlice", "topology": ""}),
        "spec.placementPolicy.topology",
    ),
    (
        "a strategy that is not rolling",
        beside(role("prefill", spec__rolloutStrategy={"type": "OnDelete"})),
        "spec.roles[0].spec.rolloutStrategy.type",
    ),
    ("a partition", budgets(partition=1), f"spec.roles[0].{BUDGETS}.partition"),
    (
        "both budgets zero",
        budgets(maxSurge=0, maxUnavailable=0),
        f"spec.roles[0].{BUDGETS}.maxUnavailable",
    ),
    ("a budget above 100 %", budgets(maxSurge="101%"), f"spec.roles[0].{BUDGETS}.maxSurge"),
    ("half a topology at rest", beside(role("prefill", spec__replicas=0)), "spec.roles"),
    (
        "external scaling of several slices",
        ds(role("prefill", scaling={"mode": "External"}), role("decode"), slices=2),
        "spec.slices",
    ),
    (
        "a rule of the role's own LeaderWorkerSet",
        beside(role("prefill", spec__leaderWorkerTemplate__size=0)),
        "spec.roles[0].spec.leaderWorkerTemplate.size",
    ),
    (
        "exclusive placement of a role's groups",
        annotated(EXCLUSIVE, "metadata"),
        f"spec.roles[0].metadata.annotations[{EXCLUSIVE}]",
    ),
    (
        "exclusive placement of a role's subgroups",
        annotated(SUBGROUP_EXCLUSIVE, "metadata"),
        f"spec.roles[0].metadata.annotations[{SUBGROUP_EXCLUSIVE}]",
    ),
    (
        "exclusive placement in a worker template",
        annotated(EXCLUSIVE, "spec__leaderWorkerTemplate__workerTemplate__metadata"),
        f"{TEMPLATE}.workerTemplate.metadata.annotations[{EXCLUSIVE}]",
    ),
    (
        "exclusive placement in a leader template",
        annotated(SUBGROUP_EXCLUSIVE, "spec__leaderWorkerTemplate__leaderTemplate__metadata"),
        f"{TEMPLATE}.leaderTemplate.metadata.annotations[{SUBGROUP_EXCLUSIVE}]",
    ),
]
CASES = pytest.mark.parametrize(
    ("obj", "path"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)


@pytest.mark.parametrize("name", golden.WORLDS)
def test_what_the_public_webhook_let_in_is_valid(name: str) -> None:
    for stored in golden.world(name)["disaggregatedsets"]:
        assert validate_disaggregatedset(stored) == Verdict()
        assert validate_disaggregatedset(stored, stored) == Verdict()


@CASES
def test_a_new_set_is_refused_for(obj: dict[str, Any], path: str) -> None:
    assert paths(validate_disaggregatedset(obj)) == [path]


@CASES
def test_an_update_is_refused_if_it_brings_in(obj: dict[str, Any], path: str) -> None:
    assert path in paths(validate_disaggregatedset(obj, ds()))


@CASES
def test_an_update_that_leaves_it_as_it_was_is_only_warned_of(
    obj: dict[str, Any], path: str
) -> None:
    new = copy.deepcopy(obj)
    new["metadata"]["labels"] = {"team": "a"}
    verdict = validate_disaggregatedset(new, obj)
    assert verdict.is_allowed
    assert verdict.warnings[0].startswith(f"{path}: ")


@pytest.mark.parametrize(
    "obj",
    [
        ds(),
        ds(*[role(f"r{i}") for i in range(10)]),
        ds(slices=100),
        ds(placementPolicy={}),
        ds(placementPolicy={"type": "None"}),
        ds(placementPolicy={"type": ""}),
        ds(placementPolicy=PLACED, slices=3),
        budgets(partition=0),
        budgets(maxUnavailable="10%", maxSurge=1),
        beside(role("prefill", spec__rolloutStrategy={"type": ""})),
        ds(role("prefill", spec__replicas=0), role("decode", spec__replicas=0)),
        ds(role("prefill", spec__replicas=0), role("decode", spec__replicas=None)),
        beside(role("prefill", spec__replicas=0, scaling={"mode": "External"})),
        beside(role("9")),
        beside(role("prefill", metadata__annotations={EXCLUSIVE: "rack"})),
    ],
)
def test_a_limit_itself_is_allowed(obj: dict[str, Any]) -> None:
    assert validate_disaggregatedset(obj) == Verdict()


def test_budgets_of_a_role_at_rest_may_both_be_zero() -> None:
    both = {"rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": 0}}
    roles = [role(name, spec__replicas=0, spec__rolloutStrategy=both) for name in "ab"]
    assert validate_disaggregatedset(ds(*roles)) == Verdict()


def test_a_role_whose_annotations_its_leaderworkerset_could_not_have_is_refused() -> None:
    """Half of the roles would run, and wait for the other half for ever."""
    by_subgroup = {"metadata__annotations": {SUBGROUP_EXCLUSIVE: "rack"}}
    verdict = validate_disaggregatedset(beside(role("prefill", **by_subgroup)))
    assert paths(verdict) == [f"spec.roles[0].metadata.annotations[{SUBGROUP_EXCLUSIVE}]"]
    policy = {"spec__leaderWorkerTemplate__subGroupPolicy": {"subGroupSize": 1}}
    assert validate_disaggregatedset(beside(role("prefill", **by_subgroup, **policy))) == Verdict()


def external(**budgets: object) -> dict[str, Any]:
    strategy = {"rollingUpdateConfiguration": budgets}
    scaled = {"scaling": {"mode": "External"}, "spec__replicas": 1}
    return beside(role("prefill", spec__rolloutStrategy=strategy, **scaled))


def test_percentages_of_an_external_role_are_not_judged_by_replicas_that_its_scaler_sets() -> None:
    assert validate_disaggregatedset(external(maxUnavailable="25%", maxSurge=0)) == Verdict()


@pytest.mark.parametrize("nothing", [0, "0%"])
def test_budgets_of_an_external_role_that_are_nothing_of_any_number_are_refused(
    nothing: object,
) -> None:
    verdict = validate_disaggregatedset(external(maxUnavailable=nothing, maxSurge=0))
    assert paths(verdict) == [f"spec.roles[0].{BUDGETS}.maxUnavailable"]


def test_a_partition_is_refused_by_its_name() -> None:
    (error,) = validate_disaggregatedset(budgets(partition=1)).errors
    assert error.kind is Cause.FORBIDDEN
    assert "partition" in error.message


@pytest.mark.parametrize("name", ["Pd", "1pd", "pd-", "p.d"])
def test_a_name_that_no_service_can_have_is_refused(name: str) -> None:
    assert paths(validate_disaggregatedset(ds(name=name))) == ["metadata.name"]
    verdict = validate_disaggregatedset(ds(name=name), ds(name=name))
    assert verdict.is_allowed
    assert verdict.warnings[0].startswith("metadata.name: ")


def test_a_set_needs_a_name() -> None:
    assert "metadata.name" in paths(validate_disaggregatedset(ds(name="")))


@pytest.mark.parametrize(("slices", "digits"), [(1, 1), (10, 1), (11, 2), (100, 2)])
def test_a_service_name_has_room_for_the_longest_slice(slices: int, digits: int) -> None:
    longest = 63 - len("-----prv") - 8 - digits - len("decode") + 1
    fits = ds(role("a"), role("decode"), name="p" * longest, slices=slices)
    too_long = ds(role("a"), role("decode"), name="p" * (longest + 1), slices=slices)
    assert validate_disaggregatedset(fits).is_allowed
    assert paths(validate_disaggregatedset(too_long)) == ["spec.roles[1].name"]


def test_a_name_that_makes_refused_leaderworkersets_is_warned_of() -> None:
    verdict = validate_disaggregatedset(ds(role("a"), role("decode"), name="p" * 36))
    assert verdict.is_allowed
    assert [warning.split(":")[0] for warning in verdict.warnings] == ["spec.roles[1].name"]


def test_a_scaler_name_has_at_most_253_characters() -> None:
    external = role("a", scaling={"mode": "External"})
    (name_error,) = [
        error
        for error in validate_disaggregatedset(ds(external, role("b"), name="p" * 252)).errors
        if "scaler" in error.message
    ]
    assert name_error.path == "spec.roles[0].name"
    fits = validate_disaggregatedset(ds(external, role("b"), name="p" * 251)).errors
    assert not [error for error in fits if "scaler" in error.message]


def test_replicas_of_an_external_role_are_warned_of() -> None:
    obj = beside(role("prefill", scaling={"mode": "External"}))
    (warning,) = validate_disaggregatedset(obj).warnings
    assert warning.startswith("spec.roles[0].spec.replicas: ")
    assert "pd-prefill" in warning


@pytest.mark.parametrize("template", ["leaderTemplate", "workerTemplate"])
def test_a_label_app_of_a_template_is_warned_of(template: str) -> None:
    labels = {f"spec__leaderWorkerTemplate__{template}__metadata__labels": {"app": "mine"}}
    (warning,) = validate_disaggregatedset(beside(role("prefill", **labels))).warnings
    path = f"spec.roles[0].spec.leaderWorkerTemplate.{template}.metadata.labels[app]"
    assert warning.startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        ({"metadata": {"name": "a"}, "spec": 5}, "spec"),
        (ds(placementPolicy="None"), "spec.placementPolicy"),
        (ds(placementPolicy={"type": "ExclusiveSlice", "topology": 5}), "spec.placementPolicy"),
        (ds(slices="2"), "spec.slices"),
        ({"metadata": {"name": "a"}, "spec": {"roles": {}}}, "spec.roles"),
        (beside("prefill"), "spec.roles[0]"),
        (beside(role("prefill", scaling=True)), "spec.roles[0].scaling"),
        (beside(role("prefill", spec=[])), "spec.roles[0].spec"),
        (beside(role("prefill", metadata=3)), "spec.roles[0].metadata"),
        (beside(role("prefill", metadata__labels=3)), "spec.roles[0].metadata.labels"),
        (beside({**role("x"), "name": 5}), "spec.roles[0].name"),
    ],
)
def test_a_wrong_type_is_an_error_at_its_path(obj: dict[str, Any], path: str) -> None:
    errors = [e for e in validate_disaggregatedset(obj).errors if e.path.startswith(path)]
    assert [error.kind for error in errors] == [Cause.WRONG_TYPE]


def test_all_errors_come_back_together() -> None:
    obj = ds(role("A"), role("b", spec__replicas=-1), name="X", slices=0)
    expected = ["metadata.name", "spec.slices", "spec.roles[0].name", "spec.roles[1].spec.replicas"]
    assert paths(validate_disaggregatedset(obj))[:4] == expected


def test_claims_of_a_role_may_change_since_new_sets_are_made_for_them() -> None:
    new = beside(role("prefill", spec__leaderWorkerTemplate__volumeClaimTemplates=[{}]))
    assert validate_disaggregatedset(new, ds()) == Verdict()


def test_a_finalizer_comes_off_whatever_the_object_is() -> None:
    old = ds(role("A"), slices=0, name="X")
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = []
    assert validate_disaggregatedset(new, old) == Verdict()
