"""The judge finds what it is there for: each rule is broken once, by hand."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from lws.api import names
from lws.client import requests
from lws.client.requests import PatchType, Request
from lws.client.resources import LEADERWORKERSETS, LEASES, PODS, SERVICES, STATEFULSETS, Resource
from lws.client.responses import Response
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import Server
from lws.sandbox.server.kinds import Kind
from lws.simulation.acts import ACTING, Act
from lws.simulation.judge.judge import Judge

PLACE: dict[str, Any] = {"namespace": "default", "name": "a"}
LWS_UID, STATEFULSET_UID = "lws-uid", "sts-uid"
Json = dict[str, Any]


class Bench:
    """A judge, and an operator called `a/1` that leads and does what a test makes it do."""

    def __init__(self) -> None:
        self.clock = VirtualClock(autojump=False)
        self.judge = Judge(self.clock)
        self._registry = Server(clock=self.clock).world.registry
        self.write(LEASES, {"metadata": PLACE, "spec": {"holderIdentity": "a/1"}})
        lws = meta("a", LWS_UID) | {"spec": spec()}
        self.write(LEADERWORKERSETS, lws)
        self.write(STATEFULSETS, leaders())
        for index in range(3):
            self.write(PODS, leader(index))
        self.clock.advance(600.0)

    def write(self, resource: Resource, new: Json | None, old: Json | None = None) -> None:
        """By anybody."""
        kind: Kind | None = self._registry.find_kind(resource.api_version, resource.kind)
        if kind is None:
            kind = Custom(resource)  # type: ignore[assignment]  # all that a judge asks of it
        assert kind is not None
        self.judge.on_write(kind, new, old)

    def act(
        self, resource: Resource, request: Request, new: Json | None, old: Json | None = None
    ) -> list[str]:
        """By the operator; the rules that it broke."""
        act = Act("a/1", request, self.clock.monotonic(), 6.0, is_late=False)
        token = ACTING.set(act)
        try:
            self.judge.on_send(act)
            self.write(resource, new, old)
        finally:
            ACTING.reset(token)
        return [one.rule for one in self.judge.violations]


class Custom:
    """A kind of ours: the registry knows them only once their definitions are there."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource


def meta(name: str, uid: str, owner: str = "", **labels: str) -> Json:
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {
        "metadata": {
            "namespace": "default",
            "name": name,
            "uid": uid,
            "labels": labels,
            "ownerReferences": owners,
        }
    }


def spec(**changes: Any) -> Json:
    budgets = {"maxSurge": 1, "maxUnavailable": 1}
    return {
        "replicas": 3,
        "leaderWorkerTemplate": {"size": 1},
        "rolloutStrategy": {"rollingUpdateConfiguration": budgets},
        **changes,
    }


def leaders(*, replicas: int = 3, partition: int = 0, key: str = "old") -> Json:
    labels = {names.NAME: "a", names.REVISION_KEY: key}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    workload = meta("a", STATEFULSET_UID, LWS_UID, **labels)
    workload["metadata"]["annotations"] = {names.REPLICAS: "3"}
    return workload | {
        "spec": {
            "replicas": replicas,
            "updateStrategy": strategy,
            "template": {"metadata": {"labels": labels}},
        }
    }


def leader(index: int, *, restarts: int = 0) -> Json:
    labels = {
        names.NAME: "a",
        names.GROUP_INDEX: str(index),
        names.WORKER_INDEX: "0",
        names.REVISION_KEY: "old",
    }
    ready = {"type": "Ready", "status": "True"}
    return meta(f"a-{index}", f"a-{index}-uid", STATEFULSET_UID, **labels) | {
        "spec": {},
        "status": {
            "phase": "Running",
            "conditions": [ready],
            "containerStatuses": [{"restartCount": restarts}],
        },
    }


def deletion(name: str, uid: str | None) -> Request:
    return requests.delete(PODS, namespace="default", name=name, uid=uid)


def apply(body: Mapping[str, Any], uid: str = STATEFULSET_UID) -> Request:
    sent = {**body, "metadata": {**body["metadata"], "uid": uid}}
    return requests.apply(STATEFULSETS, **PLACE, body=sent, field_manager="lws")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_an_update_within_its_bounds_breaks_nothing(bench: Bench) -> None:
    new = leaders(replicas=4, partition=2, key="new")
    assert bench.act(STATEFULSETS, apply(new), new, leaders()) == []


def test_more_groups_taken_than_may_be_away_is_a_breach(bench: Bench) -> None:
    new = leaders(partition=1, key="new")
    assert bench.act(STATEFULSETS, apply(new), new, leaders()) == ["availability"]


@pytest.mark.parametrize(("seconds", "rules"), [(1.0, []), (60.0, ["availability"])])
def test_a_failure_excuses_a_write_only_while_it_may_be_news(
    bench: Bench, seconds: float, rules: list[str]
) -> None:
    broken = leader(1)
    broken["status"]["conditions"] = []
    bench.write(PODS, broken, leader(1))
    bench.clock.advance(seconds)
    new = leaders(partition=2, key="new")
    assert bench.act(STATEFULSETS, apply(new), new, leaders()) == rules


@pytest.mark.parametrize(("surge", "rules"), [(0, []), (1, ["availability"])])
def test_a_ready_group_beyond_the_surge_of_today_goes_whatever_else_is_broken(
    bench: Bench, surge: int, rules: list[str]
) -> None:
    bench.write(PODS, leader(3))
    for index in (0, 1):
        broken = leader(index)
        broken["status"]["conditions"] = []
        bench.write(PODS, broken, leader(index))
    bench.clock.advance(60.0)
    budgets = {"maxSurge": surge, "maxUnavailable": 1}
    changed = spec(rolloutStrategy={"rollingUpdateConfiguration": budgets})
    lws = meta("a", LWS_UID)
    bench.write(LEADERWORKERSETS, lws | {"spec": changed}, lws | {"spec": spec()})
    before, after = leaders(replicas=4, partition=4), leaders(replicas=3, partition=3)
    assert bench.act(STATEFULSETS, apply(after), after, before) == rules


def test_more_groups_than_the_surge_allows_is_a_breach(bench: Bench) -> None:
    new = leaders(replicas=5)
    assert bench.act(STATEFULSETS, apply(new), new, leaders()) == ["surge"]


def test_a_leader_that_lost_nothing_is_not_deleted(bench: Bench) -> None:
    rules = bench.act(PODS, deletion("a-1", "a-1-uid"), None, leader(1))
    assert rules == ["no healthy group"]


def test_a_leader_whose_container_ended_is_deleted_once(bench: Bench) -> None:
    bench.write(PODS, leader(1, restarts=1), leader(1))
    assert bench.act(PODS, deletion("a-1", "a-1-uid"), None, leader(1, restarts=1)) == []
    again = leader(1)
    again["metadata"]["uid"] = "another-life"
    bench.write(PODS, again)
    rules = bench.act(PODS, deletion("a-1", "another-life"), None, again)
    assert rules == ["no healthy group"]


def test_a_deletion_without_a_uid_is_a_breach(bench: Bench) -> None:
    bench.write(PODS, leader(1, restarts=1), leader(1))
    rules = bench.act(PODS, deletion("a-1", None), None, leader(1, restarts=1))
    assert rules == ["uid precondition"]


def test_a_change_without_a_uid_is_a_breach(bench: Bench) -> None:
    new = leaders(replicas=4)
    assert bench.act(STATEFULSETS, apply(new, uid=""), new, leaders()) == ["uid precondition"]


def test_whoever_does_not_lead_does_not_write(bench: Bench) -> None:
    bench.write(LEASES, {"metadata": PLACE, "spec": {"holderIdentity": "b/1"}})
    new = leaders(replicas=4)
    assert bench.act(STATEFULSETS, apply(new), new, leaders()) == ["one leader"]


def test_a_foreign_object_is_not_touched(bench: Bench) -> None:
    foreign = meta("a", "foreign-uid", "somebody")
    request = requests.delete(SERVICES, **PLACE, uid="foreign-uid")
    assert bench.act(SERVICES, request, None, foreign) == ["nothing foreign"]


def test_what_a_user_wants_is_not_changed(bench: Bench) -> None:
    old = meta("a", LWS_UID) | {"spec": spec()}
    new = meta("a", LWS_UID) | {"spec": spec(replicas=2)}
    request = requests.patch(LEADERWORKERSETS, **PLACE, body={}, patch_type=PatchType.MERGE)
    assert bench.act(LEADERWORKERSETS, request, new, old) == ["a user's wish"]


def test_a_request_that_will_always_be_refused_is_a_breach(bench: Bench) -> None:
    act = Act("a/1", apply(leaders()), 0.0, 6.0, is_late=False)
    body = orjson.dumps({"kind": "Status", "message": "spec.replicas: must not be negative"})
    bench.judge.on_answer(act, Response(422, {}, body))
    assert [one.rule for one in bench.judge.violations] == ["sound requests"]
