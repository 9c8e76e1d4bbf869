"""What a control plane is to tests, whatever it is made of.

Its users have tokens, an audit log counts what the operator asks, its API server dies and comes
back with what it had. `ControlPlane` is the real one, `SandboxPlane` the one in memory.
"""

import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import trustme
import yaml

from harness import audit
from harness.certificates import ServerFiles, write_server_files
from harness.housed import Housed
from harness.kube import Json, Kube
from harness.ports import release_port, take_port

ADMIN = "admin"
OPERATOR = "lws-operator"
RESTRICTED = "lws-restricted"
MASTERS = ("system:masters",)
USERS: Mapping[str, tuple[str, ...]] = {
    ADMIN: MASTERS,
    OPERATOR: (),  # may do what the shipped roles grant
    RESTRICTED: (),  # may do what a test binds to it, and nothing else
}
"""Users that every control plane knows, and their groups."""
AUDITED = (OPERATOR, RESTRICTED)
CRDS = Path(__file__).resolve().parent.parent / "deploy" / "crds"


class Plane(Housed):
    """One control plane; a context manager that returns when it is ready."""

    nodes: list[str]

    def __init__(self, users: Mapping[str, tuple[str, ...]] = USERS) -> None:
        """Nothing starts before `start`, or the `with` block."""
        self._users = users
        self._ports: list[int] = []
        self._tokens = {user: secrets.token_hex(16) for user in users}

    # Start and stop

    def _furnish(self) -> None:
        """Certificates, tokens, kubeconfigs."""
        self.port = self._take_port()
        self.authority = trustme.CA()
        self.server_files = write_server_files(self.home / "apiserver", self.authority)
        self.audit = audit.AuditLog(self.home / "audit.log")
        self.kube = self.client(ADMIN)
        self._kubeconfigs = {user: self._write_kubeconfig(user) for user in self._users}

    def stop(self) -> None:
        """End all processes and remove all files."""
        super().stop()
        for port in self._ports:
            release_port(port)
        self._ports.clear()

    # The API server fails on demand

    @abstractmethod
    def start_apiserver(self) -> None:
        """Start the API server (again, at the same port) and wait until it is ready."""

    @abstractmethod
    def stop_apiserver(self, grace: float = 10) -> None:
        """SIGTERM: requests under way are answered, watches are ended."""

    @abstractmethod
    def kill_apiserver(self) -> None:
        """SIGKILL: connections break in the middle of an answer."""

    def restart_apiserver(self) -> None:
        """Stop it in an orderly way, start it again."""
        self.stop_apiserver()
        self.start_apiserver()

    @abstractmethod
    def stop_controllers(self) -> None:
        """No StatefulSet controller, no garbage collection, until they are started again."""

    @abstractmethod
    def start_controllers(self) -> None:
        """Start them again after a stop."""

    @abstractmethod
    def restore(self, objects: Iterable[tuple[str, Json]]) -> None:
        """Objects (each after its plural) as they once were, past the API server."""

    @abstractmethod
    def refresh_clients(self) -> None:
        """End whatever backoff an outage has put the cluster's own controllers in."""

    # What its users need

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def admin_kubeconfig(self) -> Path:
        """For an administrator."""
        return self._kubeconfigs[ADMIN]

    @property
    def operator_kubeconfig(self) -> Path:
        """For the operator; its requests are in the audit log."""
        return self._kubeconfigs[OPERATOR]

    @property
    def restricted_kubeconfig(self) -> Path:
        """For a user without rights until a test binds a role to it; in the audit log too."""
        return self._kubeconfigs[RESTRICTED]

    def client(self, user: str = ADMIN) -> Kube:
        """A client as one of the users; close it after use."""
        return Kube(port=self.port, ca_file=self.server_files.ca, token=self._tokens[user])

    def counting(self, user: str | None = None) -> audit.Counting:
        """`with plane.counting() as count:` counts what the operator asks of the API."""
        return self.audit.counting(user=user)

    # Parts

    def _take_port(self) -> int:
        port = take_port()
        self._ports.append(port)
        return port

    def _write_kubeconfig(self, user: str) -> Path:
        path = self.home / f"{user.replace(':', '-')}.kubeconfig"
        path.write_text(
            kubeconfig_text(self.server, self.server_files, user, self._tokens[user]),
            encoding="utf-8",
        )
        path.chmod(0o600)
        return path

    def _tokens_text(self) -> str:
        """A line for each user: token, name, number, groups."""
        lines = []
        for number, (user, groups) in enumerate(self._users.items()):
            listed = f',"{",".join(groups)}"' if groups else ""
            lines.append(f"{self._tokens[user]},{user},{number}{listed}\n")
        return "".join(lines)


MakePlane = Callable[..., Plane]
"""A class of them; its arguments are keywords that all classes know."""


def kubeconfig_text(server: str, files: ServerFiles, user: str, token: str) -> str:
    """A kubeconfig with one context, of one user with a token."""
    cluster = {"server": server, "certificate-authority": str(files.ca)}
    context = {"cluster": "local", "user": user, "namespace": "default"}
    whole: Json = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "local", "context": context}],
        "current-context": "local",
    }
    return yaml.safe_dump(whole)
