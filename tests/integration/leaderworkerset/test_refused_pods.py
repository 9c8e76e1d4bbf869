"""Pods that the API server refuses: `lws status` says why they are missing."""

import os

import pytest
from click.testing import CliRunner

from harness.kube import Json
from lws.cli import main
from tests.integration.leaderworkerset.manifests import NAME
from tests.integration.leaderworkerset.worlds import World

pytestmark = pytest.mark.timeout(300)


def _quota(world: World, **hard: str) -> None:
    spec: Json = {"hard": {key.replace("_", "/", 1): value for key, value in hard.items()}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}}
    world.kube.create({**quota, "spec": spec}, world.namespace)
    world.until_quota_is_known("small")


def _status(world: World) -> str:
    environment = {**os.environ, "KUBECONFIG": str(world.plane.admin_kubeconfig)}
    words = ("status", NAME, "-n", world.namespace)
    done = CliRunner().invoke(main, words, env=environment)
    assert done.exit_code == 1, done.output
    return done.stdout


def _until_told(world: World, *lines: str) -> None:
    world.until(
        lambda: all(line in _status(world) for line in lines), what=f"the status tells {lines}"
    )


def test_a_status_tells_that_a_quota_has_no_room_for_pods(world: World) -> None:
    _quota(world, pods="3")
    world.create(replicas=2, size=3, ready=False)
    _until_told(world, "not made: exceeded quota: small, requested: pods=1, used: pods=3")
    world.kube.delete("resourcequotas", "small", world.namespace)
    world.settle()


def test_a_status_tells_that_a_group_may_have_no_statefulset(world: World) -> None:
    _quota(world, **{"count_statefulsets.apps": "2"})
    world.create(replicas=2, ready=False)
    _until_told(world, "worker 1 not made: their StatefulSet was refused: exceeded quota: small")
    world.kube.delete("resourcequotas", "small", world.namespace)
    world.settle()


def test_a_status_tells_that_a_leader_is_against_the_pod_security_of_its_namespace(
    world: World,
) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    world.kube.patch("namespaces", world.namespace, {"metadata": {"labels": labels}})
    world.create(replicas=1, ready=False)
    _until_told(world, 'group 0: not made: violates PodSecurity "restricted:latest"')
