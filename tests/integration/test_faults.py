"""What fails around the operator: the server, the way to it, its own process, its fellows."""

import contextlib
import logging
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from harness import kwok, pods
from harness.kube import Json
from harness.operator import Operator
from harness.plane import OPERATOR, RESTRICTED, Plane
from harness.proxy import CALM, FaultProxy, Faults
from harness.rights import HOME_NAMESPACE
from harness.waiting import eventually
from harness.watching import Recorder
from tests.integration.leaderworkerset.groups import (
    annotated,
    comes_to_rest,
    fail,
    make,
    restarts,
    tracebacks,
    uids,
)
from tests.integration.leaderworkerset.manifests import leader_worker_set, pods_in
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]

_log = logging.getLogger(__name__)
_SLOW_START = annotated(**{kwok.START_AFTER: "1s"})


@pytest.fixture(scope="module")
def own_operator(spare_control_plane: Plane) -> Iterator[Operator]:
    """An operator with nobody between it and the server."""
    with Operator(spare_control_plane) as running:
        yield running


@pytest.fixture
def lone(spare_control_plane: Plane, own_operator: Operator) -> Iterator[World]:
    """A namespace of a control plane that tests may break."""
    if not own_operator.running:
        own_operator.start()
    with World(spare_control_plane, own_operator) as world:
        yield world


def _in_mid_update(world: World) -> None:
    """Begin an update; return when a first group is of the new template."""
    world.push("serve:2")
    world.until(lambda: world.groups_of("serve:2"), what="the update has begun")


def _await_the_end(world: World, **more: Any) -> None:
    world.settle(timeout=150, **more)
    assert not tracebacks(world.operator)


def test_a_server_that_dies_in_mid_update_changes_nothing_of_its_end(lone: World) -> None:
    make(lone, replicas=4, size=2, both=_SLOW_START)
    with lone.watched(floor=3, ceiling=4) as seen:
        _in_mid_update(lone)
        lone.plane.kill_apiserver()
        time.sleep(3)
        assert lone.operator.probe("/healthz") == 200, "it never ends for that"
        lone.plane.start_apiserver()
        lone.plane.refresh_clients()
        _await_the_end(lone)
        assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_a_failure_during_an_outage_is_one_recreation_after_it(lone: World) -> None:
    make(lone, replicas=2, size=2)
    with lone.watched() as seen:
        pid = lone.operator.pid
        os.kill(pid, signal.SIGSTOP)  # what happens now, it sees only in the end
        try:
            fail(lone, "sample-0-1")
            lone.plane.kill_apiserver()
        finally:
            os.kill(pid, signal.SIGCONT)
        lone.plane.start_apiserver()
        lone.plane.refresh_clients()
        lone.until(lambda: seen.created("sample-0-1") == 1, what="the group is recreated")
        _await_the_end(lone)
        assert seen.creations() == seen.deletions() == pods_in([0])
    assert [(row["group"], row["count"]) for row in restarts(lone)] == [(0, 1)]


def test_an_operator_that_is_stopped_for_a_while_goes_on_where_the_world_is(lone: World) -> None:
    make(lone, replicas=4, size=2, both=_SLOW_START)
    with lone.watched(floor=3, ceiling=4) as seen:
        _in_mid_update(lone)
        os.kill(lone.operator.pid, signal.SIGSTOP)
        time.sleep(4)
        os.kill(lone.operator.pid, signal.SIGCONT)
        _await_the_end(lone)
        assert seen.creations() == seen.deletions() == pods_in(range(4))


def test_an_operator_that_is_killed_again_and_again_ends_the_update_all_the_same(
    lone: World,
) -> None:
    make(lone, replicas=4, size=2)
    with lone.watched(floor=3, ceiling=4) as seen:
        lone.push("serve:2")
        for wait in (0.05, 0.2, 0.4):
            time.sleep(wait)
            lone.operator.kill()
            lone.operator.start()
        _await_the_end(lone)
        assert seen.creations() == seen.deletions() == pods_in(range(4))


# Between the operator and the server

_STORMS = {
    "refused": Faults(too_many=0.3, broken=0.1),
    "answers lost": Faults(swallowed=0.5),
    "cut every second": Faults(cut_every=1.0, delay=0.2),
    "all of it": Faults(too_many=0.2, broken=0.1, swallowed=0.2, delay=0.1, cut_every=1.0),
}


@pytest.fixture(scope="module")
def proxy(spare_control_plane: Plane) -> Iterator[FaultProxy]:
    """Between an operator and the server."""
    with FaultProxy(spare_control_plane) as running:
        yield running


@pytest.fixture
def stormy(
    spare_control_plane: Plane, own_operator: Operator, proxy: FaultProxy
) -> Iterator[World]:
    """A namespace whose operator asks through the proxy."""
    own_operator.stop()
    with (
        Operator(spare_control_plane, kubeconfig=proxy.kubeconfig) as operator,
        World(spare_control_plane, operator) as world,
    ):
        try:
            yield world
        finally:
            proxy.faults = CALM


def _lives(seen: Recorder) -> str:
    """What was made and what went, and whose it was."""
    began = seen.changes[0].at
    return "\n".join(
        f"{change.at - began:6.2f} {change.kind} {change.name} {change.uid[:5]} of "
        f"{change.item['metadata']['ownerReferences'][0]['uid'][:5]}, "
        f"deleted {change.item['metadata'].get('deletionTimestamp')}"
        for change in seen.changes
        if change.kind != "MODIFIED" or "deletionTimestamp" in change.item["metadata"]
    )


@pytest.mark.parametrize("storm", list(_STORMS))
def test_a_storm_delays_and_changes_nothing_else(
    stormy: World, proxy: FaultProxy, storm: str
) -> None:
    make(stormy, replicas=3, size=2)
    proxy.counts.clear()
    with stormy.watched(floor=2, ceiling=4) as seen:
        proxy.faults = _STORMS[storm]
        stormy.push("serve:2")
        stormy.kube.create(leader_worker_set("second", replicas=2), stormy.namespace)
        stormy.until(
            lambda: stormy.has_settled() and stormy.has_settled("second"),
            what="both are as wanted, in the storm",
            timeout=150,
        )
        fail(stormy, "sample-1-1")
        stormy.until(
            lambda: seen.created("sample-1-1") == 2, what="recreated in the storm", timeout=150
        )
        stormy.until(lambda: stormy.has_settled(), what="whole again", timeout=150)
        proxy.faults = CALM
        comes_to_rest(stormy)  # watches that backed off are back
        _await_the_end(stormy)
        assert seen.creations() == seen.deletions() == pods_in([0, 1, 1, 2]), _lives(seen)
    assert [(row["group"], row["count"]) for row in restarts(stormy)] == [(1, 1)]
    second = {name for name in uids(stormy) if name.startswith("second")}
    assert {name: stormy.pods.created(name) for name in second} == dict.fromkeys(second, 1)
    suffered = {kind for kind in proxy.counts if kind != "passed"}
    wanted = {
        "refused": {"too many", "broken"},
        "answers lost": {"swallowed"},
        "cut every second": {"cut"},
        "all of it": {"too many", "broken", "swallowed", "cut"},
    }
    assert wanted[storm] <= suffered, proxy.counts


def test_a_server_that_answers_nobody_for_a_while_is_waited_for(
    stormy: World, proxy: FaultProxy
) -> None:
    make(stormy, replicas=2, size=2)
    with stormy.watched(floor=1, ceiling=2) as seen:
        proxy.faults = Faults(silent=True)
        proxy.cut()
        stormy.push("serve:2")
        time.sleep(4)
        assert not seen.creations()
        assert stormy.operator.probe("/healthz") == 200
        proxy.faults = CALM
        _await_the_end(stormy)
        assert seen.creations() == seen.deletions() == pods_in(range(2))


# Two operators, one leader

_ELECTION = {"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}
_LEASES = "leases.coordination.k8s.io"
_LEASE = "b8b2488c.x-k8s.io"


class Pair:
    """Two operators of different users, so that the audit log tells them apart."""

    def __init__(self, plane: Plane, opened: contextlib.ExitStack) -> None:
        self.plane = plane
        election = {"leaderElection": _ELECTION}
        self.leader = opened.enter_context(Operator(plane, leader_elect=True, config=election))
        eventually(self.holder, what="the first leads", timeout=20)
        self.other = opened.enter_context(
            Operator(
                plane,
                leader_elect=True,
                config=election,
                kubeconfig=plane.restricted_kubeconfig,
            )
        )

    def lease(self) -> Json:
        """The lease's spec; empty if there is none."""
        found = self.plane.kube.find(_LEASES, _LEASE, HOME_NAMESPACE) or {}
        spec: Json = found.get("spec", {})
        return spec

    def holder(self) -> str:
        """Who leads; empty: nobody."""
        found: str = self.lease().get("holderIdentity") or ""
        return found

    def seconds_until_taken_over(self, first: str) -> float:
        """How long it takes from now on."""
        began = time.monotonic()
        eventually(
            lambda: self.holder() not in ("", first), what="the other leads", timeout=40, every=0.02
        )
        return time.monotonic() - began


@pytest.fixture
def pair(spare_control_plane: Plane, own_operator: Operator) -> Iterator[Pair]:
    """Two operators; the one without a lease stands by."""
    own_operator.stop()
    kube = spare_control_plane.kube
    kube.delete(_LEASES, _LEASE, HOME_NAMESPACE)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "second-operator"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "User", "name": RESTRICTED, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    kube.apply(binding)
    with contextlib.ExitStack() as opened:
        yield Pair(spare_control_plane, opened)
    kube.delete("clusterrolebindings.rbac.authorization.k8s.io", "second-operator")


def _makes_groups(pair: Pair) -> None:
    """Whoever leads acts."""
    with World(pair.plane, pair.other) as world:
        make(world, replicas=1, size=2)


def test_of_two_operators_only_the_leader_acts_and_both_are_ready(pair: Pair) -> None:
    with (
        World(pair.plane, pair.leader) as world,
        pair.plane.counting(user=RESTRICTED) as other,
        pair.plane.counting(user=OPERATOR) as leader,
    ):
        make(world, replicas=2, size=2)
        world.push("serve:2")
        world.settle()
        assert leader.writes
        assert not other.writes
    assert pair.leader.is_ready()
    assert pair.other.is_ready()


def test_a_leader_that_ends_in_order_hands_over_at_once(pair: Pair) -> None:
    first = pair.holder()
    assert pair.leader.stop() == 0
    seconds = pair.seconds_until_taken_over(first)
    _log.info("taken over after %.1f s", seconds)
    assert seconds < 4, "no longer than the other's next try"
    _makes_groups(pair)


def test_a_leader_that_is_killed_is_followed_once_its_lease_has_run_out(
    pair: Pair,
) -> None:
    first = pair.holder()
    pair.leader.kill()
    seconds = pair.seconds_until_taken_over(first)
    _log.info("taken over after %.1f s", seconds)
    assert 3 < seconds < 15
    _makes_groups(pair)


def test_a_leader_that_slept_past_its_lease_ends_and_does_not_act(pair: Pair) -> None:
    first = pair.holder()
    with World(pair.plane, pair.other) as world:
        make(world, replicas=2, size=2)
        os.kill(pair.leader.pid, signal.SIGSTOP)
        pair.seconds_until_taken_over(first)
        with world.watched(ceiling=2) as seen, world.plane.counting(user=OPERATOR) as old:
            world.push("serve:2")
            pods.fail_container(world.kube, world.namespace, "sample-0-1")
            os.kill(pair.leader.pid, signal.SIGCONT)
            eventually(lambda: not pair.leader.running, what="it has ended", timeout=20)
            world.settle()
            assert max(seen.creations().values()) <= 2
            changed = [one for one in old.writes if one.resource != "events"]
            assert not changed, [f"{one.verb} {one.key} {one.name}" for one in changed]
    assert pair.holder() != first
