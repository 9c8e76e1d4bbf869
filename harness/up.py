"""`lws up` as a person has it: a process of its own, without its operator.

    with UpPlane() as plane:
        plane.kube.create(...)

No audit log and no switches of single parts: what asks for those needs the real one.
"""

import base64
import json
import shutil
import sys
from functools import partial
from pathlib import Path

from harness.housed import Housed
from harness.kube import Kube
from harness.process import Process
from harness.waiting import eventually

TOPOLOGY = "zone=2,topology.test.lws/rack=4"
"""As `harness.nodes.default_labels` has it for 8 nodes."""


class UpPlane(Housed):
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
        self._process: Process | None = None

    def _start(self) -> None:
        program = [sys.executable, "-m", "lws", "up", "--no-operator", "--no-view"]
        variables = {"XDG_STATE_HOME": str(self.home / "state"), "PYTHONUNBUFFERED": "1"}
        command = [*program, *self._arguments, "--kubeconfig", str(self.admin_kubeconfig)]
        process = Process("sandbox", command, home=self.runtime_home, environment=variables)
        process.start()
        self._process = process
        running = self.home / "state" / "lws" / "running.json"
        eventually(partial(_is_up, process, running), timeout=60, what="the sandbox is ready")
        self.kube = self._client()

    def _client(self) -> Kube:
        config = json.loads(self.admin_kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        ca_file = self.home / "ca.crt"
        ca_file.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        port = int(cluster["server"].rpartition(":")[2])
        return Kube(port=port, ca_file=ca_file, token=user["token"])

    def _end(self) -> None:
        if self._process is not None:
            self._process.stop(5)

    @property
    def admin_kubeconfig(self) -> Path:
        """For its one user."""
        return self.home / "kubeconfig"

    @property
    def operator_kubeconfig(self) -> Path:
        """The same."""
        return self.admin_kubeconfig

    @property
    def kubectl_program(self) -> Path:
        """The machine's own."""
        program = shutil.which("kubectl")
        assert program is not None, "kubectl is on the PATH"
        return Path(program)


def _is_up(process: Process, running: Path) -> bool:
    process.require_running()
    return running.exists()
