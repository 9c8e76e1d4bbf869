"""`lws up` from a built wheel, in an environment of its own, with nothing else on the path than the
real kubectl: no compiler, no Go, no Docker."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.waiting import eventually
from tests.repo.test_wheel import home, installed, wheel

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vllm" / "leaderworkerset.yaml"
pytestmark = pytest.mark.timeout(300)
__all__ = ["home", "installed", "wheel"]


class Place:
    """A person's machine."""

    def __init__(self, home: Path, programs: Path) -> None:
        tools = home / "tools"
        tools.mkdir()
        kubectl = shutil.which("kubectl")
        assert kubectl is not None, "kubectl is on the PATH (make controlplane fetches it)"
        (tools / "kubectl").symlink_to(kubectl)
        self.programs = programs
        self.environment = {"HOME": str(home), "PATH": str(tools)}
        self.running = home / ".local" / "state" / "lws" / "running.json"

    def start(self, *words: str) -> subprocess.Popen[str]:
        program = shutil.which(words[0], path=f"{self.programs}:{self.environment['PATH']}")
        assert program is not None
        return subprocess.Popen(
            [program, *words[1:]],
            env=self.environment,
            cwd=self.environment["HOME"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def type(self, *words: str) -> str:
        child = self.start(*words)
        out, problems = child.communicate(timeout=60)
        assert child.returncode == 0, f"{words}\n{out}\n{problems}"
        return out


@pytest.fixture
def place(home: Path, installed: Path) -> Iterator[Place]:
    made = Place(home, installed)
    child = made.start("lws", "up", "--no-view", "--ready-after", "0")
    try:

        def is_up() -> bool:
            assert child.poll() is None, child.communicate()[1]
            return made.running.exists()

        eventually(is_up, timeout=60, what="the sandbox is up")
        written = json.loads(made.running.read_text(encoding="utf-8"))
        made.environment["KUBECONFIG"] = written["kubeconfig"]
        yield made
    finally:
        child.kill()
        child.communicate()


def test_groups_come_up_and_it_stops_when_told(place: Place) -> None:
    place.type("kubectl", "apply", "-f", str(EXAMPLE))
    place.type("lws", "status", "vllm", "--watch", "--timeout", "60")
    words = ("get", "lws", "vllm", "-o", "jsonpath={.status.readyReplicas}")
    assert place.type("kubectl", *words) == "2"
    assert "exit code 1 (Error)" in place.type(
        "lws", "chaos", "container", "vllm-0-1", "--exit-code", "1"
    )
    assert place.type("lws", "down") == "stopped\n"
