"""The same kubectl commands on a real API server and on the sandbox print the same."""

import asyncio
import contextlib
import os
import re
import secrets
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from harness.binaries import find_binaries
from harness.controlplane import ControlPlane
from lws.client.resources import CRDS
from lws.runtime.clock import RealClock
from lws.sandbox.cluster.cluster import Cluster
from lws.sandbox.cluster.options import NodeSpec
from lws.sandbox.http import HttpServer, ListenOptions
from lws.sandbox.http.serving import kubeconfig
from lws.sandbox.server import Server

pytestmark = pytest.mark.real

HERE = Path(__file__).parent / "server"
DEFINITIONS = Path(__file__).resolve().parents[2] / "deploy" / "crds"
# What differs from run to run, and what the two servers call themselves.
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} UTC"), "<time>"),
    (re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]+ [+-]\d{4}"), "<time>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r'(resourceVersion"?: ?"?)\d+'), r"\1<revision>"),
    (re.compile(r"(Resource Version: +)\d+"), r"\1<revision>"),
    (re.compile(r"10\.96\.\d+\.\d+"), "<address>"),
    (re.compile(r"\b\d+m?\d*s\b"), "<age>"),
    (re.compile(r"<age>|<invalid>"), "<age>"),
    (re.compile(r"/tmp/\S+"), "<file>"),
    (re.compile(r"(---|\+\+\+) \S+.*"), r"\1 <file>"),
    (re.compile(r"manager: (curl|sandbox|unknown)"), "manager: <installer>"),
)


@dataclass(frozen=True)
class Place:
    """A control plane for kubectl."""

    config: Path
    namespace: str

    def run(self, line: str) -> str:
        """What a command prints, and its exit code."""
        words = line.split(" ")
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.config.parent)}
        if words[0].startswith("EDITOR="):
            environ["EDITOR"] = words.pop(0).removeprefix("EDITOR=").replace(",", " ")
            environ["EDITOR"] = environ["EDITOR"].replace("~", " ")
        command = [str(find_binaries().kubectl), "--kubeconfig", str(self.config)]
        done = subprocess.run(
            [*command, "-n", self.namespace, *words],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=HERE / "files",
            env=environ,
            check=False,
        )
        return _normal(f"{done.stdout}{done.stderr}exit {done.returncode}")


def _normal(text: str) -> str:
    for pattern, words in _VARYING:
        text = pattern.sub(words, text)
    return "\n".join(re.sub(r"\s+", " ", line).strip() for line in text.splitlines())


class Served:
    """The sandbox on a port, in a thread of its own; with nodes, it has controllers too."""

    def __init__(self, nodes: Sequence[NodeSpec] = ()) -> None:
        self.url = ""
        self._nodes = nodes
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self._loop.close()

    async def _run(self) -> None:
        server = Server(clock=RealClock())
        for file in sorted(DEFINITIONS.glob("*.yaml")):
            definition = yaml.safe_load(file.read_text(encoding="utf-8"))
            await server.api.create(CRDS, definition)
        cluster = Cluster(server.api, RealClock(), nodes=self._nodes)
        running = cluster if self._nodes else contextlib.nullcontext()
        async with server, running, HttpServer(server.handler, ListenOptions()) as http:
            self.url = http.url
            self._ready.set()
            await self._stop.wait()


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Path]:
    served = Served()
    served.start()
    config = tmp_path / "sandbox.yaml"
    config.write_bytes(kubeconfig(served.url))
    yield config
    served.stop()


def _commands() -> list[str]:
    lines = (HERE / "kubectl.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_kubectl_prints_the_same(quiet_plane: ControlPlane, sandbox: Path) -> None:
    namespace = f"kubectl-{secrets.token_hex(4)}"
    places = [Place(quiet_plane.admin_kubeconfig, namespace), Place(sandbox, namespace)]
    for place in places:
        assert place.run(f"create namespace {namespace}").endswith("exit 0")
    found = []
    for line in _commands():
        real, ours = (place.run(line) for place in places)
        if real != ours:
            found.append(f"$ kubectl {line}\n--- real\n{real}\n--- ours\n{ours}")
    same = len(_commands()) - len(found)
    assert not found, "\n".join([f"{same} of {len(_commands())} print the same", *found])
