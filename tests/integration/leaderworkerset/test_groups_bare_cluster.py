"""A cluster with definitions from before our additions, and an operator without webhooks.

So objects reach the store that nobody looked at, and pods lack what only the webhook sets.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import pods
from harness.kube import Json
from harness.operator import Operator
from harness.plane import MakePlane, Plane
from tests.integration.leaderworkerset.groups import (
    comes_to_rest,
    fail,
    make,
    recreations,
    tracebacks,
    uids,
)
from tests.integration.leaderworkerset.manifests import PREFIX, leader_worker_set, pods_in
from tests.integration.leaderworkerset.worlds import SETS, World

pytestmark = [pytest.mark.timeout(300)]

_DEFINITIONS = Path(__file__).parents[3] / "deploy" / "crds"
_ADDITIONS = ("revisionHistoryLimit", "paused", "progressDeadlineSeconds")


def _without_additions(definition: Json) -> Json:
    """What a cluster has that was set up by the other project."""
    for version in definition["spec"]["versions"]:
        parts = version["schema"]["openAPIV3Schema"]["properties"]
        if definition["spec"]["names"]["kind"] == "LeaderWorkerSet":
            spec = parts["spec"]["properties"]
            for field in _ADDITIONS:
                del spec[field]
            del spec["leaderWorkerTemplate"]["properties"]["maxGroupRestarts"]
            del parts["status"]["properties"]["groupRestarts"]
    return definition


@pytest.fixture(scope="module")
def bare_plane(make_plane: MakePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A control plane with those definitions."""
    folder = tmp_path_factory.mktemp("definitions")
    for file in _DEFINITIONS.glob("*.yaml"):
        definition = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
        text = json.dumps(_without_additions(definition))
        (folder / file.name).write_text(text, encoding="utf-8")
    with make_plane(crds=folder, max_unavailable_gate=False) as plane:
        yield plane


@pytest.fixture(scope="module")
def bare_operator(bare_plane: Plane) -> Iterator[Operator]:
    """An operator without webhooks."""
    with Operator(bare_plane, webhooks=False) as operator:
        yield operator


@pytest.fixture
def bare(bare_plane: Plane, bare_operator: Operator) -> Iterator[World]:
    """A namespace there."""
    with World(bare_plane, bare_operator) as world:
        yield world
        assert not tracebacks(bare_operator)


def test_groups_are_made_updated_and_recreated_there(bare: World) -> None:
    make(bare, replicas=3, size=2)
    with bare.watched(floor=2) as seen:
        bare.push("serve:2")
        bare.settle()
        assert seen.creations() == seen.deletions() == pods_in(range(3))
    with bare.watched(floor=2) as seen:
        fail(bare, "sample-1-1")
        bare.until(lambda: seen.created("sample-1-1") == 1, what="the group is recreated")
        bare.settle()
        pods.force_delete(bare.kube, bare.namespace, "sample-2-1")
        bare.until(lambda: seen.created("sample-2") == 1, what="another is recreated")
        bare.settle()
        assert seen.creations()["sample-1"] == seen.creations()["sample-2"] == 1
        assert not seen.created("sample-0")
    assert "groupRestarts" not in bare.status()
    assert recreations(bare) >= 1


_STRANGE: dict[str, Json] = {
    "words": {"maxSurge": "some", "maxUnavailable": "few"},
    "too much": {"maxSurge": "4000%", "maxUnavailable": "900%"},
    "less than nothing": {"maxSurge": -2, "maxUnavailable": -3},
    "nothing at all": {"maxSurge": 0, "maxUnavailable": 0},
    "no percent": {"maxSurge": "%", "maxUnavailable": "-5%"},
    "huge": {"maxSurge": 2**31 - 1, "maxUnavailable": "99999999999999999999%"},
    "far partition": {"partition": 2**31 - 1},
}


@pytest.mark.parametrize("budget", list(_STRANGE))
def test_budgets_that_no_webhook_saw_are_lived_with(bare: World, budget: str) -> None:
    lws = leader_worker_set(replicas=2)
    lws["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] = _STRANGE[budget]
    bare.kube.create(lws, bare.namespace)
    bare.until(lambda: bare.ready() == {0, 1}, what="the groups are made")
    bare.push("serve:2")
    updated = 0 if budget == "far partition" else 4
    bare.until(lambda: bare.images()["serve:2"] >= updated, what="the update ends")
    bare.until(lambda: len(bare.leaders()) == 2, what="no group more than wanted")
    comes_to_rest(bare)


def _spec(**parts: Any) -> Json:
    lws = leader_worker_set(replicas=2)
    lws["spec"] |= parts
    return lws


_IMPOSSIBLE = {
    "a name too long for labels": _spec() | {"metadata": {"name": "x" * 70}},
    "a template without containers": _spec(
        leaderWorkerTemplate={"size": 2, "workerTemplate": {"spec": {"containers": []}}}
    ),
    "claims without a name": _spec(
        leaderWorkerTemplate=leader_worker_set()["spec"]["leaderWorkerTemplate"]
        | {"volumeClaimTemplates": [{"spec": {}}]}
    ),
}


@pytest.mark.parametrize("what", list(_IMPOSSIBLE))
def test_what_cannot_be_done_is_told_once_and_makes_no_hot_loop(bare: World, what: str) -> None:
    manifest = _IMPOSSIBLE[what]
    name = manifest["metadata"]["name"]
    bare.kube.create(manifest, bare.namespace)
    bare.until(
        lambda: bare.condition("Progressing", name).get("reason") == "ApplyFailed", what="told"
    )
    assert bare.condition("Progressing", name)["status"] == "False"
    assert bare.condition("Progressing", name)["message"]
    assert bare.events("FailedCreate", name)
    make(bare, name="fine")
    time.sleep(2)
    with bare.counting() as count:
        time.sleep(5)
        asked = [one for one in count.requests if one.namespace == bare.namespace]
    assert len(asked) <= 12, [f"{one.verb} {one.key} {one.name}" for one in asked]


def test_a_set_of_no_groups_and_one_without_a_template_for_leaders(bare: World) -> None:
    template = {"workerTemplate": {"spec": {"containers": [{"name": "a", "image": "a:1"}]}}}
    lws = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "least"},
        "spec": {"replicas": 0, "leaderWorkerTemplate": template},
    }
    bare.kube.create(lws, bare.namespace)
    bare.until(lambda: bare.is_true("Available", "least"), what="nothing is there, as wanted")
    bare.kube.patch(SETS, "least", {"spec": {"replicas": 2}}, bare.namespace, subresource="scale")
    bare.until(lambda: set(uids(bare)) == {"least-0", "least-1"}, what="groups of one")
    bare.until(lambda: bare.is_true("Available", "least"), what="they are ready")
    comes_to_rest(bare)
    selector = f"{PREFIX}name=least,{PREFIX}worker-index=0"
    assert bare.status("least")["hpaPodSelector"] == selector
