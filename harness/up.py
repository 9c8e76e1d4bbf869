"""`lws up` as a person has it: a process of its own, without its operator.

    with UpPlane() as plane:
        plane.kube.create(...)

No audit log and no switches of single parts: what asks for those needs the real one.
"""

import base64
import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import TracebackType

from harness.kube import Kube
from harness.process import Home, Process
from harness.waiting import eventually

TOPOLOGY = "zone=2,topology.test.lws/rack=4"
"""As `harness.nodes.default_labels` has it for 8 nodes."""


class UpPlane:
    """An API server and a cluster in memory; a context manager that returns when it is ready."""

    def __init__(
        self,
        *,
        nodes: int = 8,
        topology: str = TOPOLOGY,
        max_unavailable_gate: bool = False,
    ) -> None:
        self._arguments = ["--nodes", str(nodes), "--topology", topology, "--ready-after", "0"]
        self._arguments += ["--max-unavailable-gate"] if max_unavailable_gate else []
        self._home: Home | None = None

    def start(self) -> None:
        """Start it and wait until it is ready; nothing stays behind if that fails."""
        self._home = Home()
        try:
            self._start(self.home / "kubeconfig")
        except BaseException:
            self.stop()
            raise

    def _start(self, kubeconfig: Path) -> None:
        program = [sys.executable, "-m", "lws", "up", "--no-operator", "--no-view"]
        variables = {"XDG_STATE_HOME": str(self.home / "state"), "PYTHONUNBUFFERED": "1"}
        command = [*program, *self._arguments, "--kubeconfig", str(kubeconfig)]
        self._process = Process("sandbox", command, home=self.runtime_home, environment=variables)
        self._process.start()
        running = self.home / "state" / "lws" / "running.json"
        eventually(partial(self._is_up, running), timeout=60, what="the sandbox is ready")
        self.admin_kubeconfig = self.operator_kubeconfig = kubeconfig
        self.kube = self._client(kubeconfig)

    def _is_up(self, running: Path) -> bool:
        self._process.require_running()
        return running.exists()

    def _client(self, kubeconfig: Path) -> Kube:
        config = json.loads(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        ca_file = self.home / "ca.crt"
        ca_file.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        port = int(cluster["server"].rpartition(":")[2])
        return Kube(port=port, ca_file=ca_file, token=user["token"])

    def stop(self) -> None:
        """End it and remove all files."""
        if self._home is None:
            return
        if hasattr(self, "kube"):
            self.kube.close()
        if hasattr(self, "_process"):
            self._process.stop(5)
        self._home.remove()
        self._home = None

    def __enter__(self) -> "UpPlane":
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def home(self) -> Path:
        """The folder of all its files, gone after the stop."""
        return self.runtime_home.path

    @property
    def runtime_home(self) -> Home:
        """Where other processes that have to end with the sandbox are started."""
        assert self._home is not None, "the sandbox is not running"
        return self._home

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl; its standard output, or an error with its complaint."""
        program = shutil.which("kubectl")
        assert program is not None, "kubectl is on the PATH"
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            [program, "--kubeconfig", str(self.admin_kubeconfig), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout
