"""Control planes for a whole session, a namespace for each test.

Every test that asks for a control plane runs on both kinds there are, `sandbox` and `real`. Nothing
here skips: where the real one's programs are missing, its tests fail and say what to run. With
xdist each worker has control planes of its own.
"""

import secrets
from collections.abc import Generator, Iterator

import pytest

from harness.audit import Request
from harness.binaries import MissingError
from harness.controlplane import ControlPlane
from harness.kube import Kube
from harness.operator import Operator, open_operators
from harness.plane import OPERATOR, MakePlane, Plane
from harness.sandbox import SandboxPlane

_KINDS: dict[str, MakePlane] = {"sandbox": SandboxPlane, "real": ControlPlane}
_REAL = pytest.param("real", marks=pytest.mark.real)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "plane_kind" in metafunc.fixturenames:
        metafunc.parametrize("plane_kind", ["sandbox", _REAL], indirect=True, scope="session")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows what the operators said."""
    report = yield
    if report.failed:
        for operator in open_operators():
            report.sections.append((f"log of {operator.name}", operator.log_tail()))
    return report


def _running(plane: Plane, *, is_judged: bool = True) -> Iterator[Plane]:
    """Until the end of the session; then judged by what the operator asked of it."""
    try:
        plane.start()
    except MissingError as problem:
        pytest.fail(str(problem), pytrace=False)
    try:
        yield plane
        beyond = {(one.verb, one.key) for one in plane.audit.requests() if _is_beyond(one)}
    finally:
        plane.stop()
    if is_judged:
        assert beyond == set(), "the operator asked for what the shipped roles do not grant"


def _is_beyond(request: Request) -> bool:
    return request.user == OPERATOR and request.is_forbidden


@pytest.fixture(scope="session")
def plane_kind(request: pytest.FixtureRequest) -> str:
    """`sandbox` or `real`."""
    kind: str = request.param
    return kind


@pytest.fixture(scope="session")
def make_plane(plane_kind: str) -> MakePlane:
    """Makes control planes of this kind."""
    return _KINDS[plane_kind]


@pytest.fixture(scope="session")
def control_plane(make_plane: MakePlane) -> Iterator[Plane]:
    """The control plane with the feature gate MaxUnavailableStatefulSet off."""
    yield from _running(make_plane(max_unavailable_gate=False))


@pytest.fixture(scope="session")
def gated_control_plane(make_plane: MakePlane) -> Iterator[Plane]:
    """Another with the feature gate MaxUnavailableStatefulSet on; starts when first asked for."""
    yield from _running(make_plane(max_unavailable_gate=True))


@pytest.fixture(scope="session")
def spare_control_plane(make_plane: MakePlane) -> Iterator[Plane]:
    """One for tests that break it, or that bring several operators.

    Not judged: an API server that has just started refuses everything until it knows its roles.
    """
    yield from _running(make_plane(max_unavailable_gate=False), is_judged=False)


@pytest.fixture(scope="session")
def operator(control_plane: Plane) -> Iterator[Operator]:
    """The operator with its webhooks; for tests that leave it running as it is."""
    with Operator(control_plane) as running:
        yield running


@pytest.fixture(scope="session")
def gated_operator(gated_control_plane: Plane) -> Iterator[Operator]:
    """The operator on the gated control plane."""
    with Operator(gated_control_plane) as running:
        yield running


@pytest.fixture
def kube(control_plane: Plane) -> Kube:
    """The administrator's client."""
    return control_plane.kube


@pytest.fixture
def namespace(control_plane: Plane) -> Iterator[str]:
    """A new namespace, deleted after the test."""
    yield from _namespace(control_plane.kube)


@pytest.fixture
def gated_namespace(gated_control_plane: Plane) -> Iterator[str]:
    """A new namespace of the gated control plane, deleted after the test."""
    yield from _namespace(gated_control_plane.kube)


def _namespace(kube: Kube) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    if kube.is_ready():  # a test may have left the server dead
        kube.delete("namespaces", name)
        kube.delete_all("pods", name, grace=0)  # held and stuck pods would keep the namespace
