"""The facts of one group: leaderworkerset.md section 3, "Inputs"."""

from dataclasses import replace
from typing import Any

import pytest

from lws.base.ids import ResourceVersion
from lws.base.times import parse_time
from lws.planner.pods.facts import group_facts
from tests.unit.planner.pods.worlds import (
    EARLY,
    KEY,
    a_group,
    a_pod,
    a_service,
    a_set,
    a_statefulset,
    a_worker,
    at,
)

SIZE = "leaderworkerset.sigs.k8s.io/size"
UNIQUE = {"leaderworkerset.sigs.k8s.io/subdomainPolicy": "UniquePerReplica"}


def test_a_group_is_ready_with_its_leader_and_its_workers() -> None:
    facts = group_facts(a_group())
    assert facts.ready
    assert (facts.index, facts.leader, facts.leader_uid) == (0, "lws-0", "lws-0-uid")
    assert facts.leader_created == facts.ready_since == parse_time(EARLY)
    assert facts.key == facts.updated_key == KEY
    assert facts.keys == {KEY}
    assert facts.unready_since is None


@pytest.mark.parametrize(
    "change",
    [
        {"leader": a_pod(phase="Pending")},
        {"leader": a_pod(ready=False)},
        {"leader": a_pod(conditions=[])},
        {"leader": a_pod(deleted=at(60))},
        {"leader": None},
        {"statefulset": None},
        {"statefulset": a_statefulset(owner="earlier-leader")},
        {"statefulset": a_statefulset(owner=None)},
        {"statefulset": a_statefulset(available=1)},
        {"statefulset": a_statefulset(replicas=0, available=0)},
        {"statefulset": a_statefulset(replicas=3, available=2)},
        {"statefulset": a_statefulset(update="r2")},
        {"leader": a_pod(annotations={SIZE: "4"})},
    ],
)
def test_a_group_is_not_ready_where_any_part_of_it_is_not(change: dict[str, Any]) -> None:
    facts = group_facts(a_group(**change))
    assert not facts.ready
    assert facts.ready_since is None


def test_current_and_update_revision_may_both_be_empty() -> None:
    assert group_facts(a_group(statefulset=a_statefulset(current="", update=""))).ready


def test_of_a_group_of_one_only_the_leader_counts() -> None:
    facts = group_facts(
        a_group(leader=a_pod(annotations={SIZE: "1"}), statefulset=None, workers=())
    )
    assert facts.ready
    assert facts.complete
    assert facts.updated_key == KEY


@pytest.mark.parametrize("size", ["", "many", "-1", "0", "9" * 30, "٣"])
def test_with_garbage_for_a_size_the_revisions_counts(size: str) -> None:
    leader = a_pod(annotations={SIZE: size})
    assert group_facts(a_group(leader=leader)).ready
    grown = a_set(template={"size": 2})
    assert group_facts(a_group(leader=leader, lws=grown)).ready
    assert not group_facts(a_group(leader=leader, lws=grown, revision=None)).ready


def test_a_group_without_a_living_leader_is_missing() -> None:
    gone, going = group_facts(a_group(leader=None)), a_pod(deleted=at(60))
    assert (gone.key, gone.leader, gone.leader_uid) == (None, "lws-0", None)
    assert not gone.complete
    leaving = group_facts(a_group(leader=going))
    assert leaving.key is None
    assert leaving.terminating
    assert (leaving.complete, leaving.updated_key) == (True, KEY)


def test_a_group_is_updated_once_its_worker_statefulset_carries_the_key_too() -> None:
    facts = group_facts(a_group(statefulset=a_statefulset(key="older")))
    assert (facts.key, facts.updated_key) == (KEY, None)
    assert facts.keys == {KEY, "older"}


def test_every_key_is_named_that_a_pod_or_a_statefulset_still_names() -> None:
    dying = a_worker(1, key="older", deleted=at(60))
    facts = group_facts(a_group(workers=(dying, a_worker(2, key="")), statefulset=None))
    assert facts.keys == {KEY, "older"}
    assert group_facts(a_group(leader=None, workers=(dying,))).keys == {KEY, "older"}


@pytest.mark.parametrize(
    ("worker", "moment"),
    [
        (a_worker(1, created=at(30), conditions=[]), at(30)),
        (a_worker(1, deleted=at(90)), at(90)),
        (a_worker(1, conditions=[{"type": "Ready", "lastTransitionTime": at(45)}]), at(45)),
        (a_worker(1, conditions=[{"type": "Ready"}]), EARLY),
    ],
)
def test_a_group_is_unready_since_the_latest_transition_among_its_pods(
    worker: Any, moment: str
) -> None:
    group = a_group(workers=(worker, a_worker(2)), statefulset=a_statefulset(available=1))
    assert group_facts(group).unready_since == parse_time(moment)
    ready = group_facts(a_group(workers=(worker, a_worker(2))))
    assert (ready.ready_since, ready.unready_since) == (parse_time(moment), None)


def test_a_group_of_which_nothing_is_left_is_unready_since_no_one_knows_when() -> None:
    facts = group_facts(a_group(leader=None, workers=(), statefulset=None))
    assert facts.unready_since is None
    assert facts.keys == frozenset()


def test_facts_that_differ_in_the_resource_version_alone_wake_nobody() -> None:
    facts = group_facts(a_group())
    assert facts == replace(facts, leader_resource_version=ResourceVersion("6"))
    assert facts.leader_resource_version == "5"


def test_a_strangers_statefulset_is_none_of_the_groups() -> None:
    """It would pass for workers of another revision: an update that nobody began."""
    owner = {"kind": "LeaderWorkerSet", "name": "lws-0", "uid": "theirs", "controller": True}
    found = group_facts(a_group(statefulset=a_statefulset(references=[owner], key="theirs")))
    assert not found.complete
    assert found.updated_key is None
    assert "theirs" not in found.keys


def test_foreign_objects_in_the_groups_place_are_named() -> None:
    group = a_group(
        leader=a_pod(annotations=UNIQUE),
        statefulset=a_statefulset(owner=None),
        service=a_service(owner="deployment", kind="Deployment"),
    )
    assert group_facts(group).foreign == ("StatefulSet lws-0", "Service lws-0")
    earlier = a_group(
        leader=a_pod(annotations=UNIQUE),
        statefulset=a_statefulset(owner="earlier"),
        service=a_service(owner="earlier"),
    )
    assert group_facts(earlier).foreign == ()
    shared = a_group(service=a_service(owner=None))
    assert group_facts(shared).foreign == ()
