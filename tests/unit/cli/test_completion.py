"""Shell completion: scripts, kubectl's plugin, and the words of a live cluster."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lws.api import names
from lws.cli import main
from lws.cli.completion import SHELLS, plugin_lines
from lws.cli.everyday.cluster import Cluster
from lws.client import errors, resources
from lws.client.kubernetes import KubernetesClient, Page
from tests.unit.cli.everyday.objects import lws, pod


def ds() -> dict[str, Any]:
    return {"kind": names.DS_KIND, "metadata": {"name": "chatty", "namespace": "team"}, "spec": {}}


class Fixed(KubernetesClient):
    """Holds a LeaderWorkerSet of two groups, and a DisaggregatedSet."""

    def __init__(self) -> None: ...

    async def get(self, resource: resources.Resource, **_: Any) -> dict[str, Any]:
        if resource is resources.LEADERWORKERSETS:
            return lws()
        raise errors.NotFound('"chat" not found')

    async def list_all(self, resource: resources.Resource, **_: Any) -> Page:
        pods = [pod(group, worker) for group in (10, 2) for worker in range(2)]
        for one in pods:
            one["spec"]["containers"] = [{"name": "main"}, {"name": "side"}]
        held = {
            resources.LEADERWORKERSETS: [lws()],
            resources.DISAGGREGATEDSETS: [ds()],
            resources.PODS: pods,
        }
        return Page(items=held.get(resource, [{"metadata": {"name": "team"}}]))


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[Cluster]:
    """Whom the commands ask; what they were told of the cluster."""
    asked: list[Cluster] = []

    def ask(self: Cluster, ask: Callable[..., Any], *, seconds: float | None = None) -> Any:
        assert seconds is not None
        assert seconds < 1
        asked.append(self)
        found = ask(Fixed(), "team")
        try:
            found.send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError("nothing here waits")

    monkeypatch.setattr(Cluster, "ask", ask)
    return asked


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["tree", ""], ["chat", "chatty"]),
        (["tree", "chatt"], ["chatty"]),
        (["tree", "ds/"], ["ds/chatty"]),
        (["pause", "c"], ["chat"]),
        (["logs", "chat", "--group", ""], ["2", "10"]),
        (["restart", "chat", "--group", "1"], ["10"]),
        (["logs", "chat", "-c", "s"], ["side"]),
        (["get", "-n", "t"], ["team"]),
        (["status", "chat", "-o", "j"], ["json"]),
    ],
)
def test_words_of_a_live_cluster_are_completed(words: list[str], completed: list[str]) -> None:
    assert plugin_lines(words) == [*completed, ":4"]


def test_the_cluster_that_is_named_is_asked(cluster: list[Cluster]) -> None:
    plugin_lines(["tree", "-n", "team", "--context", "far", ""])
    assert cluster == [Cluster("team", None, "far")]


def test_commands_come_with_their_words_and_flags_with_their_help() -> None:
    assert plugin_lines(["tre"]) == [
        "tree\tShow a set group by group, and why pods are not ready.",
        ":4",
    ]
    assert plugin_lines([])[-1] == ":4"
    assert plugin_lines(["logs", "--prev"]) == [
        "--previous\tOf the run before the last restart.",
        ":4",
    ]


def test_files_are_left_to_the_shell() -> None:
    assert plugin_lines(["diff", "-f", "exa"]) == [":0"]


@pytest.mark.parametrize("error", [errors.Forbidden(), TimeoutError(), errors.KubeconfigError("x")])
def test_without_a_cluster_there_is_quietly_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(Cluster, "ask", fail)
    assert plugin_lines(["tree", ""]) == [":4"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_asks_lws(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert f"_LWS_COMPLETE={shell}_complete" in done.stdout


def test_bash_takes_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(CliRunner().invoke(main, ["completion", "bash"]).stdout, encoding="utf-8")
    program = f"source {script}; complete -p lws"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert "_lws_completion" in done.stdout
    assert done.stderr == ""


def test_another_shell_is_refused() -> None:
    done = CliRunner().invoke(main, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr


def test_the_script_for_fish_keeps_help_behind_a_comma() -> None:
    script = CliRunner().invoke(main, ["completion", "fish"]).stdout
    (split,) = (line.strip() for line in script.splitlines() if "string split" in line)
    assert split == 'set -l metadata (string split --max 1 "," $completion);'
