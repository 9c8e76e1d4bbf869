"""A control plane without controllers: nobody but the test writes."""

import secrets
from collections.abc import Iterator

import pytest

from harness.binaries import MissingError
from harness.controlplane import ControlPlane
from harness.kube import Kube
from tests.conformance.patching.bodies import WIDGET_CRD


@pytest.fixture(scope="session")
def quiet_plane() -> Iterator[ControlPlane]:
    """etcd and API server, with our definitions."""
    plane = ControlPlane(nodes=0, controllers=False, scheduler=False, kubelets=False)
    try:
        plane.start()
    except MissingError as problem:
        pytest.fail(str(problem), pytrace=False)
    try:
        yield plane
    finally:
        plane.stop()


@pytest.fixture(scope="session")
def quiet_kube(quiet_plane: ControlPlane) -> Kube:
    """The administrator's client."""
    return quiet_plane.kube


@pytest.fixture(scope="session")
def patch_kube(quiet_kube: Kube) -> Kube:
    """The administrator's client, where widgets are defined."""
    quiet_kube.create(WIDGET_CRD)
    return quiet_kube


@pytest.fixture
def quiet_namespace(quiet_kube: Kube) -> str:
    """A new namespace; it stays, as there is nobody to empty it."""
    name = f"conformance-{secrets.token_hex(4)}"
    quiet_kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name
