"""A change-over: golden worlds restored past the API server, checked, taken over."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.kube import Json
from harness.operator import Operator
from harness.plane import RESTRICTED, Plane
from harness.waiting import NotYetError, eventually
from tests.golden.worlds import NAMESPACE, STORED, load

pytestmark = [pytest.mark.timeout(240)]

WORLDS = (
    "lws-plain",
    "lws-unique-per-replica",
    "lws-exclusive",
    "lws-canary-held",
    "lws-mid-update-surge",
    "ds-at-rest",
)
WATCHED = ("pods", "statefulsets", "services", "controllerrevisions", "leaderworkersets")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "migrate.md"


def reader() -> Json:
    """The role that the page says is enough."""
    block = PAGE.read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    role: Json = yaml.safe_load(block)
    return role


@pytest.fixture(scope="module")
def restored(spare_control_plane: Plane) -> Iterator[Plane]:
    """A cluster that the public controller has just left."""
    plane = spare_control_plane
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    plane.kube.create(space)
    plane.restore(
        (plural, {"apiVersion": STORED[plural].api_version, "kind": STORED[plural].kind, **one})
        for world in WORLDS
        for plural, documents in load(world).items()
        for one in documents
    )
    yield plane
    plane.kube.delete("namespaces", NAMESPACE)
    plane.kube.delete_all("pods", NAMESPACE, grace=0)


def everything(plane: Plane) -> dict[tuple[str, str], str]:
    return {
        (resource, one["metadata"]["name"]): one["metadata"]["resourceVersion"]
        for resource in WATCHED
        for one in plane.kube.items(resource, NAMESPACE)
    }


def check(plane: Plane, *arguments: str) -> tuple[int, Any]:
    command = [sys.executable, "-m", "lws", "check", "cluster", "-o", "json", *arguments]
    kubeconfig = ["--kubeconfig", str(plane.restricted_kubeconfig)]
    done = subprocess.run(
        [*command, *kubeconfig], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_the_check_only_reads_and_finds_nothing_to_do(restored: Plane) -> None:
    user = {"kind": "User", "name": RESTRICTED, "apiGroup": "rbac.authorization.k8s.io"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "lws-check"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "lws-check",
        },
        "subjects": [user],
    }
    for item in (reader(), binding):
        restored.kube.apply(item)
    with restored.counting(RESTRICTED) as count:
        code, report = check(restored, "-n", NAMESPACE)
    assert report["findings"] == []
    assert code == 0
    assert report["found"]["counts"]["LeaderWorkerSet"] == 7
    assert {request.verb for request in count.requests} == {"get", "list"}
    assert {request.code for request in count.requests} <= {200, 404}


def test_what_rests_is_not_touched_and_what_was_under_way_goes_on(
    restored: Plane,
) -> None:
    kube = restored.kube
    before = everything(restored)
    uids = {one["metadata"]["uid"] for one in kube.items("pods", NAMESPACE)}
    with restored.counting() as count, Operator(restored) as operator:
        with pytest.raises(NotYetError):
            eventually(lambda: everything(restored) != before, timeout=6, every=0.5)
        # Namespaces of other tests may still be on their way out.
        assert [one for one in count.writes if one.namespace in ("", NAMESPACE)] == []
        assert {one["metadata"]["uid"] for one in kube.items("pods", NAMESPACE)} == uids
        template = kube.get("statefulsets", "surging", NAMESPACE)["spec"]["template"]
        for node in restored.nodes:
            kube.patch("nodes", node, {"metadata": {"labels": {"nowhere": "x"}}})
        eventually(lambda: _is_rolled(restored), timeout=90, what="the update has ended")
        leader = kube.get("statefulsets", "surging", NAMESPACE)
        assert leader["spec"]["template"] == template
        others = {
            one["metadata"]["uid"]
            for one in kube.items("pods", NAMESPACE)
            if not one["metadata"]["name"].startswith("surging-")
        }
        assert others < uids
        assert operator.running
        _assert_the_way_back_is_open(restored)


def _assert_the_way_back_is_open(plane: Plane) -> None:
    """A set made by us: its revision comes back from a real server as the other would spell it."""
    container = {"name": "serve", "image": "serve:1", "args": ["a<b"]}
    limits = {"limits": {"cpu": "1000m", "memory": "1024Mi"}}
    first = {**container, "name": "load", "resources": limits}
    worker = {"spec": {"containers": [container], "initContainers": [first]}}
    plane.kube.create(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "ours", "namespace": NAMESPACE},
            "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": worker}},
        }
    )

    def is_ready() -> bool:
        status = plane.kube.get("leaderworkersets", "ours", NAMESPACE).get("status", {})
        return bool(status.get("readyReplicas") == 1)

    eventually(is_ready, timeout=60, what="the set is ready")
    _, report = check(plane, "--back", "-n", NAMESPACE)
    assert [one for one in report["findings"] if one["topic"] == "way back"] == []
    assert report["found"]["counts"]["LeaderWorkerSet"] == 8


def _is_rolled(plane: Plane) -> bool:
    lws = plane.kube.get("leaderworkersets", "surging", NAMESPACE)
    status = lws["status"]
    counts = [status.get(f"{name}eplicas") for name in ("r", "readyR", "updatedR")]
    leaders = plane.kube.get("statefulsets", "surging", NAMESPACE)
    return counts == [4, 4, 4] and leaders["spec"]["replicas"] == 4
