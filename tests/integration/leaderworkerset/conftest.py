"""What tests of this folder ask for: `world`, side by side with others, or `alone`.

Both are a `World` on a control plane with the feature gate MaxUnavailableStatefulSet off; with
the mark `both_gates` the test runs on one with the gate on as well.
"""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from harness.operator import Operator
from harness.plane import Plane
from tests.integration.leaderworkerset.stage import Stage
from tests.integration.leaderworkerset.worlds import World

_PLANES = {
    "gate-off": ("control_plane", "operator"),
    "gate-on": ("gated_control_plane", "gated_operator"),
}
"""The session's operators: a second one on the same control plane would do everything twice."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "both_gates: run with MaxUnavailableStatefulSet off and on")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stage" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_gates") is not None
        names = list(_PLANES) if both else list(_PLANES)[:1]
        metafunc.parametrize("stage", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def stage(request: pytest.FixtureRequest, plane_kind: str) -> Iterator[Stage]:
    """A control plane with an operator, started when first asked for."""
    names = _PLANES[request.param]
    plane: Plane = request.getfixturevalue(names[0])
    operator: Operator = request.getfixturevalue(names[1])
    stage = Stage(plane, operator, {"plane_kind": plane_kind, "stage": request.param})
    try:
        yield stage
    finally:
        stage.close()


@pytest.fixture
def world(stage: Stage, request: pytest.FixtureRequest) -> "Future[None]":
    """For the test a `World`: it is called in a thread (see `stage`), and here is its result."""
    return stage.result(request.node)


@pytest.fixture
def alone(stage: Stage) -> Iterator[World]:
    """A world with nobody beside it, whose operator may be killed."""
    stage.quiet()
    with World(stage.plane, stage.operator) as world:
        yield world
    if not stage.operator.running:
        stage.operator.start()


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test in a thread has run, or runs, already."""
    if "world" not in pyfuncitem.fixturenames:
        return None
    result = pyfuncitem.funcargs["world"]
    assert isinstance(result, Future)
    result.result()
    return True
