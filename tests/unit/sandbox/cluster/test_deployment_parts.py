"""Deployments: which pods go first, who gets how many, what is remembered. By plain calls."""

from typing import Any

import pytest

from lws.base.times import format_time
from lws.sandbox.cluster.deployment import revisions
from lws.sandbox.cluster.deployment.proportions import shared_out
from lws.sandbox.cluster.deployment.rollout import new_size, old_sizes
from lws.sandbox.cluster.deployment.sizes import max_surge, max_unavailable
from lws.sandbox.cluster.replicaset.preference import surplus

Json = dict[str, Any]
NOW = 1_000_000.0


def deployment(replicas: int = 3, surge: int | str = 1, unavailable: int | str = 0) -> Json:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "uid": "d", "annotations": {"a": "b"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}},
        },
        "status": {},
    }


def replica_set(
    name: str, replicas: int, available: int | None = None, *, most: int = 0, age: int = 0
) -> Json:
    annotations = {"deployment.kubernetes.io/max-replicas": str(most)} if most else {}
    created = format_time(NOW - age)
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": created,
            "annotations": annotations,
        },
        "spec": {"replicas": replicas, "template": {"spec": {"containers": []}}},
        "status": {"availableReplicas": replicas if available is None else available},
    }


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "bounds"),
    [
        (10, "25%", "25%", (3, 2)),
        (3, "25%", "25%", (1, 0)),
        (3, 0, "25%", (0, 1)),
        (0, "25%", "25%", (0, 0)),
        (2, 0, 5, (0, 2)),
    ],
)
def test_surge_is_rounded_up_and_unavailable_down_and_one_of_them_is_something(
    replicas: int, surge: int | str, unavailable: int | str, bounds: tuple[int, int]
) -> None:
    made = deployment(replicas, surge, unavailable)
    assert (max_surge(made), max_unavailable(made)) == bounds


def test_the_new_set_grows_into_the_surge() -> None:
    old, new = replica_set("old", 3), replica_set("new", 0)
    assert new_size(deployment(), [old, new], 0) == 1
    assert new_size(deployment(), [old, replica_set("new", 1)], 1) == 1
    assert new_size(deployment(), [replica_set("old", 1), replica_set("new", 1)], 1) == 3


def test_old_pods_go_as_new_ones_are_available_and_unhealthy_ones_first() -> None:
    old, waiting = replica_set("old", 3), replica_set("new", 1, 0)
    assert old_sizes(deployment(), [old], waiting) == {}
    assert old_sizes(deployment(), [old], replica_set("new", 1)) == {"old": 2}
    ill, well = replica_set("ill", 2, 0, age=5), replica_set("well", 3, age=9)
    found = old_sizes(deployment(4, 1, 1), [ill, well], replica_set("new", 0))
    assert found == {"well": 3, "ill": 0}, "both unhealthy ones; three healthy ones are needed"


@pytest.mark.parametrize(
    ("before", "replicas", "after"),
    [
        ({"old": 8, "new": 5}, 15, {"old": 11, "new": 7}),
        ({"old": 11, "new": 7}, 5, {"old": 5, "new": 3}),
        ({"old": 5, "new": 5}, 0, {"old": 0, "new": 0}),
    ],
)
def test_a_change_of_size_is_shared_out_by_size(
    before: dict[str, int], replicas: int, after: dict[str, int]
) -> None:
    most = sum(before.values())
    ages = {"old": 10, "new": 1}
    sets = [replica_set(name, size, most=most, age=ages[name]) for name, size in before.items()]
    found = dict(shared_out(deployment(replicas, 3, 2), sets))
    assert sum(found.values()) == (replicas + 3 if replicas else 0)
    assert found == after


def test_a_revision_that_comes_back_remembers_what_it_was() -> None:
    made = revisions.made_set(deployment(), 1, 3)
    present = {**made, "metadata": {**made["metadata"], "uid": "1"}}
    assert revisions.is_of_template(present, deployment())
    again = revisions.updated_set(deployment(), present, 3)
    annotations = again["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "3"
    assert annotations["deployment.kubernetes.io/revision-history"] == "1"
    assert revisions.updated_set(deployment(), again, 2) is again, "an older number is no news"


def pod(
    name: str, *, node: str = "n", ready: int | None = 60, cost: str = "", restarts: int = 0
) -> Json:
    """`ready`: for how many seconds it has been."""
    cost_words = {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {}
    since = format_time(NOW - (ready or 0))
    ready_word = "False" if ready is None else "True"
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "creationTimestamp": format_time(NOW - 3600),
            "annotations": cost_words,
        },
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready_word, "lastTransitionTime": since}],
            "containerStatuses": [{"restartCount": restarts}],
        },
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pod("z", node=""), pod("a", ready=None)),
        (pod("z", ready=None), pod("a", cost="-9")),
        (pod("z", cost="-1"), pod("a")),
        (pod("z", cost="1", ready=1), pod("a", cost="2", ready=1)),
        (pod("z", ready=1), pod("a", ready=1000)),
        (pod("z", restarts=3), pod("a", restarts=1)),
        (pod("a", ready=600), pod("z", ready=601)),
    ],
    ids=["no node", "unready", "cheap", "cheaper", "fresh", "restarted", "alike: by UID"],
)
def test_the_pod_that_is_worth_less_goes_first(first: Json, second: Json) -> None:
    for pods in ([first, second], [second, first]):
        assert surplus(pods, pods, 1, NOW) == [first]


def test_the_fullest_node_gives_first() -> None:
    alone, crowded, other = pod("a", node="x"), pod("b", node="y"), pod("c", node="y")
    assert surplus([alone, crowded], [alone, crowded, other], 1, NOW) == [crowded]


def test_a_cost_that_is_no_number_counts_as_none() -> None:
    cheap, odd = pod("z", cost="-1"), pod("a", cost="-1.5")
    assert surplus([odd, cheap], [], 1, NOW) == [cheap]
