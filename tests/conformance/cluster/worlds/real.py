"""A real control plane."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from harness.controlplane import ControlPlane
from harness.kube import Json, PatchType
from harness.waiting import eventually
from harness.watching import Recorder
from tests.conformance.cluster.worlds.world import World

_QUIET = 1.5
_CLUSTER_WIDE = frozenset(("clusterroles", "nodes", "persistentvolumes", "namespaces"))


class RealWorld(World):
    """A namespace of a control plane that others use too."""

    def __init__(self, plane: ControlPlane) -> None:
        self.namespace = f"world-{secrets.token_hex(4)}"
        self.nodes = plane.nodes
        self._kube = plane.kube
        self._recorder = Recorder(self._kube, self.namespace)

    @contextlib.contextmanager
    def running(self) -> Iterator["RealWorld"]:
        """With its namespace, which is deleted at the end."""
        name = self.namespace
        self._kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        try:
            with self._recorder:
                yield self
        finally:
            self._kube.delete("namespaces", name)
            self._kube.delete_all("pods", name, grace=0)

    def _where(self, resource: str) -> str | None:
        return None if resource in _CLUSTER_WIDE else self.namespace

    def create(self, obj: Mapping[str, Any]) -> Json:
        return self._kube.create(obj, self._where(f"{obj['kind'].lower()}s"))

    def find(self, resource: str, name: str) -> Json | None:
        return self._kube.find(resource, name, self._where(resource))

    def items(self, resource: str) -> list[Json]:
        return self._kube.items(resource, self._where(resource))

    def patch(
        self,
        resource: str,
        name: str,
        change: Mapping[str, Any],
        *,
        subresource: str = "",
        kind: str = "merge",
    ) -> Json:
        where = self._where(resource)
        chosen = cast(PatchType, kind)
        return self._kube.patch(resource, name, change, where, kind=chosen, subresource=subresource)

    def delete(
        self, resource: str, name: str, *, propagation: str | None = None, grace: int | None = None
    ) -> None:
        where = self._where(resource)
        self._kube.delete(resource, name, where, propagation=propagation, grace=grace)

    def until(self, check: Callable[[], object], *, timeout: float = 30, what: str = "") -> None:
        eventually(lambda: bool(check()), timeout=2 * timeout, what=what)

    def settle(self) -> None:
        seen, since = self._state(), time.monotonic()
        deadline = since + 60
        while time.monotonic() - since < _QUIET:
            assert time.monotonic() < deadline, "it does not come to rest"
            time.sleep(0.1)
            now = self._state()
            if now != seen:
                seen, since = now, time.monotonic()
        self._recorder.catch_up()

    def _state(self) -> tuple[int, list[str]]:
        versions = [
            item["metadata"]["resourceVersion"]
            for kind in ("statefulsets", "replicasets", "deployments")
            for item in self._kube.items(kind, self.namespace)
        ]
        return len(self._recorder.changes), versions

    def changes(self) -> list[tuple[str, Json]]:
        self._recorder.catch_up()
        return [(change.kind, change.item) for change in self._recorder.changes]
