"""The worlds, real ones started once for each file."""

from collections.abc import Iterator

import pytest

from harness.binaries import MissingError
from harness.controlplane import ControlPlane
from harness.nodes import default_labels
from lws.sandbox.cluster.options import ClusterOptions, NodeSpec
from tests.conformance.cluster.worlds.real import RealWorld
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import World

_CAPACITY = {
    "cpu": "10000",
    "memory": "100Ti",
    "pods": "10000",
    "ephemeral-storage": "100Ti",
    "google.com/tpu": "10000",
    "nvidia.com/gpu": "10000",
}
_BOTH = ("sandbox", pytest.param("real", marks=pytest.mark.real))


def _started(*, gate: bool) -> Iterator[ControlPlane]:
    plane = ControlPlane(max_unavailable_gate=gate)
    try:
        plane.start()
    except MissingError as problem:
        pytest.fail(str(problem), pytrace=False)
    try:
        yield plane
    finally:
        plane.stop()


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """With the feature gate MaxUnavailableStatefulSet off."""
    yield from _started(gate=False)


@pytest.fixture(scope="module")
def gated_plane() -> Iterator[ControlPlane]:
    """With it on."""
    yield from _started(gate=True)


def _sandbox(*, gate: bool) -> SandboxWorld:
    nodes = [
        NodeSpec(name=f"node-{number}", labels=default_labels(number), capacity=_CAPACITY)
        for number in range(8)
    ]
    options = ClusterOptions(max_unavailable_gate=gate)
    return SandboxWorld(nodes=nodes, options=options)


@pytest.fixture(params=_BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Either make, with the gate off."""
    if request.param == "sandbox":
        with _sandbox(gate=False).running() as made:
            yield made
    else:
        with RealWorld(request.getfixturevalue("plane")).running() as real:
            yield real


@pytest.fixture(params=_BOTH)
def gated_world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Either make, with the gate on."""
    if request.param == "sandbox":
        with _sandbox(gate=True).running() as made:
            yield made
    else:
        with RealWorld(request.getfixturevalue("gated_plane")).running() as real:
            yield real


@pytest.fixture
def sandbox() -> Iterator[SandboxWorld]:
    """The sandbox alone."""
    with _sandbox(gate=False).running() as made:
        yield made
