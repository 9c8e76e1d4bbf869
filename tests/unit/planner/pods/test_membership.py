"""Who is lost to a group: pods.md section 2, "Restart policy"."""

import tracemalloc
from typing import Any

import pytest

from lws.api import names
from lws.api.core import Pod
from lws.base.ids import UID
from lws.planner.pods.facts import group_facts
from lws.planner.pods.membership import (
    Membership,
    after_pod,
    after_policy,
    after_statefulset,
    initial,
)
from lws.planner.pods.restart_policy import RestartScope
from lws.planner.pods.snapshot import GroupSnapshot, Loss
from tests.unit.planner.pods.worlds import (
    a_group,
    a_pod,
    a_revision,
    a_set,
    a_statefulset,
    a_worker,
    at,
    container,
    pods_of_a_group,
    with_membership,
)

CRASHED = [container(started=at(62), restarted=1, finished=at(60), code=137, reason="OOMKilled")]
AFTER_START = "RecreateGroupAfterStart"


def at_rest(policy: str = "RecreateGroupOnPodRestart") -> Membership:
    """What a running controller knows of a group that is ready since EARLY."""
    return a_group(lws=a_set(policy=policy)).membership


def loss_of(membership: Membership, **changes: Any) -> Loss | None:
    """What the set's plan is told."""
    return group_facts(with_membership(membership, **changes)).loss


def changed(membership: Membership, old: Pod, new: Pod | None) -> Membership:
    return after_pod(membership, old=old, new=new)


def test_a_group_at_rest_has_lost_nobody() -> None:
    assert loss_of(at_rest()) is None


def test_a_group_of_an_absurd_size_costs_nothing() -> None:
    """A size is what anybody wrote into an annotation, and there need not be as many pods."""
    tracemalloc.start()
    leader = a_pod(annotations={names.SIZE: "2000000"})
    found = a_group(lws=a_set(policy=AFTER_START), leader=leader).membership
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.size, found.started) == (2_000_000, None)
    assert most < 1_000_000


@pytest.mark.parametrize(
    ("worker", "what"),
    [
        (a_worker(1, deleted=at(60)), "pod is being deleted"),
        (a_worker(1, phase="Unknown"), "pod is in phase Unknown"),
        (a_worker(1, phase="Failed", why="Evicted"), "pod is in phase Failed (Evicted)"),
        (a_worker(1, containers=CRASHED), "container serve exited with code 137 (OOMKilled)"),
        (
            a_worker(1, phase="Pending", init_containers=CRASHED),
            "init container serve exited with code 137 (OOMKilled)",
        ),
        (a_worker(1, containers=[container(restarted=1)]), "container serve restarted"),
        (
            a_worker(1, phase="Failed", containers=CRASHED),
            "pod is in phase Failed, container serve exited with code 137 (OOMKilled)",
        ),
    ],
)
def test_a_worker_that_shows_it_is_lost(worker: Pod, what: str) -> None:
    running = changed(at_rest(), a_worker(1), worker)
    assert loss_of(running) == Loss(pod="lws-0-1", uid=worker.metadata.uid, what=what)
    fresh = a_group(workers=(worker, a_worker(2)))
    assert group_facts(fresh).loss == loss_of(running)


def test_restarts_of_a_pod_that_has_succeeded_count_for_nothing() -> None:
    worker = a_worker(1, phase="Succeeded", containers=CRASHED)
    assert loss_of(changed(at_rest(), a_worker(1), worker)) is None


def test_a_restart_of_the_leader_counts() -> None:
    leader = a_pod(containers=CRASHED)
    loss = loss_of(changed(at_rest(), a_pod(), leader), leader=leader)
    assert loss is not None
    assert loss.pod == "lws-0"


def test_a_worker_that_is_gone_counts_though_no_deletion_was_seen() -> None:
    loss = loss_of(changed(at_rest(), a_worker(1), None))
    assert loss == Loss(pod="lws-0-1", uid=a_worker(1).metadata.uid, what="pod is gone")


def test_a_worker_that_was_replaced_counts_though_its_end_was_not_seen() -> None:
    successor = a_worker(1, uid="another")
    loss = loss_of(changed(at_rest(), a_worker(1), successor))
    assert loss is not None
    assert (loss.uid, loss.what) == ("lws-0-1-uid", "pod was replaced by another")


def test_a_replacement_counts_though_the_informer_tells_of_no_old_pod() -> None:
    assert loss_of(after_pod(at_rest(), old=None, new=a_worker(1, uid="another"))) is not None


def test_a_pod_that_was_never_scheduled_counts_by_what_its_event_carried() -> None:
    pending = a_worker(1, phase="Pending", node="", containers=[], uid="second")
    known = initial(
        name="lws-0",
        scope=RestartScope.EVERYTHING,
        size=3,
        leader=a_pod(),
        workers=(a_worker(2),),
        statefulset=a_statefulset(),
    )
    never_seen = after_pod(known, old=pending, new=None)
    assert loss_of(never_seen) == Loss(pod="lws-0-1", uid=pending.metadata.uid, what="pod is gone")


def test_the_first_of_several_losses_is_the_one_that_is_told() -> None:
    crashed = changed(at_rest(), a_worker(1), a_worker(1, containers=CRASHED))
    later = changed(crashed, a_worker(2), a_worker(2, deleted=at(90)))
    gone = changed(later, a_worker(1, containers=CRASHED), None)
    assert loss_of(gone) == loss_of(crashed)
    assert len(gone.losses) == 2


def test_a_container_that_goes_on_crashing_is_no_news() -> None:
    again = [container(started=at(99), restarted=2, finished=at(98))]
    once = changed(at_rest(), a_worker(1), a_worker(1, containers=CRASHED))
    twice = changed(once, a_worker(1, containers=CRASHED), a_worker(1, containers=again))
    assert loss_of(twice) == loss_of(once)


def test_the_deletion_of_the_worker_statefulset_is_a_loss() -> None:
    for deleted in (None, a_statefulset(deleted=at(60)), a_statefulset(uid="another")):
        membership = after_statefulset(at_rest(), old=a_statefulset(), new=deleted)
        loss = loss_of(membership, statefulset=deleted)
        assert loss is not None
        assert loss.what == "worker StatefulSet lws-0 was deleted"
        assert len(membership.losses) == 1


def test_the_end_of_an_earlier_leaders_statefulset_is_no_loss() -> None:
    old = a_statefulset(uid="old-sts", owner="old-leader")
    assert loss_of(after_statefulset(at_rest(), old=old, new=None)) is None


def test_workers_of_an_earlier_life_do_not_count() -> None:
    seen = after_statefulset(
        at_rest(), old=None, new=a_statefulset(uid="old-sts", owner="old-leader")
    )
    for owner in ("old-sts", "never-seen"):
        dying = a_worker(1, uid="old", owner=owner, deleted=at(60), containers=CRASHED)
        assert loss_of(after_pod(seen, old=dying, new=None)) is None


def test_a_recreation_brings_no_other_when_the_old_pods_die_late() -> None:
    lost = changed(at_rest(), a_worker(1), a_worker(1, containers=CRASHED))
    dying = a_pod(deleted=at(70))
    lost = changed(lost, a_pod(), dying)
    assert loss_of(lost, leader=dying) is None
    leader = a_pod(uid="second-leader")
    anew = changed(lost, dying, leader)
    for index in (1, 2):
        going = a_worker(index, deleted=at(71))
        anew = changed(anew, a_worker(index), going)
        fresh = a_worker(index, uid=f"second-{index}", owner="second-sts")
        anew = changed(anew, going, fresh)
    anew = after_statefulset(anew, old=a_statefulset(), new=None)
    second = a_statefulset(uid="second-sts", owner="second-leader")
    anew = after_statefulset(anew, old=None, new=second)
    assert loss_of(anew, leader=leader, statefulset=second) is None
    crashed = a_worker(2, uid="second-2", owner="second-sts", containers=CRASHED)
    again = changed(anew, crashed, crashed)
    assert loss_of(again, leader=leader, statefulset=second) is not None


def test_a_worker_counts_once_its_statefulset_is_known_to_be_ours() -> None:
    blank = initial(
        name="lws-0",
        scope=RestartScope.EVERYTHING,
        size=3,
        leader=a_pod(),
        workers=(),
        statefulset=None,
    )
    early = after_pod(blank, old=a_worker(1), new=None)
    assert loss_of(early) is None
    assert loss_of(after_statefulset(early, old=None, new=a_statefulset())) is not None


def test_a_statefulset_whose_owner_was_removed_by_hand_was_ours() -> None:
    orphaned = after_statefulset(at_rest(), old=a_statefulset(), new=a_statefulset(owner=None))
    assert loss_of(changed(orphaned, a_worker(1), None)) is not None


def test_a_pod_of_another_revision_is_on_its_way_out() -> None:
    worker = a_worker(1, key="older", deleted=at(60))
    assert loss_of(changed(at_rest(), a_worker(1, key="older"), worker)) is None


def test_nothing_is_recreated_while_leader_or_set_are_being_deleted() -> None:
    lost = changed(at_rest(), a_worker(1), None)
    assert loss_of(lost, leader=a_pod(deleted=at(60))) is None
    assert loss_of(lost, lws=a_set(metadata={"deletionTimestamp": at(60)})) is None
    assert loss_of(lost) is not None


def test_policy_none_and_its_old_name_recreate_nothing() -> None:
    for policy in ("None", "Default", "Nonsense"):
        lws = a_set(policy=policy)
        lost = changed(a_group(lws=lws).membership, a_worker(1), None)
        assert loss_of(lost, lws=lws) is None
        assert lost.losses == ()


def test_a_pod_beyond_the_size_is_not_the_groups() -> None:
    extra = after_pod(at_rest(), old=None, new=a_worker(3))
    assert loss_of(changed(extra, a_worker(3), None)) is None
    stranger = a_pod("lws-0-1-x", owner="lws-0-sts-uid", containers=CRASHED)
    assert loss_of(after_pod(extra, old=None, new=stranger)) is None


def test_a_pod_that_a_scale_down_by_hand_removes_is_lost() -> None:
    scaled = after_statefulset(at_rest(), old=a_statefulset(), new=a_statefulset(replicas=1))
    assert loss_of(scaled) is None
    assert loss_of(changed(scaled, a_worker(2), a_worker(2, deleted=at(60)))) is not None


def test_the_memory_of_losses_is_bounded() -> None:
    membership = at_rest()
    for life in range(100):
        pod = a_worker(1, uid=f"life-{life}")
        membership = after_pod(membership, old=None, new=pod)
        membership = after_pod(membership, old=pod, new=None)
    assert len(membership.losses) == 32
    assert loss_of(membership) is not None


# After start.


def starting() -> Membership:
    """A group of which worker 2 has not begun to run; the others run since EARLY."""
    return a_group(
        lws=a_set(policy=AFTER_START), workers=(a_worker(1), waiting_worker())
    ).membership


def waiting_worker(**changes: Any) -> Pod:
    return a_worker(2, phase="Pending", containers=[container(started=None)], **changes)


def begun_worker(moment: str, **changes: Any) -> Pod:
    return a_worker(2, containers=[container(started=moment)], **changes)


def loss_after_start(membership: Membership) -> Loss | None:
    return loss_of(membership, lws=a_set(policy=AFTER_START))


def crashed(index: int, moment: str, times: int = 1) -> Pod:
    status = container(started=moment, restarted=times, finished=moment)
    return a_worker(index, containers=[status])


def test_restarts_during_start_up_never_count_later() -> None:
    membership = changed(starting(), a_worker(1), crashed(1, at(10)))
    assert loss_after_start(membership) is None
    begun = changed(membership, waiting_worker(), begun_worker(at(20)))
    assert loss_after_start(begun) is None
    again = changed(begun, crashed(1, at(10)), crashed(1, at(10)))
    assert loss_after_start(again) is None
    later = changed(again, crashed(1, at(10)), crashed(1, at(30), times=2))
    assert loss_after_start(later) is not None


def test_a_restart_at_the_very_moment_of_the_start_counts() -> None:
    begun = changed(starting(), waiting_worker(), begun_worker(at(20)))
    assert loss_after_start(changed(begun, a_worker(1), crashed(1, at(20)))) is not None
    assert loss_after_start(changed(begun, a_worker(1), crashed(1, at(19)))) is None


def test_a_restart_counts_though_its_news_came_before_that_of_the_last_start() -> None:
    first = changed(starting(), a_worker(1), crashed(1, at(10)))
    second = changed(first, crashed(1, at(10)), crashed(1, at(30), times=2))
    assert loss_after_start(second) is None
    assert loss_after_start(changed(second, waiting_worker(), begun_worker(at(20)))) is not None


def test_a_restart_that_tells_no_time_counts_when_it_is_seen() -> None:
    untimed = a_worker(1, containers=[container(restarted=1)])
    early = changed(starting(), a_worker(1), untimed)
    begun = changed(early, waiting_worker(), begun_worker(at(20)))
    assert loss_after_start(changed(begun, untimed, untimed)) is None
    more = a_worker(1, containers=[container(restarted=2)])
    assert loss_after_start(changed(begun, untimed, more)) is not None


def test_a_pod_deleted_during_start_up_never_counts_later() -> None:
    dying = a_worker(1, deleted=at(15))
    membership = changed(starting(), a_worker(1), dying)
    begun = changed(membership, waiting_worker(), begun_worker(at(20)))
    assert begun.started is None
    gone = changed(begun, dying, a_worker(1, uid="new", containers=[container(started=at(40))]))
    assert gone.started is not None
    assert loss_after_start(gone) is None


def test_the_pod_that_was_lost_counts_as_one_of_the_groups_pods() -> None:
    for new in (None, a_worker(1, deleted=at(60)), a_worker(1, uid="new", phase="Pending")):
        assert loss_after_start(changed(at_rest(AFTER_START), a_worker(1), new)) is not None
    begun = starting()
    assert loss_after_start(changed(begun, waiting_worker(), None)) is None
    final = begun_worker(at(20), deleted=at(25))
    assert loss_after_start(changed(begun, waiting_worker(), final)) is not None


def test_a_fresh_controller_counts_a_terminating_pod_as_one_of_the_groups() -> None:
    lws = a_set(policy=AFTER_START)
    fresh = a_group(lws=lws, workers=(a_worker(1, deleted=at(60)), a_worker(2)))
    assert group_facts(fresh).loss is not None
    early = a_group(lws=lws, workers=(a_worker(1, deleted=at(60)), waiting_worker()))
    assert group_facts(early).loss is None
    before = a_group(lws=lws, workers=(a_worker(1, deleted=at(10)), begun_worker(at(20))))
    assert group_facts(before).loss is None


def test_a_fresh_controller_tells_restarts_by_their_times() -> None:
    lws = a_set(policy=AFTER_START)

    def fresh(first: Pod, second: Pod) -> GroupSnapshot:
        return a_group(lws=lws, workers=(first, second))

    assert group_facts(fresh(crashed(1, at(30)), begun_worker(at(20)))).loss is not None
    assert group_facts(fresh(crashed(1, at(10)), begun_worker(at(20)))).loss is None
    assert group_facts(fresh(crashed(1, at(30)), waiting_worker())).loss is None
    untimed = a_worker(1, containers=[container(restarted=1)])
    assert group_facts(fresh(untimed, a_worker(2))).loss is None


def test_the_number_of_pods_is_that_of_the_leaders_own_revision() -> None:
    grown = a_set(policy=AFTER_START, template={"size": 5})
    lost = changed(a_group(lws=grown).membership, a_worker(1), crashed(1, at(30)))
    assert loss_of(lost, lws=grown) is not None


def test_the_experimental_annotation_makes_the_default_policy_one_after_start() -> None:
    key = "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start"
    lws = a_set(metadata={"annotations": {key: ""}})
    membership = a_group(lws=lws, workers=(a_worker(1), waiting_worker())).membership
    assert loss_of(changed(membership, a_worker(1), crashed(1, at(5))), lws=lws) is None
    none = a_set(policy="None", metadata={"annotations": {key: "true"}})
    assert loss_of(changed(membership, a_worker(1), None), lws=none) is None


def test_the_deletion_of_the_worker_statefulset_during_start_up_never_counts() -> None:
    dying = a_statefulset(deleted=at(10))
    early = after_statefulset(starting(), old=a_statefulset(), new=dying)
    begun = changed(early, waiting_worker(), begun_worker(at(20)))
    assert loss_after_start(after_statefulset(begun, old=dying, new=None)) is None


def test_a_failure_during_start_up_never_counts_later() -> None:
    ended = container(started=None, finished=at(10))
    failed = a_worker(1, phase="Failed", containers=[ended])
    membership = changed(starting(), a_worker(1), failed)
    membership = changed(membership, waiting_worker(), begun_worker(at(20)))
    successor = a_worker(1, uid="new", containers=[container(started=at(22))])
    assert loss_after_start(changed(membership, failed, successor)) is None


# A switch of the policy.


def test_a_switch_of_the_policy_looks_at_losses_from_then_on_only() -> None:
    membership = a_group(lws=a_set(policy="None")).membership
    membership = changed(membership, a_worker(1), a_worker(1, containers=CRASHED))
    dying = a_worker(2, deleted=at(60))
    membership = changed(membership, a_worker(2), dying)
    switched = after_policy(membership, scope=RestartScope.EVERYTHING)
    seen_again = changed(switched, a_worker(1), a_worker(1, containers=CRASHED))
    replaced = changed(seen_again, dying, a_worker(2, uid="new"))
    assert loss_of(replaced) is None
    again = [container(started=at(99), restarted=2, finished=at(98))]
    assert loss_of(changed(replaced, a_worker(1), a_worker(1, containers=again))) is not None


def test_the_same_policy_again_is_no_switch() -> None:
    lost = changed(at_rest(), a_worker(1), None)
    assert after_policy(lost, scope=RestartScope.EVERYTHING) is lost
    assert after_policy(lost, scope=RestartScope.NOTHING).losses == ()


@pytest.mark.parametrize(
    ("worker", "counts"),
    [
        (crashed(1, at(59)), False),
        (crashed(1, at(60)), True),
        (a_worker(1, containers=[container(restarted=1)]), False),
        (a_worker(1, deleted=at(59)), False),
        (a_worker(1, deleted=at(60)), True),
        (a_worker(1, phase="Failed", containers=[container(finished=at(59))]), False),
        (a_worker(1, phase="Failed", containers=[container(finished=at(61))]), True),
    ],
)
def test_a_restarted_controller_knows_since_when_the_policy_counts(
    worker: Pod, counts: bool
) -> None:
    leader, _, second = pods_of_a_group()
    membership = initial(
        name="lws-0",
        scope=RestartScope.EVERYTHING,
        size=3,
        leader=leader,
        workers=(worker, second),
        statefulset=a_statefulset(),
        policy_since=1785578460.0,  # at(60)
    )
    assert (loss_of(membership) is not None) is counts


def test_garbage_in_size_and_times_is_survived() -> None:
    leader = a_pod(annotations={"leaderworkerset.sigs.k8s.io/size": "many"})
    odd = a_worker(1, containers=[container(started="soon", restarted=1, finished="late")])
    group = a_group(lws=a_set(policy=AFTER_START), leader=leader, workers=(odd, a_worker(2)))
    assert group_facts(group).loss is None
    assert group.membership.size == 3
    assert a_revision().template.leader_worker_template.size == 3


def test_pods_of_an_earlier_life_do_not_make_a_group_started() -> None:
    anew = changed(at_rest(AFTER_START), a_pod(), a_pod(uid="second-leader"))
    assert anew.started is None
    again = changed(anew, a_worker(1), crashed(1, at(30)))
    assert again.started is None
    assert again.losses == ()


def test_a_group_whose_leader_is_gone_loses_nobody() -> None:
    leaderless = changed(at_rest(), a_pod(), None)
    late = changed(leaderless, a_worker(1), None)
    assert (late.leader, late.losses) == (None, ())
    assert not late.is_of_this_life(pod="lws-0-1", uid=UID("x"), owner=UID("lws-0-sts-uid"))


def test_a_size_that_was_changed_on_the_leader_by_hand_counts_from_then_on() -> None:
    smaller = a_pod(annotations={"leaderworkerset.sigs.k8s.io/size": "2"})
    membership = changed(at_rest(), a_pod(), smaller)
    assert membership.size == 2
    assert loss_of(changed(membership, a_worker(2), None), leader=smaller) is None
