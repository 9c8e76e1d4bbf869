"""Whatever happens to a group, in whatever order its two watches tell of it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lws.api.apps import StatefulSet
from lws.planner.pods.facts import group_facts
from lws.planner.pods.membership import Membership, after_pod, after_statefulset
from lws.planner.pods.restart_policy import RestartScope
from tests.property.pods.lives import SIZE, STEPS, Change, Lives
from tests.unit.planner.pods.worlds import (
    a_group,
    a_pod,
    a_set,
    a_worker,
    at,
    container,
    with_membership,
)

BLANK = Membership(name="lws-0", scope=RestartScope.EVERYTHING, size=SIZE)
HISTORIES = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(1, SIZE - 1)), min_size=5, max_size=40
)


def lived(history: list[tuple[str, int]]) -> Lives:
    """The usual beginning, and then what Hypothesis thinks of."""
    lives = Lives()
    lives.step("leader_comes", 0)
    lives.step("statefulset_comes", 0)
    for index in range(1, SIZE):
        lives.step("worker_comes", index)
    for what, index in history:
        lives.step(what, index)
    return lives


def is_statefulset(change: Change) -> bool:
    return isinstance(change.new or change.old, StatefulSet)


def told(membership: Membership, change: Change) -> Membership:
    if is_statefulset(change):
        return after_statefulset(membership, old=change.old, new=change.new)
    return after_pod(membership, old=change.old, new=change.new)


def is_lost(membership: Membership, lives: Lives) -> bool:
    group = with_membership(membership, leader=lives.leader, workers=tuple(lives.workers.values()))
    return group_facts(group).loss is not None


def late(changes: list[Change], delays: list[int]) -> list[Change]:
    """The StatefulSets' watch lags behind the pods', in its own order."""
    moments, latest = [], 0
    for place, change in enumerate(changes):
        if is_statefulset(change):
            latest = max(latest, place + delays[place % len(delays)])
            moments.append((latest, 1, place))
        else:
            moments.append((place, 0, place))
    return [changes[place] for _, _, place in sorted(moments)]


@given(HISTORIES)
def test_a_group_is_lost_just_when_a_member_of_its_life_was(history: list[tuple[str, int]]) -> None:
    lives, membership = lived(history), BLANK
    for change in lives.changes:
        membership = told(membership, change)
    assert is_lost(membership, lives) is (lives.lost and lives.leader is not None)


@given(HISTORIES)
def test_each_change_told_twice_is_as_good_as_once(history: list[tuple[str, int]]) -> None:
    once = twice = BLANK
    for change in lived(history).changes:
        once = told(once, change)
        twice = told(told(twice, change), change)
        assert twice == once


@given(HISTORIES, st.lists(st.integers(0, 30), min_size=1, max_size=9))
def test_a_watch_that_lags_changes_nothing_in_the_end(
    history: list[tuple[str, int]], delays: list[int]
) -> None:
    lives, membership = lived(history), BLANK
    for change in late(lives.changes, delays):
        membership = told(membership, change)
    assert is_lost(membership, lives) is (lives.lost and lives.leader is not None)


@given(HISTORIES)
def test_a_new_leader_begins_with_nothing_lost(history: list[tuple[str, int]]) -> None:
    lives = lived(history)
    lives.step("leader_is_replaced", 0)
    lives.step("leader_comes", 0)
    for what in ("worker_crashes", "worker_is_deleted", "worker_goes"):
        for index in range(1, SIZE):
            lives.step(what, index)
    lives.step("statefulset_goes", 0)
    membership = BLANK
    for change in lives.changes:
        membership = told(membership, change)
    assert not lives.lost
    assert membership.losses == ()
    assert not is_lost(membership, lives)


@given(HISTORIES)
def test_what_is_told_of_a_loss_stays_while_its_leader_lives(
    history: list[tuple[str, int]],
) -> None:
    membership, before, leader = BLANK, None, None
    for change in lived(history).changes:
        membership = told(membership, change)
        if membership.leader is None:
            continue
        pod = a_pod(uid=membership.leader)
        loss = group_facts(with_membership(membership, leader=pod)).loss
        if before is not None and leader == membership.leader:
            assert loss == before
        before, leader = loss, membership.leader


# After start: restarts are told by their times.

TIMES = st.integers(1, 50)
TIMELINES = st.lists(st.tuples(TIMES, st.lists(TIMES, max_size=3)), min_size=SIZE, max_size=SIZE)
AFTER_START = a_set(policy="RecreateGroupAfterStart")


def pod_at(index: int, starts: int, restarts: list[int]) -> Any:
    """A pod that began to run at `starts`, and what it shows after these restarts."""
    make = a_pod if index == 0 else lambda **changes: a_worker(index, **changes)
    if starts < 0:
        return make(phase="Pending", containers=[container(started=None)])
    last = at(restarts[-1]) if restarts else None
    return make(
        containers=[container(started=last or at(starts), restarted=len(restarts), finished=last)]
    )


def states_of(index: int, timeline: tuple[int, list[int]]) -> list[Any]:
    """What a pod shows, one after the other."""
    starts, restarts = timeline[0], sorted(timeline[0] + after for after in timeline[1])
    running = [pod_at(index, starts, restarts[:count]) for count in range(len(restarts) + 1)]
    return [pod_at(index, -1, []), *running]


@given(TIMELINES, st.lists(st.integers(0, SIZE - 1), max_size=30))
def test_restarts_count_by_their_time_in_whatever_order_kubelets_tell_of_them(
    timelines: list[tuple[int, list[int]]], order: list[int]
) -> None:
    states = [states_of(index, timeline) for index, timeline in enumerate(timelines)]
    shown = [of_one.pop(0) for of_one in states]
    group = a_group(lws=AFTER_START, leader=shown[0], workers=tuple(shown[1:]))
    membership = group.membership
    rest = [index for index in range(SIZE) for _ in range(10)]
    for index in (*order, *rest):
        if states[index]:
            new = states[index].pop(0)
            membership = after_pod(membership, old=shown[index], new=new)
            shown[index] = new
    began = max(starts for starts, _ in timelines)
    counts = any(starts + after >= began for starts, ends in timelines for after in ends)
    final = a_group(lws=AFTER_START, leader=shown[0], workers=tuple(shown[1:]))
    assert (group_facts(final).loss is not None) is counts
    seen = with_membership(membership, lws=AFTER_START, leader=shown[0])
    assert (group_facts(seen).loss is not None) is counts
