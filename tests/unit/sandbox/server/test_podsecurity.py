"""Pod security: what the checks say of a pod, and which checks a version has."""

from typing import Any

import pytest

from lws.sandbox.server.admission.podsecurity.checks import violations
from lws.sandbox.server.admission.podsecurity.levels import Policy, label_faults, policy_of

Json = dict[str, Any]
SAFE: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def container(name: str = "a", **context: Any) -> Json:
    return {"name": name, "securityContext": {**SAFE, **context}}


def said(level: str, version: str = "latest", **spec: Any) -> list[str]:
    spec.setdefault("containers", [container()])
    found = violations(Policy(level, version), {}, spec)
    return [f"{one.reason} ({one.detail})" for one in found]


def test_a_pod_that_says_all_it_must_is_fine_everywhere() -> None:
    for level in ("privileged", "baseline", "restricted"):
        assert said(level) == []


def test_a_pod_that_says_nothing_is_not_restricted() -> None:
    bare = [{"name": "a"}]
    assert said("baseline", containers=bare) == []
    assert said("restricted", containers=bare) == [
        (
            'allowPrivilegeEscalation != false (container "a" must set'
            " securityContext.allowPrivilegeEscalation=false)"
        ),
        (
            'unrestricted capabilities (container "a" must set'
            ' securityContext.capabilities.drop=["ALL"])'
        ),
        ('runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)'),
        (
            'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to'
            ' "RuntimeDefault" or "Localhost")'
        ),
    ]


@pytest.mark.parametrize("field", ["containers", "initContainers", "ephemeralContainers"])
def test_every_kind_of_container_is_looked_at(field: str) -> None:
    bad: Json = {field: [container("bad", privileged=True), container("worse", privileged=True)]}
    words = 'privileged (containers "bad", "worse" must not set securityContext.privileged=true)'
    assert said("baseline", **bad) == [words]


def test_nothing_is_forbidden_to_the_privileged() -> None:
    assert said("privileged", hostNetwork=True, containers=[container(privileged=True)]) == []


@pytest.mark.parametrize(
    ("version", "count"),
    [("v1.0", 1), ("v1.8", 2), ("v1.19", 3), ("v1.22", 4), ("v1.36", 4), ("latest", 4)],
)
def test_a_version_has_the_checks_of_its_time(version: str, count: int) -> None:
    assert len(said("restricted", version, containers=[{"name": "a"}])) == count


def test_restricted_says_it_once_where_it_is_stricter() -> None:
    path = [{"name": "v", "hostPath": {"path": "/"}}]
    assert said("baseline", volumes=path) == ['hostPath volumes (volume "v")']
    words = 'restricted volume types (volume "v" uses restricted volume type "hostPath")'
    assert said("restricted", volumes=path) == [words]


def test_labels_choose_level_and_version_of_each_mode() -> None:
    prefix = "pod-security.kubernetes.io"
    labels = {f"{prefix}/enforce": "baseline", f"{prefix}/enforce-version": "v1.24"}
    assert str(policy_of(labels, "enforce")) == "baseline:v1.24"
    assert str(policy_of(labels, "warn")) == "privileged:latest"
    wrong = {f"{prefix}/warn": "strict", f"{prefix}/warn-version": "1.24"}
    assert [one.message for one in label_faults(wrong)] == [
        'Invalid value: "strict": must be one of privileged, baseline, restricted',
        'Invalid value: "1.24": must be "latest" or "v1.x"',
    ]
    assert label_faults(labels) == []
