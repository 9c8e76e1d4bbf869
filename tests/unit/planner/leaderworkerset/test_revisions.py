"""Which revision is wanted, how it is recorded, found again and put away."""

from typing import Any

import msgspec
import pytest

from lws.api import names
from lws.api.apps import decode_revision
from lws.api.leaderworkerset import decode
from lws.client.requests import encode
from lws.planner.actions import Create
from lws.planner.leaderworkerset.plan import plan
from lws.planner.leaderworkerset.retirement import retire
from lws.planner.leaderworkerset.revisions import (
    new_key,
    read_wanted,
    recorded_template,
    revision_step,
)
from lws.planner.revision import UnreadableRevision, read_revision
from tests.unit.planner.leaderworkerset.worlds import (
    KEY,
    NAME,
    OLD_KEY,
    a_recorded,
    a_revision,
    a_set,
    at_rest,
    creates,
    deletes,
    facts,
    only_apply,
    patches,
    pod_template,
    statefulset_document,
    updating,
)

EXCLUSIVE = {names.EXCLUSIVE_TOPOLOGY: "rack"}


def test_a_revision_is_what_the_wire_says() -> None:
    planned = plan(at_rest(document={}, groups=[], revisions=[]))
    (create,) = creates(planned, "ControllerRevision")
    assert create.name == f"{NAME}-{planned.wanted}-1"
    assert create.body["revision"] == 1
    assert create.body["metadata"]["labels"] == {
        names.NAME: NAME,
        names.REVISION_KEY: planned.wanted,
    }
    spec = create.body["data"]["spec"]
    assert spec.keys() == {"leaderWorkerTemplate", "networkConfig"}
    assert spec["networkConfig"] == {"subdomainPolicy": "Shared", "$patch": "replace"}
    assert spec["leaderWorkerTemplate"]["$patch"] == "replace"
    assert spec["leaderWorkerTemplate"]["size"] == 2
    (owner,) = create.body["metadata"]["ownerReferences"]
    assert owner["controller"]
    assert owner["uid"] == "set-uid"


def test_a_revision_is_spelled_to_the_byte_as_the_public_controller_spells_it() -> None:
    """It compares bytes: any other spelling would be an update to it, and restart every group."""
    container = {
        "name": "serve",
        "image": "serve:1",
        "command": ["run", "a<b"],
        "ports": [],
        "livenessProbe": None,
    }
    lws = a_set()
    document = msgspec.json.decode(lws.document)
    document["spec"]["leaderWorkerTemplate"] = {
        "workerTemplate": {
            "spec": {
                "initContainers": [
                    {"resources": {"limits": {"cpu": "1000m"}}, "name": "load", "image": "load:1"}
                ],
                "containers": [container],
            }
        },
        "size": 2,
        "restartPolicy": "None",
        "maxGroupRestarts": 3,
    }
    wanted = read_wanted(decode(msgspec.json.encode(document)))
    assert encode({"spec": recorded_template(wanted)}).decode() == (
        '{"spec":{"leaderWorkerTemplate":{"$patch":"replace","restartPolicy":"None","size":2,'
        '"workerTemplate":{"metadata":{},"spec":{"containers":[{"command":["run","a\\u003cb"],'
        '"image":"serve:1","name":"serve","resources":{}}],"initContainers":[{"image":"load:1",'
        '"name":"load","resources":{"limits":{"cpu":"1"}}}]}}},'
        '"networkConfig":{"$patch":"replace","subdomainPolicy":"Shared"}}}'
    )


def test_a_field_that_the_go_types_do_not_know_is_recorded_all_the_same() -> None:
    lws = a_set()
    document = msgspec.json.decode(lws.document)
    worker = document["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    worker["spec"]["fromTheFuture"] = {"b": 1, "a": 2}
    wanted = read_wanted(decode(msgspec.json.encode(document)))
    template = recorded_template(wanted)["leaderWorkerTemplate"]["workerTemplate"]
    assert template["spec"]["fromTheFuture"] == {"a": 2, "b": 1}


def test_what_was_recorded_reads_back_as_the_same_template() -> None:
    lws = a_set()
    planned = plan(at_rest(lws, document={}, groups=[], revisions=[]))
    (create,) = creates(planned, "ControllerRevision")
    revision = read_revision(decode_revision(msgspec.json.encode(create.body)))
    assert revision.digest == read_wanted(lws).digest
    assert revision.template.leader_worker_template.size == 2
    assert "$patch" not in revision.document["leaderWorkerTemplate"]


def test_another_serialisation_is_no_update() -> None:
    lws = a_set()
    spec = {
        "leaderWorkerTemplate": {
            "workerTemplate": {
                "metadata": {"creationTimestamp": None},
                "spec": {"containers": [{"image": "serve:1", "name": "serve", "resources": {}}]},
            },
            "restartPolicy": "RecreateGroupOnPodRestart",
            "size": 2,
        },
        "networkConfig": {"subdomainPolicy": "Shared"},
    }
    recorded = a_recorded(lws, data={"spec": spec})
    assert revision_step(at_rest(lws, revisions=[read_revision(recorded)])).actions == ()


def test_our_additions_roll_nothing() -> None:
    lws = a_set(
        template={"maxGroupRestarts": 3},
        paused=False,
        revisionHistoryLimit=2,
        progressDeadlineSeconds=60,
    )
    assert revision_step(at_rest(lws, revisions=[a_revision(a_set())])).actions == ()


def test_a_statefulset_from_before_revisions_keeps_its_key() -> None:
    step = revision_step(at_rest(revisions=[]))
    assert step.key == KEY
    (create,) = step.actions
    assert isinstance(create, Create)
    assert create.body["metadata"]["labels"][names.REVISION_KEY] == KEY


def test_an_update_is_not_lost_with_the_revision_that_is_being_replaced() -> None:
    """It was deleted by hand. The wanted one is recorded, so the StatefulSet carries another."""
    wanted = a_revision(a_set(image="serve:2"), key="new", number=2)
    step = revision_step(updating(revisions=[wanted]))
    assert (step.key, step.actions) == ("new", ())


def test_of_several_with_one_key_the_highest_number_counts() -> None:
    lws = a_set()
    step = revision_step(at_rest(lws, revisions=[a_revision(lws), a_revision(lws, number=2)]))
    (delete,) = step.actions
    assert getattr(delete, "uid", "") == f"{KEY}-1-uid"
    assert step.key == KEY


def test_going_back_finds_the_old_key_and_raises_its_number() -> None:
    back = a_set(image="serve:1")
    revisions = [
        a_revision(back, key=OLD_KEY),
        a_revision(a_set(image="serve:2"), key=KEY, number=2),
    ]
    step = revision_step(at_rest(back, revisions=revisions))
    assert step.key == OLD_KEY
    (patch,) = step.actions
    assert getattr(patch, "body", None) == {"revision": 3}


def test_going_back_to_a_retired_revision_brings_it_back() -> None:
    back = a_set(image="serve:1")
    revisions = [
        a_revision(back, key=OLD_KEY, retired=True),
        a_revision(a_set(image="serve:2"), key=KEY, number=2),
    ]
    planned = plan(at_rest(back, revisions=revisions))
    (patch,) = patches(planned)
    assert patch.body["metadata"]["labels"] == {names.NAME: NAME, names.HISTORY_OF: None}
    assert patch.body["revision"] == 3
    assert only_apply(planned).body["metadata"]["labels"][names.REVISION_KEY] == OLD_KEY


def test_an_update_that_keeps_failing_makes_no_second_revision() -> None:
    lws = a_set(image="serve:2")
    old, new = a_revision(a_set(), key=OLD_KEY), a_revision(lws, key="new", number=2)
    planned = plan(updating(lws=lws, revisions=[old, new]))
    assert creates(planned, "ControllerRevision") == []
    assert planned.wanted == "new"


def test_an_exclusive_topology_on_a_live_set_is_a_paced_update() -> None:
    lws = a_set(metadata={"annotations": EXCLUSIVE})
    planned = plan(at_rest(lws, revisions=[a_revision(a_set())]))
    (create,) = creates(planned, "ControllerRevision")
    assert create.body["metadata"]["annotations"] == EXCLUSIVE
    assert names.EXCLUSIVE_TOPOLOGY not in create.body["data"]["spec"]["leaderWorkerTemplate"]
    apply = only_apply(planned)
    assert apply.body["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 2
    pods = apply.body["spec"]["template"]["metadata"]["annotations"]
    assert pods[names.EXCLUSIVE_TOPOLOGY] == "rack"


def test_a_topology_that_another_controller_put_into_the_pods_is_no_update() -> None:
    lws = a_set(metadata={"annotations": EXCLUSIVE})
    document = statefulset_document()
    document["spec"]["template"]["metadata"]["annotations"] = EXCLUSIVE
    step = revision_step(at_rest(lws, document=document, revisions=[a_revision(a_set())]))
    assert step.actions == ()


@pytest.mark.parametrize("part", ["leaderTemplate", "workerTemplate"])
def test_a_topology_in_a_users_own_pod_template_is_no_update(part: str) -> None:
    """It is in the pods of every revision then, and would be an update each time it was done."""
    own = pod_template() | {"metadata": {"annotations": EXCLUSIVE}}
    lws = a_set(template={part: own})
    document = statefulset_document()
    document["spec"]["template"]["metadata"]["annotations"] = EXCLUSIVE
    unmarked = a_revision(lws)
    assert not unmarked.tells_topologies
    step = revision_step(at_rest(lws, document=document, revisions=[unmarked]))
    assert step.actions == ()
    assert step.key == KEY


def test_a_topology_that_a_hand_put_into_the_statefulset_is_one_update_at_most() -> None:
    """It stays there, for it is not ours to remove: each update would find it again after it."""
    document = statefulset_document()
    document["spec"]["template"]["metadata"]["annotations"] = EXCLUSIVE
    first = plan(at_rest(document=document, revisions=[a_revision(a_set())]))
    (create,) = creates(first, "ControllerRevision")
    assert create.body["metadata"]["annotations"] == {names.EXCLUSIVE_TOPOLOGY: ""}
    recorded = a_revision(
        a_set(),
        key=first.wanted,
        number=create.body["revision"],
        metadata={"annotations": create.body["metadata"]["annotations"]},
    )
    document["metadata"]["labels"][names.REVISION_KEY] = first.wanted
    standing = [a_revision(a_set()), recorded]
    step = revision_step(at_rest(document=document, revisions=standing))
    assert step.actions == ()
    assert step.key == first.wanted


def test_a_revision_without_topologies_says_nothing_of_them() -> None:
    first = plan(at_rest(document={}, groups=[], revisions=[]))
    (create,) = creates(first, "ControllerRevision")
    assert "annotations" not in create.body["metadata"]


def test_a_topology_that_is_taken_off_a_set_of_another_controller_is_an_update() -> None:
    document = statefulset_document()
    document["spec"]["template"]["metadata"]["annotations"] = EXCLUSIVE
    step = revision_step(at_rest(document=document))
    assert step.key != KEY


def test_the_topologies_are_part_of_the_key() -> None:
    plain, exclusive = a_set(), a_set(metadata={"annotations": EXCLUSIVE})
    assert new_key(read_wanted(plain), taken=[]) != new_key(read_wanted(exclusive), taken=[])


def test_a_key_that_is_taken_gets_longer() -> None:
    wanted = read_wanted(a_set())
    first = new_key(wanted, taken=[])
    second = new_key(wanted, taken=[first])
    assert second.startswith(first)
    assert len(second) == len(first) + 1


@pytest.mark.parametrize("data", [None, {}, {"spec": []}, {"spec": {"leaderWorkerTemplate": 3}}])
def test_data_that_no_controller_records_is_told_as_such(data: object) -> None:
    recorded = a_recorded(a_set(), data=data)
    with pytest.raises(UnreadableRevision):
        read_revision(recorded)


def test_a_revision_that_a_terminating_pod_names_is_not_retired() -> None:
    old = a_revision(a_set(image="serve:0"), key=OLD_KEY)
    current = a_revision(a_set(), number=2)
    surge = facts(3, key=None, terminating=True, keys=frozenset([OLD_KEY]), updated_key=OLD_KEY)
    groups = [facts(0), facts(1), facts(2), surge]
    assert retire(at_rest(groups=groups, revisions=[old, current]), wanted=KEY) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": [facts(0), facts(1), facts(2, ready=False)]},
        {"groups": [facts(0), facts(1)]},
        {"groups": [facts(0), facts(1), facts(2, updated_key=None)]},
        {"document": statefulset_document(replicas=4)},
        {"document": {}},
        {"document": statefulset_document(key=OLD_KEY)},
        {"document": statefulset_document(partition=1)},
        {"document": statefulset_document(strategy={"type": "OnDelete"})},
    ],
)
def test_nothing_is_retired_before_the_update_is_over(changes: dict[str, Any]) -> None:
    old = a_revision(a_set(image="serve:0"), key=OLD_KEY)
    snapshot = at_rest(revisions=[old, a_revision(a_set(), number=2)], **changes)
    assert retire(snapshot, wanted=KEY) == ()


def test_beyond_the_limit_the_oldest_are_deleted() -> None:
    past = [
        a_revision(a_set(image=f"serve:0.{number}"), key=f"k{number}", number=number, retired=True)
        for number in range(1, 5)
    ]
    lws = a_set(revisionHistoryLimit=2)
    planned = plan(at_rest(lws, revisions=[*past, a_revision(lws, number=9)]))
    assert [delete.uid for delete in deletes(planned)] == ["k2-2-uid", "k1-1-uid"]


def test_a_limit_of_zero_keeps_none() -> None:
    lws = a_set(revisionHistoryLimit=0)
    old = a_revision(a_set(image="serve:0"), key=OLD_KEY)
    planned = plan(at_rest(lws, revisions=[old, a_revision(lws, number=2)]))
    assert [delete.uid for delete in deletes(planned)] == [old.uid]
    assert patches(planned) == []
