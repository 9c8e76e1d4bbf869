"""Integration tests run on the sandbox and on a real control plane; the few that do not stand here.

A test that is added to the list needs a reason that `docs/limits.md` or the harness gives.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.repo.files import ROOT, tracked
from tests.scheduling import scope_of

REAL_ONLY: dict[str, dict[str, str]] = {}
_FOLDER = "tests/integration/"


def _reason(decorator: ast.expr) -> str | None:
    """Of `@pytest.mark.real_only(reason="…")`."""
    if not isinstance(decorator, ast.Call) or "real_only" not in ast.unparse(decorator.func):
        return None
    return "".join(ast.literal_eval(word.value) for word in decorator.keywords)


def _marked(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                reason = _reason(decorator)
                if reason is not None:
                    yield node.name, reason


def test_only_those_listed_here_do_not_run_on_the_sandbox() -> None:
    found = {}
    for path in tracked():
        if str(path).startswith(_FOLDER) and path.suffix == ".py":
            marked = dict(_marked((ROOT / path).read_text(encoding="utf-8")))
            if marked:
                found[str(path).removeprefix(_FOLDER)] = marked
    assert found == REAL_ONLY


def test_the_mark_stands_on_functions_alone_where_it_is_seen() -> None:
    """On a module or a class it would take more tests away than are listed."""
    for path in tracked():
        if str(path).startswith(_FOLDER) and path.suffix == ".py":
            text = (ROOT / path).read_text(encoding="utf-8")
            assert text.count("mark.real_only") == len(list(_marked(text))), path


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
