"""The operator as a process of its own, with its webhooks, against a control plane.

with Operator(plane) as operator:
    ...
    operator.restart()
"""

import contextlib
import http.client
import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from harness.certificates import write_server_files
from harness.plane import Plane
from harness.ports import release_port, take_port
from harness.process import Process
from harness.rights import HOME_NAMESPACE
from harness.up import UpPlane
from harness.waiting import NotYetError, eventually
from harness.webhooks import install_webhooks, remove_webhooks

_numbers = count()
_alive: "weakref.WeakSet[Operator]" = weakref.WeakSet()
_TICKS = os.sysconf("SC_CLK_TCK")


class Operator:
    """`lws run` with a configuration file; started by `start` or the `with` block."""

    def __init__(
        self,
        plane: Plane | UpPlane,
        *,
        config: Mapping[str, Any] | None = None,
        extra_args: Sequence[str] = (),
        webhooks: bool = True,
        leader_elect: bool = False,
        kubeconfig: Path | None = None,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        """`config` is merged over the harness's own configuration, key by key.

        With `webhooks`, the webhook configurations are made to point at this process; the last
        operator that does so gets the calls. `command` replaces `lws run`, for another build.
        """
        self._plane = plane
        self._webhooks = webhooks
        self.webhook_port, self.health_port, self.metrics_port = (take_port() for _ in range(3))
        self.name = f"operator-{next(_numbers)}"
        self.folder = plane.home / self.name
        self._certificates = write_server_files(self.folder / "certs")
        self.config = _merged(self._own_config(leader_elect=leader_elect), config or {})
        file = self.folder / "config.yaml"
        file.write_text(yaml.safe_dump(self.config), encoding="utf-8")
        program = list(command or [str(Path(sys.executable).parent / "lws"), "run"])
        variables = {
            "KUBECONFIG": str(kubeconfig or plane.operator_kubeconfig),
            "PYTHONUNBUFFERED": "1",
            **({} if webhooks else {"ENABLE_WEBHOOKS": "false"}),
            **(environment or {}),
        }
        self._process = Process(
            self.name,
            [*program, "--config", file, *extra_args],
            home=plane.runtime_home,
            environment=variables,
        )

    # Life

    def start(self, *, wait: bool = True, timeout: float = 30) -> None:
        """Start the process, wait until it is ready, then point the webhooks at it."""
        self._process.start()
        _alive.add(self)
        if wait:
            self.wait_ready(timeout=timeout)
        if self._webhooks:
            self._take_webhooks()

    def wait_ready(self, *, timeout: float = 30) -> None:
        """Wait until its readiness endpoint says so; an error with its log if it never does."""

        def checked() -> bool:
            self._process.require_running()
            return self.is_ready()

        try:
            eventually(checked, timeout=timeout, every=0.05, what="the operator is ready")
        except NotYetError as problem:
            raise RuntimeError(f"{problem}; its log ends:\n{self.log_tail()}") from problem

    def is_ready(self) -> bool:
        """Does the readiness endpoint answer 200?"""
        return self.probe("/readyz") == 200

    def probe(self, path: str) -> int | None:
        """The status of a path of the health server; None if nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def stop(self, grace: float = 30) -> int | None:
        """SIGTERM and wait; the exit code (negative: it had to be killed)."""
        return self._process.stop(grace)

    def kill(self) -> None:
        """SIGKILL: as if the machine had gone."""
        self._process.kill()

    def restart(self, *, timeout: float = 30) -> None:
        """Stop in an orderly way (if it still runs), start again."""
        self.stop()
        self.start(timeout=timeout)

    def close(self) -> None:
        """Stop it for good and give the ports back.

        Its webhook configurations go, or point to another operator of this control plane again.
        """
        self.stop()
        _alive.discard(self)
        if self._webhooks:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._give_webhooks_away()
        for port in (self.webhook_port, self.health_port, self.metrics_port):
            release_port(port)

    def _take_webhooks(self) -> None:
        ca_file = self._certificates.ca
        install_webhooks(self._plane.kube, port=self.webhook_port, ca_file=ca_file)

    def _give_webhooks_away(self) -> None:
        others = (o for o in open_operators() if o._plane is self._plane and o._webhooks)
        heir = next(others, None)
        if heir is None:
            remove_webhooks(self._plane.kube)
        else:
            heir._take_webhooks()

    def __enter__(self) -> "Operator":
        """Start."""
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop for good; after an error the end of the log is added to it."""
        self.close()
        if error is not None:
            error.add_note(f"{self.name}'s log ends:\n{self.log_tail()}")

    # What it costs and says

    @property
    def running(self) -> bool:
        """Is the process there?"""
        return self._process.running

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def log(self) -> Path:
        """The file with its output, all starts in one."""
        return self._process.log

    def log_tail(self, lines: int = 60) -> str:
        """The last lines of its output."""
        return self._process.tail(lines)

    def cpu_seconds(self) -> float:
        """User and system time of this start, in seconds."""
        text = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii")
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory_bytes(self, *, peak: bool = False) -> int:
        """Resident memory, now or at its highest."""
        wanted = "VmHWM:" if peak else "VmRSS:"
        with Path(f"/proc/{self.pid}/status").open(encoding="ascii") as status:
            for line in status:
                if line.startswith(wanted):
                    return int(line.split()[1]) * 1024
        raise LookupError(f"/proc/{self.pid}/status has no {wanted}")

    def _own_config(self, *, leader_elect: bool) -> dict[str, Any]:
        certificates = str(self._certificates.certificate.parent)
        return {
            "apiVersion": "config.lws.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "webhook": {"host": "127.0.0.1", "port": self.webhook_port, "certDir": certificates},
            "leaderElection": {"leaderElect": leader_elect, "resourceNamespace": HOME_NAMESPACE},
            "metrics": {"bindAddress": f"127.0.0.1:{self.metrics_port}"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.health_port}"},
            "internalCertManagement": {"enable": False},
        }


def open_operators() -> list[Operator]:
    """Those that were started and not closed yet: whose logs a failed test wants to show."""
    return sorted(_alive, key=lambda operator: operator.name)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on `base`, dictionaries key by key."""
    merged = dict(base)
    for key, value in over.items():
        present = merged.get(key)
        both = isinstance(present, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(present, value) if both else value  # type: ignore[arg-type]
    return merged
