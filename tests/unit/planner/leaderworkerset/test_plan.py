"""The pipeline of one pass."""

from typing import Any

import pytest

from lws.api import names
from lws.api.kinds import Kind
from lws.base.ids import UID
from lws.planner.actions import Apply, Create, Propagation
from lws.planner.leaderworkerset.plan import plan
from lws.planner.leaderworkerset.snapshot import Foreign
from lws.planner.pods.snapshot import Loss
from tests.unit.planner.leaderworkerset.worlds import (
    KEY,
    NAME,
    NOW,
    OLD_KEY,
    a_revision,
    a_set,
    actions,
    at_rest,
    creates,
    deletes,
    facts,
    notes,
    only_apply,
    patches,
    rolling,
    statefulset_document,
    updating,
    writes,
)


def partition_of(apply: Apply) -> int:
    partition: int = apply.body["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
    return partition


def test_a_world_at_rest_needs_nothing() -> None:
    planned = plan(at_rest())
    assert actions(planned) == []
    assert planned.restart_deletes == ()
    assert planned.wake_after is None
    assert planned.wanted == KEY


def test_a_group_of_an_absurd_index_costs_nothing() -> None:
    """It is what anybody wrote into a pod's name or label; a list so long ends the process."""
    absurd = facts(10**15, key=None, leader_uid=None, ready=False)
    groups = [*(facts(index) for index in range(3)), absurd]
    assert actions(plan(at_rest(groups=groups))) == []


def test_a_set_that_is_being_deleted_is_left_alone() -> None:
    lws = a_set(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    planned = plan(at_rest(lws, document={}, groups=[], service=None, revisions=[]))
    assert actions(planned) == []
    assert not planned.writes_status


def test_a_first_pass_records_the_revision_then_makes_statefulset_and_service() -> None:
    planned = plan(at_rest(document={}, groups=[], service=None, revisions=[]))
    revision, apply = [a for a in writes(planned) if not _is_service(a)]
    assert isinstance(revision, Create)
    assert revision.kind is Kind.CONTROLLER_REVISION
    assert isinstance(apply, Apply)
    assert apply.uid is None
    assert apply.body["spec"]["replicas"] == 3
    assert apply.body["metadata"]["labels"][names.REVISION_KEY] == planned.wanted
    assert len(creates(planned, "Service")) == 1
    assert f"Created leader statefulset {NAME}" in notes(planned)
    assert f"Creating revision with key {planned.wanted} for a newly created LeaderWorkerSet" in (
        notes(planned)
    )


def _is_service(action: Any) -> bool:
    return getattr(action, "kind", None) is Kind.SERVICE


def test_a_fresh_set_starts_without_surge_and_at_its_own_partition() -> None:
    lws = a_set(rolloutStrategy=rolling(partition=2, maxSurge=2))
    planned = plan(at_rest(lws, document={}, groups=[], service=None, revisions=[]))
    apply = only_apply(planned)
    assert apply.body["spec"]["replicas"] == 3
    assert apply.body["spec"]["updateStrategy"]["rollingUpdate"] == {
        "partition": 2,
        "maxUnavailable": 3,
    }


def test_a_budget_beyond_what_the_field_holds_is_cut() -> None:
    lws = a_set(rolloutStrategy=rolling(maxUnavailable="99999999999999999999%"))
    planned = plan(at_rest(lws, document={}, groups=[], service=None, revisions=[]))
    rolled = only_apply(planned).body["spec"]["updateStrategy"]["rollingUpdate"]
    assert rolled["maxUnavailable"] == 2**31 - 1


def test_leaders_that_were_orphaned_are_not_all_replaced_at_once() -> None:
    orphans = [facts(index, key=OLD_KEY) for index in range(3)]
    planned = plan(updating(document={}, groups=orphans))
    assert partition_of(only_apply(planned)) == 3


def test_orphans_of_the_wanted_revision_are_taken_back_as_they_are() -> None:
    planned = plan(at_rest(document={}))
    assert planned.wanted == KEY
    assert partition_of(only_apply(planned)) == 0
    assert creates(planned, "ControllerRevision") == []


def test_an_update_is_one_apply_with_the_new_template_and_key() -> None:
    planned = plan(updating())
    (revision,) = creates(planned, "ControllerRevision")
    assert revision.body["revision"] == 2
    apply = only_apply(planned)
    assert apply.uid == "sts-uid"
    assert apply.resource_version == "20"
    containers = apply.body["spec"]["template"]["spec"]["containers"]
    assert containers == [{"name": "serve", "image": "serve:2"}]
    assert partition_of(apply) == 2
    assert "Updating replica 2" in notes(planned)


def test_several_groups_that_are_taken_are_told_as_a_range() -> None:
    planned = plan(updating(lws=a_set(image="serve:2", rolloutStrategy=rolling(maxUnavailable=2))))
    assert partition_of(only_apply(planned)) == 1
    assert "Updating replicas 1 to 2 (inclusive)" in notes(planned)


def test_surge_that_is_given_back_is_told() -> None:
    lws = a_set(rolloutStrategy=rolling(maxSurge=1, maxUnavailable=0))
    document = statefulset_document(replicas=4)
    groups = [facts(index) for index in range(4)]
    planned = plan(at_rest(lws, document=document, groups=groups))
    assert only_apply(planned).body["spec"]["replicas"] == 3
    assert f"deleting surge replica {NAME}-3" in notes(planned)


def test_a_scale_down_by_the_user_is_not_called_surge() -> None:
    planned = plan(at_rest(a_set(replicas=2)))
    assert only_apply(planned).body["spec"]["replicas"] == 2
    assert not any("surge" in note for note in notes(planned))


def test_a_promised_leader_is_deleted_in_foreground_by_uid() -> None:
    groups = [facts(0), facts(1), facts(2, key=OLD_KEY)]
    old = a_revision(a_set(image="serve:0"), key=OLD_KEY)
    current = a_revision(a_set(), number=2)
    planned = plan(at_rest(groups=groups, revisions=[old, current]))
    (delete,) = deletes(planned)
    assert (delete.name, delete.uid) == (f"{NAME}-2", f"{NAME}-2-uid")
    assert delete.propagation is Propagation.FOREGROUND
    assert delete.resource_version is None


def test_nothing_is_deleted_while_the_statefulset_controller_is_behind() -> None:
    groups = [facts(0), facts(1), facts(2, key=OLD_KEY)]
    revisions = [a_revision(a_set(image="serve:0"), key=OLD_KEY), a_revision(a_set(), number=2)]
    behind = statefulset_document(status={"observedGeneration": 1})
    planned = plan(at_rest(document=behind, groups=groups, revisions=revisions))
    assert deletes(planned) == []


def broken_world(**changes: Any) -> Any:
    """Groups 0 and 2 of the old revision, 0 broken for long; no budget to walk on."""
    groups = [
        facts(0, key=OLD_KEY, ready=False, since=NOW - 60),
        facts(1, key=OLD_KEY),
        facts(2, key=OLD_KEY, ready=False, since=NOW - 60),
    ]
    lws = a_set(image="serve:2", rolloutStrategy=rolling(maxUnavailable=1))
    revisions = [
        a_revision(a_set(image="serve:1"), key=OLD_KEY),
        a_revision(lws, number=2),
    ]
    document = statefulset_document(partition=3, **changes)
    return updating(lws=lws, groups=groups, revisions=revisions, document=document)


def test_a_healing_delete_spares_a_leader_that_has_changed_since() -> None:
    window = broken_world(strategy={"type": "OnDelete"}, annotations={names.PARTITION: "3"})
    planned = plan(window)
    assert [one.resource_version for one in deletes(planned)] == ["9"]


def test_an_open_window_is_closed_when_the_manager_hands_over() -> None:
    window = broken_world(strategy={"type": "OnDelete"}, annotations={names.PARTITION: "3"})
    closing = plan(_with(window, handing_over=True))
    apply = only_apply(closing)
    assert apply.body["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    assert names.PARTITION not in apply.body["metadata"]["annotations"]
    assert deletes(closing) == []


def _with(snapshot: Any, **changes: Any) -> Any:
    fields = {name: getattr(snapshot, name) for name in snapshot.__slots__}
    return type(snapshot)(**fields | changes)


def test_time_alone_wakes_a_set_whose_old_group_becomes_long_unready() -> None:
    groups = [
        facts(0, key=OLD_KEY, ready=False, since=NOW - 10),
        facts(1, key=OLD_KEY),
        facts(2, key=OLD_KEY),
    ]
    assert plan(updating(groups=groups)).wake_after == pytest.approx(20.0)


def test_a_paused_update_takes_no_group() -> None:
    planned = plan(updating(lws=a_set(image="serve:2", paused=True)))
    assert partition_of(only_apply(planned)) == 3


def test_a_statefulset_that_is_being_deleted_is_waited_for() -> None:
    document = statefulset_document(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    planned = plan(at_rest(document=document))
    assert actions(planned) == []
    assert planned.wake_after == 30.0


def test_a_foreign_statefulset_stops_the_set_and_nothing_is_written() -> None:
    foreign = [Foreign(Kind.STATEFUL_SET, NAME)]
    planned = plan(at_rest(document={}, groups=[], service=None, foreign=foreign))
    assert actions(planned) == []
    assert planned.wake_after is not None


def test_a_foreign_service_is_left_alone_and_the_rest_goes_on() -> None:
    foreign = [Foreign(Kind.SERVICE, NAME)]
    planned = plan(updating(service=None, foreign=foreign))
    assert creates(planned, "Service") == []
    assert only_apply(planned)
    assert planned.wake_after == 5.0


def test_a_subdomain_for_each_group_needs_no_shared_service() -> None:
    lws = a_set(networkConfig={"subdomainPolicy": "UniquePerReplica"})
    planned = plan(at_rest(lws, document={}, groups=[], service=None, revisions=[]))
    assert creates(planned, "Service") == []


def test_groups_that_an_update_has_not_reached_keep_the_service_that_names_them() -> None:
    """A partition may hold them at the shared subdomain for ever; deleted, it comes back."""
    lws = a_set(networkConfig={"subdomainPolicy": "UniquePerReplica"})
    assert creates(plan(updating(lws=lws, service=None)), "Service")
    groups = [facts(index) for index in range(3)]
    over = plan(at_rest(lws, groups=groups, service=None))
    assert creates(over, "Service") == []


def test_a_lost_member_recreates_its_group_after_the_status_is_written() -> None:
    loss = Loss(pod=f"{NAME}-1-1", uid=UID("worker-uid"), what="was deleted")
    groups = [facts(0), facts(1, ready=False, loss=loss), facts(2)]
    planned = plan(at_rest(groups=groups))
    assert actions(planned) == []
    (delete,) = planned.restart_deletes
    assert delete.name == f"{NAME}-1"
    assert [(row.group, row.count) for row in planned.restarts] == [(1, 1)]


def test_a_group_that_the_rollout_replaces_is_not_counted_as_restarted() -> None:
    loss = Loss(pod=f"{NAME}-2-1", uid=UID("worker-uid"), what="was deleted")
    groups = [facts(0), facts(1), facts(2, key=OLD_KEY, ready=False, loss=loss)]
    revisions = [a_revision(a_set(image="serve:0"), key=OLD_KEY), a_revision(a_set(), number=2)]
    planned = plan(at_rest(groups=groups, revisions=revisions))
    assert [one.name for one in deletes(planned)] == [f"{NAME}-2"]
    assert planned.restart_deletes == ()
    assert planned.restarts == ()


def test_a_changed_label_of_the_set_reaches_the_statefulset_and_no_pod() -> None:
    lws = a_set(metadata={"labels": {"team": "a"}})
    planned = plan(at_rest(lws))
    apply = only_apply(planned)
    assert apply.body["metadata"]["labels"]["team"] == "a"
    assert apply.body["spec"]["template"] == statefulset_document()["spec"]["template"]


def test_a_revision_label_that_was_edited_is_put_back_and_replaces_no_group() -> None:
    document = statefulset_document()
    edited = {**document["metadata"]["labels"], names.REVISION_KEY: "nonsense"}
    document["metadata"]["labels"] = edited
    planned = plan(at_rest(document=document))
    apply = only_apply(planned)
    assert apply.body["metadata"]["labels"][names.REVISION_KEY] == KEY
    assert apply.body["spec"]["template"] == document["spec"]["template"]
    assert [one for one in writes(planned) if one is not apply] == []
    assert planned.restart_deletes == ()


def test_the_note_of_a_disaggregated_update_alone_is_no_reason_to_write() -> None:
    noted = {"annotations": {names.DS_INITIAL_REPLICAS: "3"}}
    assert writes(plan(at_rest(a_set(metadata=noted)))) == []
    apply = only_apply(plan(at_rest(a_set(metadata=noted, replicas=4))))
    assert apply.body["metadata"]["annotations"][names.DS_INITIAL_REPLICAS] == "3"


def test_revisions_are_put_away_in_a_strand_of_their_own() -> None:
    old = a_revision(a_set(image="serve:0"), key=OLD_KEY)
    planned = plan(at_rest(revisions=[old, a_revision(a_set(), number=2)]))
    (patch,) = patches(planned)
    assert patch.name == old.name
    assert patch.body == {"metadata": {"labels": {names.NAME: None, names.HISTORY_OF: NAME}}}
