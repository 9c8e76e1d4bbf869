"""Which tests of control planes run in one process, since they share them."""

import pytest

from tests.scheduling import scope_of


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("leaderworkerset/test_rollout_update.py::test_a[real-gate-on-1-2]", "real gate-on"),
        ("leaderworkerset/test_groups_shape.py::test_a[real-gate-off]", "real gate-off"),
        ("leaderworkerset/test_gang.py::test_a[sandbox]", "sandbox leaderworkerset/test_gang"),
        ("disaggregatedset/test_kills.py::test_a[sandbox-1]", "sandbox disaggregatedset"),
        ("test_client.py::test_a[real-a-1]", "real shared"),
        ("test_run.py::test_a[sandbox]", "sandbox spare"),
        ("test_faults.py::test_a[real-all of it]", "real faults"),
        ("test_up.py::test_a", "tests/integration/test_up.py"),
    ],
)
def test_tests_that_share_a_control_plane_stay_together(nodeid: str, scope: str) -> None:
    assert scope_of(f"tests/integration/{nodeid}") == scope


def test_other_tests_stay_with_their_file() -> None:
    nodeid = "tests/conformance/cluster/test_life.py::test_a[real]"
    assert scope_of(nodeid) == "tests/conformance/cluster/test_life.py"
