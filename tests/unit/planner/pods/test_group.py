"""What a pass over one group does: pods.md section 2, "Leader pods, not being deleted"."""

from dataclasses import replace
from typing import Any

import pytest

from lws.api.kinds import Kind
from lws.planner.actions import Create, Emit, EventType, MergePatch, WakeAfter
from lws.planner.pods.group import plan_group
from lws.planner.pods.membership import after_statefulset
from lws.planner.pods.snapshot import LeaderNode
from tests.unit.planner.pods.worlds import (
    KEY,
    a_group,
    a_pod,
    a_revision,
    a_service,
    a_set,
    a_statefulset,
    at,
)

PREFIX = "leaderworkerset.sigs.k8s.io/"
UNIQUE = {PREFIX + "subdomainPolicy": "UniquePerReplica"}
EXCLUSIVE = {PREFIX + "exclusive-topology": "rack"}


def planned(**changes: Any) -> tuple[Any, ...]:
    return plan_group(a_group(**changes), differing=lambda *_: ())


def planned_anew(**changes: Any) -> tuple[Any, ...]:
    """Nothing of the group is there but its leader."""
    return planned(**({"statefulset": None, "workers": ()} | changes))


def created(**changes: Any) -> Any:
    """Body of the one object that is created."""
    [create] = planned_anew(**changes)
    assert isinstance(create, Create)
    return create.body


def pod_annotations(**changes: Any) -> dict[str, str]:
    annotations: dict[str, str] = created(**changes)["spec"]["template"]["metadata"]["annotations"]
    return annotations


def assert_warning(actions: tuple[Any, ...], *words: str) -> None:
    [event] = [action for action in actions if isinstance(action, Emit)]
    assert event.type is EventType.WARNING
    assert event.regarding.kind is Kind.LEADER_WORKER_SET
    for word in words:
        assert word in event.note


def test_a_group_as_it_should_be_needs_nothing() -> None:
    assert planned() == ()


def test_the_worker_statefulset_is_made_and_told_of() -> None:
    [create] = planned_anew()
    assert (create.kind, create.namespace, create.name) == (Kind.STATEFUL_SET, "default", "lws-0")
    assert (create.event.type, create.event.reason) == (EventType.NORMAL, "GroupsProgressing")
    assert create.event.note == "Created worker statefulset for leader pod lws-0"
    assert (create.failure.type, create.failure.reason) == (EventType.WARNING, "FailedCreate")


@pytest.mark.parametrize(
    ("policy", "made"), [("RecreateGroupOnPodRestart", 0), ("None", 1)], ids=["doomed", "kept"]
)
def test_workers_that_were_taken_away_are_made_again_only_if_their_leader_stays(
    policy: str, made: int
) -> None:
    whole = a_group(lws=a_set(policy=policy))
    lost = after_statefulset(whole.membership, old=whole.statefulset, new=None)
    group = replace(whole, statefulset=None, workers=(), membership=lost)
    assert len(plan_group(group)) == made


def test_the_worker_statefulset_carries_the_sets_labels_under_our_own() -> None:
    lws = a_set(metadata={"labels": {"team": "a", PREFIX + "name": "other"}})
    metadata = created(lws=lws)["metadata"]
    assert metadata["labels"]["team"] == "a"
    assert metadata["labels"][PREFIX + "name"] == "lws"
    assert metadata["labels"][PREFIX + "template-revision-hash"] == KEY
    [owner] = metadata["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (
        "lws-0-uid",
        True,
        True,
    )


def test_everything_that_makes_pods_is_the_leaders_own_revision() -> None:
    claims = [{"metadata": {"name": "data", "labels": {"a": "b"}}, "spec": {"dataSource": {}}}]
    revision = a_revision(
        {
            "size": 5,
            "workerTemplate": {"spec": {"nodeSelector": {"zone": "z"}}},
            "volumeClaimTemplates": claims,
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        },
        subdomain="UniquePerReplica",
    )
    spec = created(revision=revision)["spec"]
    assert spec["replicas"] == 4
    assert spec["serviceName"] == "lws-0"
    assert spec["volumeClaimTemplates"] == claims
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete"}
    assert spec["template"]["spec"] == {"nodeSelector": {"zone": "z"}}
    assert spec["template"]["metadata"]["annotations"][PREFIX + "size"] == "5"


def test_subgroups_stand_on_the_pods() -> None:
    policy = {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}
    topology = PREFIX + "subgroup-exclusive-topology"
    leader = a_pod("lws-0", annotations={topology: "rack"})
    recorded = a_revision({"subGroupPolicy": policy})
    annotations = pod_annotations(revision=recorded, leader=leader)
    assert annotations[PREFIX + "subgroup-policy-type"] == "LeaderExcluded"
    assert annotations[PREFIX + "subgroup-size"] == "2"
    assert annotations[topology] == "rack"


def test_a_group_keeps_the_subgroup_topology_that_its_leader_was_made_with() -> None:
    topology = PREFIX + "subgroup-exclusive-topology"
    recorded = a_revision({"subGroupPolicy": {"subGroupPolicyType": "LeaderWorker"}})
    live = a_set(metadata={"annotations": {topology: "zone"}})
    annotations = pod_annotations(revision=recorded, lws=live)
    assert topology not in annotations
    assert PREFIX + "subgroup-size" not in annotations
    leader = a_pod("lws-0", annotations={topology: "rack"})
    assert topology not in pod_annotations(leader=leader)  # no subgroups


@pytest.mark.parametrize(
    ("resources", "asks"),
    [
        ({"limits": {"google.com/tpu": "4"}}, True),
        ({"requests": {"google.com/tpu": 4}}, True),
        ({"limits": {"google.com/tpu": "0"}}, False),
        ({"limits": {"google.com/tpu": "many"}}, False),
        ({"limits": {"cpu": "4"}}, False),
        ({}, False),
    ],
)
def test_workers_know_whether_their_leader_asks_for_tpus(
    resources: dict[str, Any], asks: bool
) -> None:
    key = PREFIX + "leader-requests-tpus"
    for containers in ("containers", "initContainers"):
        template = {"spec": {containers: [{"name": "a", "resources": resources}]}}
        leader = pod_annotations(revision=a_revision({"leaderTemplate": template}))
        assert leader.get(key) == ("true" if asks else None)
        both = pod_annotations(revision=a_revision({"workerTemplate": template}))
        assert both.get(key) == ("true" if asks else None)
    split = a_revision({"workerTemplate": template, "leaderTemplate": {"spec": {}}})
    assert key not in pod_annotations(revision=split)


def test_the_revision_is_not_changed_by_what_is_built_from_it() -> None:
    revision = a_revision({"workerTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {}}})
    before = str(revision)
    leader = a_pod(annotations=EXCLUSIVE)
    created(revision=revision, leader=leader, node=LeaderNode(known=True, topology="r1"))
    assert str(revision) == before


def test_a_missing_revision_is_named_and_nothing_is_made() -> None:
    actions = planned_anew(revision=None)
    assert_warning(actions, KEY, "lws-0")
    assert len(actions) == 1
    assert planned(revision=None) == ()


def test_nothing_is_done_while_leader_or_set_are_going_or_the_leader_is_gone() -> None:
    assert planned_anew(leader=None) == ()
    assert planned_anew(leader=a_pod(deleted=at(60))) == ()
    assert planned_anew(lws=a_set(metadata={"deletionTimestamp": at(60)})) == ()


def test_a_leader_with_the_annotation_of_a_worker_is_a_symptom_that_is_told() -> None:
    leader = a_pod(annotations={PREFIX + "leader-name": "lws-0"} | UNIQUE)
    actions = planned_anew(leader=leader)
    assert_warning(actions, "lws-0", "start ordinal", "1.27")
    assert len(actions) == 1


def test_a_group_of_one_has_no_workers() -> None:
    leader = a_pod(annotations={PREFIX + "size": "1"})
    assert planned_anew(leader=leader, revision=a_revision({"size": 1})) == ()


def test_leader_ready_waits_for_the_leader() -> None:
    lws = a_set(spec={"startupPolicy": "LeaderReady"})
    assert planned_anew(lws=lws, leader=a_pod(ready=False)) == ()
    assert planned_anew(lws=lws, leader=a_pod(phase="Pending")) == ()
    assert len(planned_anew(lws=lws)) == 1
    assert len(planned_anew(leader=a_pod(phase="Pending", ready=False))) == 1


# Exclusive placement.


def test_exclusive_workers_wait_until_the_leader_is_scheduled() -> None:
    assert planned_anew(leader=a_pod(annotations=EXCLUSIVE, node="")) == ()


def test_exclusive_workers_go_where_the_leader_went() -> None:
    leader, node = a_pod(annotations=EXCLUSIVE), LeaderNode(known=True, topology="r1")
    body = created(leader=leader, node=node)
    assert body["spec"]["template"]["spec"] == {"nodeSelector": {"rack": "r1"}}
    assert body["spec"]["template"]["metadata"]["annotations"][PREFIX + "exclusive-topology"] == (
        "rack"
    )


def test_a_node_without_the_label_is_told_of_and_asked_again() -> None:
    leader, node = a_pod(annotations=EXCLUSIVE), LeaderNode(known=True, topology=None)
    actions = planned_anew(leader=leader, node=node)
    assert_warning(actions, "node-1", "rack", "lws-0")
    assert actions[1:] == (WakeAfter(30.0),)


@pytest.mark.parametrize("node", [None, LeaderNode(known=False, topology=None)])
def test_a_node_that_is_not_read_yet_is_waited_for(node: LeaderNode | None) -> None:
    assert planned_anew(leader=a_pod(annotations=EXCLUSIVE), node=node) == (WakeAfter(1.0),)


# A StatefulSet that stands already.


@pytest.mark.parametrize(
    "statefulset",
    [
        a_statefulset(owner="earlier-leader"),
        a_statefulset(owner="earlier-leader", deleted=at(60)),
        a_statefulset(deleted=at(60)),
        a_statefulset(owner=None, deleted=at(60)),
    ],
)
def test_a_statefulset_that_is_going_is_waited_for(statefulset: Any) -> None:
    assert planned(statefulset=statefulset) == ()


@pytest.mark.parametrize(
    "references",
    [
        [],
        [{"kind": "Deployment", "name": "lws-0", "uid": "x", "controller": True}],
        [{"kind": "Pod", "name": "other-0", "uid": "x", "controller": True}],
        [{"kind": "Pod", "name": "lws-0", "uid": "lws-0-uid"}],
    ],
)
def test_a_foreign_statefulset_is_told_of_and_not_touched(references: Any) -> None:
    foreign = a_statefulset(references=references, replicas=9)
    actions = planned(statefulset=foreign)
    assert_warning(actions, "StatefulSet lws-0")
    assert len(actions) == 1


def test_replicas_that_were_changed_by_hand_are_put_back() -> None:
    for replicas in (0, 5):
        [patch] = planned(statefulset=a_statefulset(replicas=replicas))
        assert isinstance(patch, MergePatch)
        assert patch.body == {"spec": {"replicas": 2}}
        assert patch.event is not None
        assert patch.event.reason == "WorkerReplicasChanged", "a series of its own"
        assert patch.uid == "lws-0-sts-uid"
        assert patch.event.type is EventType.NORMAL


def test_replicas_are_those_of_the_groups_own_revision() -> None:
    assert planned(lws=a_set(template={"size": 9})) == ()
    garbled = a_pod(annotations={PREFIX + "size": "many"})
    assert planned(leader=garbled, revision=None, statefulset=a_statefulset(replicas=7)) == ()
    [patch] = planned(revision=None, statefulset=a_statefulset(replicas=7))
    assert patch.body == {"spec": {"replicas": 2}}


def test_a_template_that_was_changed_by_hand_is_only_told_of() -> None:
    changed = a_statefulset(generation=2, template={"spec": {"hostNetwork": True}})
    seen = []

    def differing(ours: Any, live: Any) -> list[str]:
        seen.append((ours["spec"].keys(), live))
        return ["spec.template.spec.b", "spec.template.spec.a"]

    actions = plan_group(a_group(statefulset=changed), differing=differing)
    assert_warning(actions, "lws-0", "spec.template.spec.a, spec.template.spec.b")
    assert len(actions) == 1
    assert seen == [({"template"}, {"spec": {"template": {"spec": {"hostNetwork": True}}}})]


def test_no_template_is_compared_that_nobody_can_have_changed() -> None:
    def differing(*_: Any) -> list[str]:
        raise AssertionError("asked")

    assert plan_group(a_group(), differing=differing) == ()
    changed = a_group(statefulset=a_statefulset(generation=2), revision=None)
    assert plan_group(changed, differing=differing) == ()


# The group's own Service.


def test_a_group_with_a_subdomain_of_its_own_gets_its_service() -> None:
    [create] = planned(leader=a_pod(annotations=UNIQUE))
    assert create.kind is Kind.SERVICE
    assert create.body["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {PREFIX + "name": "lws", PREFIX + "group-index": "0"},
    }
    both = planned_anew(leader=a_pod(annotations=UNIQUE))
    assert [action.kind for action in both] == [Kind.SERVICE, Kind.STATEFUL_SET]


def test_a_service_of_this_or_an_earlier_leader_is_let_be() -> None:
    leader = a_pod(annotations=UNIQUE)
    for owner in ("lws-0-uid", "earlier-leader"):
        assert planned(leader=leader, service=a_service(owner=owner)) == ()


def test_a_foreign_service_is_told_of_and_the_workers_come_all_the_same() -> None:
    leader = a_pod(annotations=UNIQUE)
    for service in (a_service(owner=None), a_service(owner="x", kind="Deployment")):
        assert_warning(planned(leader=leader, service=service), "Service lws-0", "DNS")
        actions = planned_anew(leader=leader, service=service)
        assert isinstance(actions[-1], Create)


def test_a_shared_subdomain_needs_no_service_of_the_groups() -> None:
    assert planned(service=a_service(owner=None)) == ()
