"""Garbage where we read our own words, and objects as large as the store takes."""

import time
from collections.abc import Callable

import pytest

from harness import pods
from harness.kube import Json
from tests.integration.leaderworkerset.groups import (
    comes_to_rest,
    fail,
    make,
    restarts,
    tracebacks,
    uids,
)
from tests.integration.leaderworkerset.manifests import PREFIX, pods_of
from tests.integration.leaderworkerset.worlds import REVISIONS, SETS, World

pytestmark = [pytest.mark.timeout(300)]

_LOOKED_SECONDS = 5.0
_REQUESTS_MAX = 12
"""In that time, of what is left at rest; a hot loop makes hundreds."""


def _patch(world: World, resource: str, name: str, **metadata: Json) -> None:
    world.kube.patch(resource, name, {"metadata": metadata}, world.namespace)


def _of_ours(key: str, value: str | None) -> Json:
    return {PREFIX + key: value}


def _rows(world: World) -> None:
    rows = [
        {"group": -5, "count": 2**31 - 1, "lastTime": "2999-01-01T00:00:00Z", "reason": "?"},
        {"group": 0, "count": -7, "lastTime": "0001-01-01T00:00:00Z"},
        {"group": 1},
        {"group": 2**31 - 1, "count": 1},
    ]
    change = {"status": {"groupRestarts": rows}}
    world.kube.patch(SETS, "sample", change, world.namespace, subresource="status")


def _revision(world: World) -> None:
    """A revision that says nothing that can be read, beside the right one."""
    name = next(iter(world.revisions().values()))["metadata"]["name"]
    item = world.kube.get(REVISIONS, name, world.namespace)
    meta = item["metadata"]
    labels = meta["labels"] | {f"{PREFIX}template-revision-hash": "garbage"}
    garbage = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": "garbage",
            "labels": labels,
            "ownerReferences": meta["ownerReferences"],
        },
        "revision": 7,
        "data": {"spec": {"leaderWorkerTemplate": 5, "networkConfig": [None]}},
    }
    world.kube.create(garbage, world.namespace)


_GARBAGE: dict[str, Callable[[World], None]] = {
    "size of a leader": lambda w: _patch(w, "pods", "sample-0", annotations=_of_ours("size", "x")),
    "huge size of a leader": lambda w: _patch(
        w, "pods", "sample-0", annotations=_of_ours("size", "9" * 400)
    ),
    "no size of a worker": lambda w: _patch(
        w, "pods", "sample-0-1", annotations=_of_ours("size", None)
    ),
    "group of a worker": lambda w: _patch(
        w, "pods", "sample-0-1", labels=_of_ours("group-index", "")
    ),
    "group of a worker StatefulSet": lambda w: _patch(
        w, "statefulsets", "sample-0", labels=_of_ours("group-index", "x")
    ),
    "index of a worker": lambda w: _patch(
        w, "pods", "sample-0-1", labels=_of_ours("worker-index", "0")
    ),
    "index of a leader": lambda w: _patch(
        w, "pods", "sample-0", labels=_of_ours("worker-index", "first")
    ),
    "replicas": lambda w: _patch(
        w, "statefulsets", "sample", annotations=_of_ours("replicas", "-3")
    ),
    "partition": lambda w: _patch(
        w, "statefulsets", "sample", annotations=_of_ours("partition", "9" * 400)
    ),
    "topologies": lambda w: _patch(
        w,
        SETS,
        "sample",
        annotations=_of_ours("exclusive-topology", "") | _of_ours("leader-name", "nobody"),
    ),
    "topology of a leader": lambda w: _patch(
        w, "pods", "sample-0", annotations=_of_ours("exclusive-topology", "not a key!")
    ),
    "a leader that says it is a worker": lambda w: _patch(
        w, "pods", "sample-0", annotations=_of_ours("leader-name", "x")
    ),
    "rows of restarts": _rows,
    "a revision": _revision,
}


_LET_GO = ("group of a worker", "index of a leader")
"""A StatefulSet lets a pod go that its selector no longer selects, and cannot replace it."""


@pytest.mark.parametrize("where", list(_GARBAGE))
def test_garbage_stops_nothing_else_and_makes_no_hot_loop(world: World, where: str) -> None:
    make(world, replicas=2, size=2)
    make(world, replicas=2, size=2, name="other")
    before = len(tracebacks(world.operator))
    _GARBAGE[where](world)
    world.push("serve:2", name="other")
    world.until(lambda: world.has_settled("other"), what="the other set goes on")
    time.sleep(1)
    with world.counting() as count:
        time.sleep(_LOOKED_SECONDS)
        asked = [one for one in count.requests if one.namespace == world.namespace]
    assert len(asked) <= _REQUESTS_MAX, [f"{one.verb} {one.key} {one.name}" for one in asked]
    assert not tracebacks(world.operator)[before:]
    if where not in _LET_GO:
        world.push("serve:3")
        world.until(lambda: world.images()["serve:3"] == 4, what="and its own update ends")
    assert not tracebacks(world.operator)[before:]


def test_rows_of_restarts_that_are_garbage_do_not_keep_a_group_from_being_recreated(
    world: World,
) -> None:
    make(world, replicas=2, size=2)
    _rows(world)
    before = uids(world)["sample-0"]
    fail(world, "sample-0-1")
    world.until(lambda: uids(world).get("sample-0", before) != before, what="it is recreated")
    world.settle()
    assert (0, 1) in [(row["group"], row["count"]) for row in restarts(world)]


def test_a_leader_made_by_hand_is_in_nobodys_way(world: World) -> None:
    make(world, replicas=2, size=2)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "sample-stray-7",
            "labels": {f"{PREFIX}name": "sample", f"{PREFIX}worker-index": "0"},
            "annotations": {f"{PREFIX}size": "2"},
        },
        "spec": {"containers": [{"name": "main", "image": "stray:1"}]},
    }
    before = uids(world)
    world.kube.create(pod, world.namespace)
    world.until(lambda: "sample-stray-7" in uids(world), what="the stray is there")
    comes_to_rest(world)
    assert {name: uid for name, uid in uids(world).items() if name in before} == before
    assert not tracebacks(world.operator)
    pods.force_delete(world.kube, world.namespace, "sample-stray-7")
    world.settle()


def test_a_set_of_a_mebibyte_is_made_and_updated(world: World) -> None:
    container = {
        "name": "serve",
        "image": "serve:1",
        "env": [{"name": "BIG", "value": "x" * 10**6}],
    }
    make(world, replicas=2, size=2, worker={"spec": {"containers": [container]}})
    with world.watched(floor=1):
        container["image"] = "serve:2"
        template = pods_of(image="serve:2") | {
            "workerTemplate": {"spec": {"containers": [container]}}
        }
        world.change({"leaderWorkerTemplate": template})
        world.settle()
    assert world.images()["serve:2"] == 4
    assert world.pods.live()["sample-0-1"]["spec"]["containers"][0]["env"][3]["name"] == "BIG"
    assert not tracebacks(world.operator)
