"""`lws chaos` as it is typed, at a sandbox of `lws up`, and at what is none."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.waiting import eventually
from lws.cli import main
from lws.runtime.clock import RealClock
from lws.sandbox.http import HttpServer, ListenOptions
from lws.sandbox.http.serving import kubeconfig
from lws.sandbox.server import Server
from tests.integration.test_up import EXAMPLE, Up, ready_groups, up

Type = Callable[..., Result]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("state"), "--apply", str(EXAMPLE), "--no-view") as started:
        eventually(lambda: ready_groups(started) == "2", timeout=60, what="two groups")
        yield started


@pytest.fixture
def chaos(sandbox: Up, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Typed where the sandbox's state folder is the person's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(sandbox.running.parents[1]))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return lambda *words: CliRunner().invoke(main, ["chaos", *words])


def uid(sandbox: Up, pod: str) -> str:
    return sandbox.kubectl("get", "pod", pod, "-o", "jsonpath={.metadata.uid}")


def test_a_failed_container_is_told_with_what_to_watch_and_the_group_comes_back(
    sandbox: Up, chaos: Type
) -> None:
    leader, other = uid(sandbox, "vllm-0"), uid(sandbox, "vllm-1")
    done = chaos("container", "vllm-0-1", "--exit-code", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "container vllm-worker of pod default/vllm-0-1 ended with exit code 1 (Error)\n"
    )
    then, watch = done.stderr.splitlines()
    assert then == (
        "then: group 0 of vllm is recreated, once (restartPolicy RecreateGroupOnPodRestart)"
    )
    assert watch.startswith("watch: kubectl get pods -n default -w -l ")
    shown = watch.removeprefix("watch: kubectl ").replace(" -w", "").split()
    eventually(  # for a moment there may be none
        lambda: "vllm-0" in sandbox.kubectl(*shown), timeout=30, what="the pods to watch"
    )
    assert "vllm-1" not in sandbox.kubectl(*shown)
    eventually(lambda: uid(sandbox, "vllm-0") != leader, timeout=30, what="a new leader")
    eventually(lambda: ready_groups(sandbox) == "2", timeout=60, what="two groups")
    assert uid(sandbox, "vllm-1") == other


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("container nobody", 1, "error: there is no pod nobody in namespace default; pods of"),
        ("container vllm-0 -c x", 1, "has no container x; it has: vllm-leader"),
        ("pod vllm-0", 2, "hint: one of --evict, --fail, --delete, --unready, --ready"),
        ("pod vllm-0 --evict --fail", 2, "befall the pod, not --evict and --fail at once"),
        ("node nobody --down", 1, "error: there is no node nobody; nodes: node-0, node-1,"),
        ("node node-0 --taint broken", 2, "must be such as broken=yes:NoExecute, not 'broken'"),
        ("node node-0 --untaint a:b", 2, "NoSchedule, PreferNoSchedule or NoExecute, not 'b'"),
        ("slow-start x", 2, "'x' is not a valid float"),
    ],
)
def test_what_cannot_be_done_is_told(chaos: Type, words: str, code: int, said: str) -> None:
    result = chaos(*words.split())
    assert result.exit_code == code
    assert said in result.stderr


def test_a_node_is_cordoned_and_told_what_to_watch(sandbox: Up, chaos: Type) -> None:
    assert chaos("node", "node-9", "--cordon").stdout == "node node-9 takes no new pods\n"
    assert "SchedulingDisabled" in sandbox.kubectl("get", "node", "node-9")
    assert chaos("node", "node-9", "--taint", "broken:NoSchedule").exit_code == 0
    taints = sandbox.kubectl("get", "node", "node-9", "-o", "jsonpath={.spec.taints[*].key}")
    assert "broken" in taints.split()
    assert chaos("node", "node-9", "--untaint", "broken").exit_code == 0
    assert chaos("node", "node-9", "--uncordon").exit_code == 0
    assert "SchedulingDisabled" not in sandbox.kubectl("get", "node", "node-9")
    assert chaos("slow-start", "0").stdout == (
        "pods that start from now on are ready after 0 s, not after 0 s\n"
    )


def test_a_cluster_that_is_no_sandbox_of_lws_up_is_left_alone(chaos: Type, tmp_path: Path) -> None:
    """As is every other API server: it knows no such path."""

    async def run() -> Result:
        async with HttpServer(Server(clock=RealClock()).handler, ListenOptions()) as server:
            file = tmp_path / "other"
            file.write_bytes(kubeconfig(server.url))
            words = ("node", "node-0", "--remove", "--kubeconfig", str(file))
            return await asyncio.to_thread(chaos, *words)

    result = asyncio.run(run())
    assert result.exit_code == 1
    assert "that cluster is no sandbox, and nothing was done" in result.stderr
    assert "start one with: lws up" in result.stderr


def test_where_nothing_runs_it_says_so(
    chaos: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = chaos("pod", "x", "--fail")
    assert (result.exit_code, result.stderr.splitlines()[1]) == (1, "hint: start one with: lws up")
    (tmp_path / "gone").write_text(
        json.dumps(json.loads(kubeconfig("http://127.0.0.1:1"))), encoding="utf-8"
    )
    result = chaos("pod", "x", "--fail", "--kubeconfig", str(tmp_path / "gone"))
    assert result.exit_code == 1
    assert "is that sandbox still running?" in result.stderr
