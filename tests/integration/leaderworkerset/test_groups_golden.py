"""Pods carry what they carry under the public controller: its manifests, applied to ours."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.kube import Json
from tests.integration.leaderworkerset.worlds import World

pytestmark = [pytest.mark.timeout(300)]

_CLUSTERS = Path(__file__).parents[2] / "golden" / "clusters"
_STATES = (
    *("lws-plain", "lws-leader-template", "lws-unique-per-replica", "lws-subgroups"),
    "lws-exclusive",
)
_HASHES = ("template-revision-hash", "controller-revision-hash", "group-key")
_OF_NODES = "topology.kubernetes.io/"
"""Labels that the API server copies from a pod's node."""


def _read(state: str, kind: str) -> list[Json]:
    found: list[Json] = json.loads((_CLUSTERS / state / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def _pods(state: str) -> dict[str, Json]:
    return {pod["metadata"]["name"]: pod for pod in _read(state, "pods")}


def _identity(pod: Json, namespace: str) -> Any:
    """What a pod tells of itself, in words of the namespace of the golden worlds."""
    meta, spec = pod["metadata"], pod["spec"]
    labels = meta["labels"]
    told = {
        "labels": {
            key: labels[key]
            for key in labels
            if not key.endswith(_HASHES) and not key.startswith(_OF_NODES)
        },
        "annotations": meta.get("annotations", {}),
        "affinity": spec.get("affinity"),
        "selector": sorted(spec.get("nodeSelector", {})),
        "names": [spec["hostname"], spec["subdomain"]],
        "environment": [one.get("env") for one in _containers(spec)],
    }
    key = labels["leaderworkerset.sigs.k8s.io/group-key"]
    text = json.dumps(told, sort_keys=True).replace(key, "GROUP-KEY")
    return json.loads(text.replace(f".{namespace}", ".golden").replace('"rack"', '"RACK"'))


def _containers(spec: Json) -> Iterator[Json]:
    yield from spec.get("initContainers", [])
    yield from spec["containers"]


@pytest.mark.parametrize("state", _STATES)
def test_pods_carry_what_they_carry_under_the_public_controller(world: World, state: str) -> None:
    for manifest in _read(state, "manifests"):
        text = json.dumps(manifest).replace('"golden"', f'"{world.namespace}"')
        text = text.replace('"rack"', '"topology.test.lws/rack"')
        world.kube.create(json.loads(text), world.namespace)
    golden = _pods(state)
    world.until(lambda: set(world.pods.live()) == set(golden), what="as many pods")
    for name, pod in world.pods.live().items():
        ours = json.dumps(_identity(pod, world.namespace))
        ours = ours.replace('"topology.test.lws/rack"', '"RACK"')
        assert json.loads(ours) == _identity(golden[name], "golden")
        leader = "-".join(name.split("-")[:2])
        expected = hashlib.sha1(f"{world.namespace}/{leader}".encode()).hexdigest()
        assert pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-key"] == expected
