"""Which tests of a parallel run stay together: those that share a control plane.

With `--dist loadscope` a scope runs in one process, so a control plane and its operator are
started once, and tests that mostly wait wait together (`tests.integration.leaderworkerset.stage`).
Scopes run side by side: those of the sandbox beside those of the real control plane.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

_INTEGRATION = "tests/integration/"
_KINDS = ("sandbox", "real")
_GATES = ("gate-off", "gate-on")
_ON_THE_SHARED_PLANE = ("test_client", "test_control_plane", "test_examples", "test_meaning")
WHOLE = "scopes_are_whole"
"""In a worker's input: no test of a scope runs elsewhere."""


def scope_of(nodeid: str) -> str:
    """Tests of one scope are never shared out between processes."""
    file, _, test = nodeid.partition("::")
    parameters = test.partition("[")[2].rstrip("]")
    kind = parameters.partition("-")[0]
    if not file.startswith(_INTEGRATION) or kind not in _KINDS:
        return file  # its control planes are the module's, or none
    gate = next((gate for gate in _GATES if parameters.startswith(f"{kind}-{gate}")), None)
    if gate is not None:
        return f"{kind} {gate}"
    name = file.removeprefix(_INTEGRATION).removesuffix(".py")
    if "/" in name:
        return f"{kind} {name if 'leaderworkerset' in name else name.partition('/')[0]}"
    if name in _ON_THE_SHARED_PLANE:
        return f"{kind} shared"
    return f"{kind} {'faults' if name == 'test_faults' else 'spare'}"


class PlaneScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Whole scopes, the largest first."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def is_by_plane(config: pytest.Config) -> bool:
    """Is this the run that keeps control planes together?"""
    return bool(config.getoption("dist", "no") == "loadscope")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> PlaneScheduling | None:
    """Ours for `--dist loadscope`."""
    return PlaneScheduling(config, log) if is_by_plane(config) else None


def pytest_configure_node(node: Any) -> None:
    """Tell each worker."""
    node.workerinput[WHOLE] = is_by_plane(node.config)
