"""The roles and bindings that a cluster begins with are those of a real one, word for word."""

import json

import pytest

from harness.kube import Kube
from lws.runtime.clock import RealClock
from lws.sandbox.server import Server
from lws.sandbox.server.authorization.bootstrap import bootstrap_objects
from tests.conformance.server.comparing import differences, meaning

pytestmark = pytest.mark.real

OF_PARTS = ("system:controller:", "system:node", "system:kube", "system:certificates.k8s.io:")
"""Roles of the cluster's own parts, and of addons."""
OTHERS = ("system:heapster", "system:persistent-volume-provisioner", "system:volume-scheduler")


def test_every_one_is_the_same(quiet_kube: Kube) -> None:
    server = Server(clock=RealClock())
    for key, _ in bootstrap_objects():
        ours = server.store.get(key)
        plural = key.resource.partition("/")[2]
        real = quiet_kube.get(plural, key.name, key.namespace or None)
        assert list(differences(_compared(real), _compared(ours))) == [], key


def _compared(obj: object) -> object:
    return meaning(json.dumps(obj))


def test_none_is_missing_but_those_of_the_cluster_s_own_parts(quiet_kube: Kube) -> None:
    ours = {key.name for key, _ in bootstrap_objects()}
    found = {
        item["metadata"]["name"]
        for item in quiet_kube.items("clusterroles")
        if item["metadata"].get("labels", {}).get("kubernetes.io/bootstrapping")
    }
    missing = {name for name in found - ours if not name.startswith(OF_PARTS)}
    assert missing == set(OTHERS)
