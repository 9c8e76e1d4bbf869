"""`lws up` as a person uses it: a process, the real kubectl, Ctrl-C, a kill."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.waiting import eventually

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vllm" / "leaderworkerset.yaml"


class Up:
    """A running `lws up` with a state folder of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
        self.running = folder / "lws" / "running.json"
        command = [sys.executable, "-m", "lws", "up", "--ready-after", "0", *arguments]
        self.process = subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_ready(self) -> None:
        def is_up() -> bool:
            assert self.process.poll() is None, self.process.communicate()[0]
            return self.running.exists()

        eventually(is_up, timeout=60, what="the sandbox is up", retry_on=(OSError,))

    def kubectl(self, *arguments: str) -> str:
        kubeconfig = json.loads(self.running.read_text(encoding="utf-8"))["kubeconfig"]
        program = shutil.which("kubectl")
        assert program is not None, "kubectl is on the PATH (make controlplane fetches it)"
        done = subprocess.run(
            [program, "--kubeconfig", kubeconfig, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def up(folder: Path, *arguments: str) -> Iterator[Up]:
    started = Up(folder, *arguments)
    try:
        started.wait_ready()
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def ready_groups(sandbox: Up) -> str:
    return sandbox.kubectl("get", "lws", "vllm", "-o", "jsonpath={.status.readyReplicas}")


def test_groups_come_up_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    audit = tmp_path / "audit.log"
    with up(tmp_path, "--apply", str(EXAMPLE), "--audit-log", str(audit)) as sandbox:
        eventually(lambda: ready_groups(sandbox) == "2", timeout=60, what="two groups")
        assert sandbox.kubectl("get", "nodes", "-o", "name").count("node/") == 10
        kubeconfig = Path(json.loads(sandbox.running.read_text())["kubeconfig"])
        requests = [json.loads(line) for line in audit.read_text().splitlines()]
        asked = {(one["user"]["username"], one["verb"], one["requestURI"]) for one in requests}
        assert ("sandbox-admin", "list", "/api/v1/nodes?limit=500") in asked
        assert kubeconfig.stat().st_mode & 0o077 == 0
        sandbox.process.send_signal(signal.SIGINT)
        assert sandbox.process.wait(timeout=30) == 0
        assert not sandbox.running.exists()
        assert not kubeconfig.exists()


def test_state_in_a_file_outlives_a_kill(tmp_path: Path) -> None:
    data = str(tmp_path / "state.journal")
    with up(tmp_path, "--data", data, "--apply", str(EXAMPLE)) as sandbox:
        eventually(lambda: ready_groups(sandbox) == "2", timeout=60, what="two groups")
        uid = sandbox.kubectl("get", "pod", "vllm-1-2", "-o", "jsonpath={.metadata.uid}")
        sandbox.process.kill()
        sandbox.process.wait(timeout=10)
        sandbox.running.unlink()
    with up(tmp_path, "--data", data) as sandbox:
        again = sandbox.kubectl("get", "pod", "vllm-1-2", "-o", "jsonpath={.metadata.uid}")
        assert again == uid


def test_lws_down_stops_it(tmp_path: Path) -> None:
    with up(tmp_path) as sandbox:
        done = subprocess.run(
            [sys.executable, "-m", "lws", "down"],
            env=sandbox.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stdout == "stopped\n", done.stderr
        assert sandbox.process.wait(timeout=10) == 0


def test_an_audit_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lws", "up", "--audit-log", str(tmp_path)],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == f"error: --audit-log: {tmp_path} cannot be written: Is a directory\n"


def test_a_manifest_that_is_not_there_is_told_before_anything_starts(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lws", "up", "--apply", str(tmp_path / "missing.yaml")],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: --apply")
    assert len(done.stderr.strip().splitlines()) == 1
