"""A Kubernetes control plane on this machine, in processes of its own.

    with ControlPlane() as plane:
        plane.kube.create(...)          # as an administrator
        print(plane.kubectl("get", "nodes"))

etcd, API server, controller manager, scheduler, and kwok in the place of the kubelets. All is gone
when the block is left, and also when this process is killed (see `guard.py`).
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import yaml

from harness import audit, kwok, restoring
from harness.binaries import Binaries, find_binaries
from harness.certificates import write_signing_keys
from harness.kube import Json, Kube
from harness.nodes import NodeLabels, add_nodes, default_labels
from harness.plane import AUDITED, CRDS, MASTERS, OPERATOR, USERS, Plane
from harness.process import Process
from harness.rights import grant_shipped, make_home
from harness.waiting import NotYetError, eventually

_USERS: Mapping[str, tuple[str, ...]] = {
    **USERS,
    "system:kube-controller-manager": MASTERS,
    "system:kube-scheduler": MASTERS,
    "kwok": MASTERS,
}
_LEASES = "leases.coordination.k8s.io"
_START_SECONDS = 60.0


class ControlPlane(Plane):
    """The real programs."""

    def __init__(
        self,
        *,
        nodes: int = 8,
        node_labels: NodeLabels = default_labels,
        max_unavailable_gate: bool | None = None,
        feature_gates: Mapping[str, bool] | None = None,
        controllers: bool = True,
        scheduler: bool = True,
        kubelets: bool = True,
        crds: Path | None = CRDS,
        is_operator_ours: bool = True,
    ) -> None:
        """Choose the parts; nothing starts before `start`, or the `with` block.

        `max_unavailable_gate` sets the feature gate MaxUnavailableStatefulSet, None leaves it at
        its default. `crds` is a folder of definitions that are there before any controller starts.
        Our operator may do what the shipped roles grant; another one, everything.
        """
        super().__init__(_USERS if is_operator_ours else {**_USERS, OPERATOR: MASTERS})
        self._is_operator_ours = is_operator_ours
        gates = dict(feature_gates or {})
        if max_unavailable_gate is not None:
            gates["MaxUnavailableStatefulSet"] = max_unavailable_gate
        self._gates = [f"--feature-gates={_gates_text(gates)}"] if gates else []
        self._nodes = nodes
        self._node_labels = node_labels
        self._wanted = {"controllers": controllers, "scheduler": scheduler, "kubelets": kubelets}
        self._crds = crds
        self._processes: dict[str, Process] = {}

    # Start and stop

    def _start(self) -> None:
        self._binaries = find_binaries()
        self._start_api()
        self._start_the_rest()

    def _end(self) -> None:
        for name in ("kube-apiserver", *self._processes):
            if name in self._processes:
                self._processes[name].kill()
        self._processes.clear()

    def _start_api(self) -> None:
        self.etcd_port, peer_port = self._take_port(), self._take_port()
        self._add("etcd", _etcd_command(self._binaries, self.home, self.etcd_port, peer_port))
        self._add("kube-apiserver", self._apiserver_command(self.etcd_port))
        self._process("etcd").start()
        self.start_apiserver()

    def _start_the_rest(self) -> None:
        """Definitions and nodes are there before those who would have to notice them later."""
        if self._crds is not None:
            install_crds(self.kube, self._crds)
            make_home(self.kube)
        if self._crds is not None and self._is_operator_ours:
            grant_shipped(self.kube, OPERATOR)
        self.nodes = add_nodes(self.kube, self._nodes, self._node_labels)
        if self._wanted["controllers"]:
            self._add("kube-controller-manager", self._controller_manager_command())
            self._process("kube-controller-manager").start()
        if self._wanted["scheduler"]:
            self._add("kube-scheduler", self._scheduler_command())
            self._process("kube-scheduler").start()
        if self._wanted["kubelets"]:
            self.kube.create(kwok.STORAGE_CLASS)
            self._add("kwok", self._kwok_command())
            self._process("kwok").start()
        self._wait_ready()

    def _wait_ready(self) -> None:
        if self._wanted["controllers"]:
            self._await("kube-controller-manager", self._has_default_account)
        if self._wanted["kubelets"] and self._nodes:
            self._await("kwok", self._has_lease)

    def _has_default_account(self) -> bool:
        return self.kube.find("serviceaccounts", "default", "default") is not None

    def _has_lease(self) -> bool:
        name = self.nodes[-1]
        return self.kube.find(_LEASES, name, "kube-node-lease") is not None

    # Parts that fail on demand

    def start_apiserver(self) -> None:
        self.kube.close()
        self._process("kube-apiserver").start()
        self._await("kube-apiserver", self.kube.is_ready)

    def stop_apiserver(self, grace: float = 10) -> None:
        self._process("kube-apiserver").stop(grace)
        self.kube.close()

    def kill_apiserver(self) -> None:
        self._process("kube-apiserver").kill()
        self.kube.close()

    def refresh_clients(self) -> None:
        """Restart controller manager, scheduler and kwok.

        After a second outage in a row their own backoff keeps them away for up to half a minute;
        a test that is not about them does not want to wait for it.
        """
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            if name in self._processes:
                self._processes[name].kill()
                self._start_again(name)

    def stop_controllers(self) -> None:
        self._process("kube-controller-manager").kill()

    def start_controllers(self) -> None:
        self._process("kube-controller-manager").start()
        self._await("kube-controller-manager", self._has_default_account)

    def restore(self, objects: Iterable[tuple[str, Json]]) -> None:
        with self.without("kube-controller-manager"):
            for plural, item in objects:
                restoring.into_etcd(self.etcd_port, plural, item)

    @contextlib.contextmanager
    def without(self, name: str) -> Iterator[None]:
        """`with plane.without("kwok"):` one process (by program name) is not there meanwhile."""
        process = self._process(name)
        process.kill()
        try:
            yield
        finally:
            self._start_again(name)

    def _start_again(self, name: str) -> None:
        if name == "kwok":  # it would wait until the leases of its former self run out
            self.kube.delete_all(_LEASES, "kube-node-lease")
        self._process(name).start()

    # What its users need

    @property
    def kubectl_program(self) -> Path:
        """The one that was built with the rest, or the PATH's."""
        return self._binaries.kubectl

    def logs(self, name: str, lines: int = 40) -> str:
        """The end of the log of one program."""
        return self._process(name).tail(lines)

    # Commands

    def _add(self, name: str, command: Sequence[str | Path]) -> None:
        self._processes[name] = Process(name, command, home=self.runtime_home)

    def _process(self, name: str) -> Process:
        assert name in self._processes, f"this control plane was started without {name}"
        return self._processes[name]

    def _await(self, name: str, check: Callable[[], bool]) -> None:
        process = self._process(name)

        def checked() -> bool:
            process.require_running()
            return check()

        try:
            eventually(checked, timeout=_START_SECONDS, every=0.03, what=f"{name} is ready")
        except NotYetError as problem:
            raise RuntimeError(f"{problem}\n{process.tail()}") from problem

    def _apiserver_command(self, etcd_port: int) -> list[str | Path]:
        folder = self.home / "apiserver"
        private, public = write_signing_keys(folder)
        policy, tokens = folder / "audit-policy.yaml", folder / "tokens.csv"
        policy.write_text(audit.POLICY.format(users=", ".join(AUDITED)), encoding="utf-8")
        tokens.write_text(self._tokens_text(), encoding="utf-8")
        return [
            self._binaries.kube_apiserver,
            f"--etcd-servers=http://127.0.0.1:{etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--permit-port-sharing=true",  # a restart does not wait for the old one's connections
            "--shutdown-watch-termination-grace-period=2s",  # or it waits a minute for watches
            f"--cert-dir={folder}",
            f"--tls-cert-file={self.server_files.certificate}",
            f"--tls-private-key-file={self.server_files.key}",
            f"--client-ca-file={self.server_files.ca}",
            f"--token-auth-file={tokens}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={public}",
            f"--service-account-signing-key-file={private}",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",  # as everywhere where network plugins are pods
            "--service-cluster-ip-range=10.96.0.0/16",
            "--endpoint-reconciler-type=none",
            # No pod gets a token here; and nodes are ready when they are made.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            f"--audit-policy-file={policy}",
            f"--audit-log-path={self.audit.path}",
            "--audit-log-maxsize=100000",  # never a second file in the middle of a count
            *self._gates,
        ]

    def _client_flags(self, user: str) -> list[str]:
        return [
            f"--kubeconfig={self._kubeconfigs[user]}",
            "--leader-elect=false",
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
            "--secure-port=0",
        ]

    def _controller_manager_command(self) -> list[str | Path]:
        return [
            self._binaries.kube_controller_manager,
            *self._client_flags("system:kube-controller-manager"),
            "--concurrent-statefulset-syncs=20",
            *self._gates,
        ]

    def _scheduler_command(self) -> list[str | Path]:
        return [self._binaries.kube_scheduler, *self._client_flags("system:kube-scheduler")]

    def _kwok_command(self) -> list[str | Path]:
        kubeconfig = self._kubeconfigs["kwok"]
        return kwok.kwok_command(self._binaries, kubeconfig=kubeconfig, folder=self.home)


def install_crds(kube: Kube, folder: Path) -> list[str]:
    """Create every definition in the folder's YAML files; their names, once they are served."""
    names = []
    for file in sorted(folder.glob("*.yaml")):
        with file.open("rb") as text:
            for item in yaml.load_all(text, Loader=yaml.CSafeLoader):  # 20 times the other's speed
                if item and item["kind"] == "CustomResourceDefinition":
                    kube.create(item)
                    names.append(item["metadata"]["name"])
    wait_established(kube, names)
    return names


def wait_established(kube: Kube, names: Sequence[str]) -> None:
    """Wait until the server serves these definitions."""

    def is_established(name: str) -> bool:
        status = kube.get("customresourcedefinitions", name).get("status", {})
        return any(
            entry["type"] == "Established" and entry["status"] == "True"
            for entry in status.get("conditions") or []
        )

    for name in names:
        eventually(partial(is_established, name), what=f"{name} is established")


def _etcd_command(binaries: Binaries, home: Path, port: int, peer: int) -> list[str | Path]:
    return [
        binaries.etcd,
        f"--data-dir={home / 'etcd'}",
        "--unsafe-no-fsync",
        f"--listen-client-urls=http://127.0.0.1:{port}",
        f"--advertise-client-urls=http://127.0.0.1:{port}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        "--quota-backend-bytes=4294967296",
        "--log-level=warn",
    ]


def _gates_text(gates: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in sorted(gates.items()))
