"""Definitions of the cluster against ours."""

import copy
from typing import Any

import pytest

from lws.api.crds import custom_resource_definitions
from lws.cli.check.definitions import (
    ADDITIONS,
    judge_definition,
    unknown_fields,
    used_fields,
    written,
)
from lws.cli.check.findings import Severity

Definition = dict[str, Any]


def ours() -> Definition:
    return custom_resource_definitions()[0]


def properties(definition: Definition, *path: str) -> dict[str, Any]:
    at = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for name in path:
        at = at["properties"][name]
    found: dict[str, Any] = at["properties"]
    return found


def public() -> Definition:
    """As the public controller has it: ours without our own fields."""
    live = ours()
    for path, name in (
        (("spec",), "paused"),
        (("spec",), "revisionHistoryLimit"),
        (("spec",), "progressDeadlineSeconds"),
        (("spec", "leaderWorkerTemplate"), "maxGroupRestarts"),
        (("status",), "groupRestarts"),
    ):
        del properties(live, *path)[name]
    return live


def test_our_own_definition_is_not_worth_a_word() -> None:
    for definition in custom_resource_definitions():
        assert judge_definition(definition, copy.deepcopy(definition)) == []


def test_the_public_controllers_lacks_our_additions_and_no_more() -> None:
    (finding,) = judge_definition(ours(), public())
    assert finding.severity is Severity.INFO
    assert {field.rpartition(".")[2] for field in finding.fields} == ADDITIONS
    assert "kubectl apply --server-side" in finding.hint


def test_an_older_one_is_told_with_the_fields_that_it_lacks() -> None:
    live = public()
    del properties(live, "spec")["networkConfig"]
    (finding,) = judge_definition(ours(), live)
    assert finding.severity is Severity.INFO, "nothing is written or lost by that"
    assert finding.fields == ("spec.networkConfig",)


def test_one_that_is_not_installed_is_told() -> None:
    (finding,) = judge_definition(ours(), None)
    assert "is not installed" in finding.message


def test_another_default_is_told_with_both_values() -> None:
    live = ours()
    properties(live, "spec")["startupPolicy"]["default"] = "LeaderReady"
    (finding,) = judge_definition(ours(), live)
    assert finding.fields == ("spec.startupPolicy: 'LeaderReady', ours 'LeaderCreated'",)


def test_a_foreign_conversion_is_in_the_way() -> None:
    live = ours()
    service = {"namespace": "lws-system", "name": "convert"}
    live["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": service}},
    }
    (finding,) = judge_definition(ours(), live)
    assert finding.severity is Severity.ERROR
    assert "lws-system/convert" in finding.message


@pytest.mark.parametrize(
    ("served", "stored", "severity", "word"),
    [
        (["v1", "v1alpha1"], ["v1"], Severity.WARNING, "also serves v1alpha1"),
        (["v1", "v1alpha1"], ["v1alpha1", "v1"], Severity.ERROR, "stored as v1alpha1"),
        (["v1alpha1"], [], Severity.ERROR, "does not serve v1,"),
    ],
)
def test_versions_that_ours_has_not_are_told(
    served: list[str], stored: list[str], severity: Severity, word: str
) -> None:
    live = ours()
    (version,) = live["spec"]["versions"]
    live["spec"]["versions"] = [{**version, "name": name} for name in served]
    live["status"] = {"storedVersions": stored}
    findings = judge_definition(ours(), live)
    assert (severity, True) in [(one.severity, word in one.message) for one in findings]


def test_fields_that_ours_would_drop_are_found_where_an_object_uses_them() -> None:
    live = ours()
    properties(live, "spec")["brandNew"] = {"type": "string"}
    ports = properties(live, "spec", "leaderWorkerTemplate", "workerTemplate", "spec")
    ports["containers"]["items"]["properties"]["novel"] = {"type": "boolean"}
    unknown = unknown_fields(ours(), live)
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[].novel"
    assert sorted(map(written, unknown.paths)) == ["spec.brandNew", path]
    template = {"workerTemplate": {"spec": {"containers": [{"name": "a"}, {"novel": True}]}}}
    assert used_fields({"spec": {"leaderWorkerTemplate": template}}, unknown) == [path]
    assert used_fields({"spec": {"replicas": 1}}, unknown) == []
