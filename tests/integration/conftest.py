"""A control plane for a whole session, a namespace for each test.

Nothing here skips: where the control plane's programs are missing, the tests fail and say what to
run. With xdist each worker has a control plane of its own.
"""

import secrets
from collections.abc import Generator, Iterator

import pytest

from harness.binaries import MissingError
from harness.controlplane import ControlPlane
from harness.kube import Kube
from harness.operator import Operator, open_operators


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows what the operators said."""
    report = yield
    if report.failed:
        for operator in open_operators():
            report.sections.append((f"log of {operator.name}", operator.log_tail()))
    return report


def _running(plane: ControlPlane) -> Iterator[ControlPlane]:
    try:
        plane.start()
    except MissingError as problem:
        pytest.fail(str(problem), pytrace=False)
    try:
        yield plane
    finally:
        plane.stop()


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """The control plane with the feature gate MaxUnavailableStatefulSet off."""
    yield from _running(ControlPlane(max_unavailable_gate=False))


@pytest.fixture(scope="session")
def gated_control_plane() -> Iterator[ControlPlane]:
    """Another with the feature gate MaxUnavailableStatefulSet on; starts when first asked for."""
    yield from _running(ControlPlane(max_unavailable_gate=True))


@pytest.fixture(scope="session")
def spare_control_plane() -> Iterator[ControlPlane]:
    """One for tests that break it, or that bring several operators."""
    yield from _running(ControlPlane(max_unavailable_gate=False))


@pytest.fixture(scope="session")
def operator(control_plane: ControlPlane) -> Iterator[Operator]:
    """The operator with its webhooks; for tests that leave it running as it is."""
    with Operator(control_plane) as running:
        yield running


@pytest.fixture(scope="session")
def gated_operator(gated_control_plane: ControlPlane) -> Iterator[Operator]:
    """The operator on the gated control plane."""
    with Operator(gated_control_plane) as running:
        yield running


@pytest.fixture
def kube(control_plane: ControlPlane) -> Kube:
    """The administrator's client."""
    return control_plane.kube


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A new namespace, deleted after the test."""
    yield from _namespace(control_plane.kube)


@pytest.fixture
def gated_namespace(gated_control_plane: ControlPlane) -> Iterator[str]:
    """A new namespace of the gated control plane, deleted after the test."""
    yield from _namespace(gated_control_plane.kube)


def _namespace(kube: Kube) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    if kube.is_ready():  # a test may have left the server dead
        kube.delete("namespaces", name)
        kube.delete_all("pods", name, grace=0)  # held and stuck pods would keep the namespace
