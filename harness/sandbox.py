"""The control plane in memory, in a process of its own over HTTPS, with all that a real one gives.

    with SandboxPlane() as plane:
        plane.kube.create(...)

API server, controllers, scheduler and kubelets are one process: with the API server they all die,
and come back with what was acknowledged.
"""

import os
import shutil
import sys
from pathlib import Path

from harness.binaries import MissingError, cache_folder
from harness.controlplane import install_crds
from harness.nodes import NodeLabels, add_nodes, default_labels
from harness.plane import AUDITED, CRDS, MASTERS, OPERATOR, USERS, Plane
from harness.process import Process
from harness.rights import make_home
from harness.waiting import NotYetError, eventually

_ROOT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60.0


class SandboxPlane(Plane):
    """`lws.sandbox` behind a port."""

    def __init__(
        self,
        *,
        nodes: int = 8,
        node_labels: NodeLabels = default_labels,
        max_unavailable_gate: bool = False,
        crds: Path | None = CRDS,
    ) -> None:
        """`crds` is a folder of definitions that are there from the start."""
        super().__init__({**USERS, OPERATOR: MASTERS})  # its roles are stored, not enforced
        self._nodes = nodes
        self._node_labels = node_labels
        self._crds = crds
        self._gate = ["--max-unavailable-gate"] if max_unavailable_gate else []
        self._process: Process | None = None

    def _start(self) -> None:
        tokens = self.home / "tokens.csv"
        tokens.write_text(self._tokens_text(), encoding="utf-8")
        command: list[str | Path] = [
            sys.executable,
            *("-m", "harness.sandbox_program"),
            *("--port", str(self.port)),
            *("--certificate", self.server_files.certificate),
            *("--key", self.server_files.key),
            *("--tokens", tokens),
            *("--data", self.home / "sandbox.data"),
            *("--audit-log", self.audit.path),
            *(part for user in AUDITED for part in ("--audited", user)),
            *self._gate,
        ]
        variables = {"PYTHONPATH": str(_ROOT), "PYTHONUNBUFFERED": "1"}
        self._process = Process("sandbox", command, home=self.runtime_home, environment=variables)
        self.start_apiserver()
        if self._crds is not None:
            install_crds(self.kube, self._crds)
            make_home(self.kube)
        self.nodes = add_nodes(self.kube, self._nodes, self._node_labels)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    @property
    def process(self) -> Process:
        """The one process that it is."""
        assert self._process is not None, "the sandbox is not running"
        return self._process

    def start_apiserver(self) -> None:
        self.kube.close()
        self.process.start()
        try:
            eventually(self._is_ready, timeout=_START_SECONDS, every=0.03, what="it is ready")
        except NotYetError as problem:
            raise RuntimeError(f"{problem}\n{self.process.tail()}") from problem

    def _is_ready(self) -> bool:
        self.process.require_running()
        return self.kube.is_ready()

    def stop_apiserver(self, grace: float = 10) -> None:
        self.process.stop(grace)
        self.kube.close()

    def kill_apiserver(self) -> None:
        self.process.kill()
        self.kube.close()

    def refresh_clients(self) -> None:
        """Nothing to do: they are one with the server."""

    @property
    def kubectl_program(self) -> Path:
        """The one that was built for the real control plane, or the PATH's."""
        built = cache_folder() / "kubectl"
        found = built if os.access(built, os.X_OK) else shutil.which("kubectl")
        if found is None:
            raise MissingError("no kubectl is on the PATH; `make controlplane` builds one")
        return Path(found)
