"""The control plane in memory, in a process of its own over HTTPS, with all that a real one gives.

    with SandboxPlane() as plane:
        plane.kube.create(...)

API server, controllers, scheduler and kubelets are one process: with the API server they all die,
and come back with what was acknowledged.
"""

import os
import shutil
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from harness import restoring
from harness.binaries import MissingError, cache_folder
from harness.controlplane import install_crds
from harness.kube import Json
from harness.nodes import NodeLabels, add_nodes, default_labels
from harness.plane import AUDITED, CRDS, OPERATOR, USERS, Plane
from harness.process import Process
from harness.rights import grant_shipped, make_home
from harness.sandbox_program import CONTROLLERS_STARTED, CONTROLLERS_STOPPED
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
        super().__init__(USERS)
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
            *("--data", self._data),
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
            grant_shipped(self.kube, OPERATOR)
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

    def stop_controllers(self) -> None:
        self._tell(signal.SIGUSR1, CONTROLLERS_STOPPED)

    def start_controllers(self) -> None:
        self._tell(signal.SIGUSR2, CONTROLLERS_STARTED)

    def _tell(self, number: signal.Signals, answer: str) -> None:
        """Returns when the program has said that it has done so."""

        def said() -> int:
            return self.process.log.read_text(encoding="utf-8").count(answer)

        before = said()
        os.kill(self.process.pid, number)
        eventually(lambda: said() > before, timeout=_START_SECONDS, what=answer)

    def restore(self, objects: Iterable[tuple[str, Json]]) -> None:
        self.stop_apiserver()
        restoring.into_journal(self._data, objects)
        self.start_apiserver()

    @property
    def _data(self) -> Path:
        return self.home / "sandbox.data"

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
