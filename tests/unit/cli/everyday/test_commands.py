"""What is typed, what is awaited, and what is said when it goes wrong."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lws.base.errors import InvalidInput
from lws.cli import main
from lws.cli.everyday.cluster import name_of, what_to_do
from lws.cli.everyday.family import Family
from lws.cli.everyday.looking import watch_status
from lws.cli.everyday.roles import Found
from lws.cli.everyday.status import Status, status_of
from lws.client import errors
from lws.runtime.clock import VirtualClock
from tests.unit.cli.everyday.objects import lws, pod

PODS = tuple(pod(group, worker) for group in range(2) for worker in range(3))
BUSY = status_of(Family(lws=lws(conditions={"Progressing": "True"}), statefulset=None, pods=PODS))
DONE = status_of(Family(lws=lws(conditions={"Available": "True"}), statefulset=None, pods=PODS))
AWAY = errors.Unavailable("away")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


async def watch(answers: list[Status | Exception], seconds: float | None = None) -> list[Found]:
    """What is shown while these are answered, the last of them for ever."""
    shown: list[Found] = []

    async def look() -> Found:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    available = await watch_status(look, shown.append, seconds=seconds, clock=VirtualClock())
    assert available == shown[-1].available
    return shown


async def test_only_changes_are_shown_until_the_set_is_available() -> None:
    assert await watch([BUSY, BUSY, BUSY, DONE]) == [BUSY, DONE]


async def test_watching_gives_up_in_time() -> None:
    assert await watch([BUSY], seconds=10) == [BUSY]


async def test_a_server_that_is_away_for_a_moment_is_sat_out() -> None:
    assert await watch([BUSY, AWAY, AWAY, DONE]) == [BUSY, DONE]


async def test_a_server_that_never_answers_is_told_of() -> None:
    with pytest.raises(errors.Unavailable):
        await watch([AWAY])
    with pytest.raises(errors.Unavailable):
        await watch([BUSY, AWAY], seconds=10)


@pytest.mark.parametrize(
    "text", ["vllm", "lws/vllm", "leaderworkerset/vllm", "leaderworkersets/vllm"]
)
def test_a_set_is_named_with_or_without_its_kind(text: str) -> None:
    assert name_of(text) == "vllm"


@pytest.mark.parametrize("text", ["ds/vllm", "", "lws/", "/vllm", "lws/a/b"])
def test_what_is_no_name_of_a_set_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="NAME"):
        name_of(text)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.NotFound(), "kubectl apply --server-side"),
        (errors.Forbidden(), "kubectl auth can-i"),
        (errors.Unauthorized(), "log in again"),
        (errors.Conflict(), "repeat the command"),
        (errors.TransportError("refused"), "is the cluster up"),
        (errors.TooManyRequests(), "in a moment"),
    ],
)
def test_an_error_is_told_with_what_to_do(error: errors.ClientError, words: str) -> None:
    assert words in (what_to_do(error) or "")


@pytest.mark.parametrize("command", ["tree", "status", "history", "undo", "pause", "restart"])
def test_a_kubeconfig_that_is_not_there_is_told_in_a_line_and_a_hint(
    command: str, tmp_path: Path
) -> None:
    done = run(command, "chat", "--kubeconfig", str(tmp_path / "none"))
    assert done.exit_code == 2
    problem, hint = done.stderr.splitlines()
    assert problem.startswith("error: ")
    assert "none" in problem
    assert hint.startswith("hint: ")


def test_a_timeout_without_a_watch_is_refused() -> None:
    done = run("status", "chat", "--timeout", "3")
    assert done.exit_code == 2
    assert "--timeout goes with --watch" in done.stderr
