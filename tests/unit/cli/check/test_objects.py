"""What is to be said of one live object."""

import copy
from typing import Any

from lws.cli.check.findings import Severity
from lws.cli.check.objects import (
    gang_of,
    judge_application,
    judge_managers,
    judge_pod,
    judge_set,
    managers_of,
)
from tests.golden.worlds import items


def test_what_the_public_controller_left_is_not_worth_a_word() -> None:
    for world in ("lws-plain", "lws-exclusive", "lws-subgroups"):
        (lws,) = items(world, "leaderworkersets")
        assert list(judge_set(lws, kind="LeaderWorkerSet")) == []
        for pod in items(world, "pods"):
            assert list(judge_pod(pod, marker=None)) == []
    (ds,) = items("ds-at-rest", "disaggregatedsets")
    assert list(judge_set(ds, kind="DisaggregatedSet")) == []


def test_a_name_that_is_too_long_is_told_though_the_set_is_kept() -> None:
    (lws,) = copy.deepcopy(items("lws-plain", "leaderworkersets"))
    lws["metadata"]["name"] = "a" * 60
    (finding,) = judge_set(lws, kind="LeaderWorkerSet")
    assert finding.severity is Severity.WARNING
    assert "could not be made anew" in finding.message
    assert finding.fields[0].startswith("metadata.name")


def test_what_the_webhook_would_write_out_is_to_be_known() -> None:
    (lws,) = copy.deepcopy(items("lws-plain", "leaderworkersets"))
    del lws["spec"]["networkConfig"]
    (finding,) = judge_set(lws, kind="LeaderWorkerSet")
    assert finding.severity is Severity.INFO
    assert finding.fields == ('spec.networkConfig: (none) → {"subdomainPolicy":"Shared"}',)


def test_a_pod_that_would_be_made_otherwise_is_told_and_one_that_would_be_refused() -> None:
    leader = copy.deepcopy(items("lws-plain", "pods")[0])
    leader["spec"]["containers"][0]["env"][0]["value"] = "elsewhere"
    (finding,) = judge_pod(leader, marker=None)
    assert finding.severity is Severity.INFO
    assert "LWS_LEADER_ADDRESS" in finding.fields[0]
    del leader["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/size"]
    (finding,) = judge_pod(leader, marker=None)
    assert finding.severity is Severity.ERROR


def test_writers_are_named_and_strange_ones_are_told() -> None:
    leader = copy.deepcopy(items("lws-plain", "statefulsets")[0])
    assert managers_of(leader) == ["lws (Apply)", "kube-controller-manager (Update of status)"]
    assert list(judge_managers(leader, kind="StatefulSet")) == []
    entry: dict[str, Any] = {"manager": "kubectl-edit", "operation": "Update"}
    labels = {**entry, "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}}
    leader["metadata"]["managedFields"].append(labels)
    assert list(judge_managers(leader, kind="StatefulSet")) == []
    leader["metadata"]["managedFields"].append({**entry, "fieldsV1": {"f:spec": {}}})
    (finding,) = judge_managers(leader, kind="StatefulSet")
    assert finding.message == "kubectl-edit (Update) has written to it"


def test_a_leader_statefulset_that_nobody_applied_is_told() -> None:
    leader = copy.deepcopy(items("lws-plain", "statefulsets")[0])
    assert list(judge_application(leader)) == []
    leader["metadata"]["managedFields"][0]["operation"] = "Update"
    (finding,) = judge_application(leader)
    assert "no server-side apply by lws" in finding.message


def test_pods_that_a_gang_scheduler_places_are_known_by_their_mark() -> None:
    pod = copy.deepcopy(items("lws-plain", "pods")[0])
    assert gang_of(pod) is None
    pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "a"
    assert gang_of(pod) == "volcano"
