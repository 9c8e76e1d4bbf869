"""What a test may ask of a world."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]


class World(ABC):
    """One namespace of a running cluster, blocking."""

    namespace: str
    nodes: list[str]

    # Objects

    @abstractmethod
    def create(self, obj: Mapping[str, Any]) -> Json:
        """In the namespace, if the kind has one."""

    @abstractmethod
    def find(self, resource: str, name: str) -> Json | None:
        """One object, or None."""

    @abstractmethod
    def items(self, resource: str) -> list[Json]:
        """All of the namespace, by name; of the cluster, if the kind has none."""

    @abstractmethod
    def patch(
        self,
        resource: str,
        name: str,
        change: Mapping[str, Any],
        *,
        subresource: str = "",
        kind: str = "merge",
    ) -> Json:
        """A merge patch, or another `kind`."""

    @abstractmethod
    def delete(
        self, resource: str, name: str, *, propagation: str | None = None, grace: int | None = None
    ) -> None:
        """That it is gone already is fine."""

    # Time

    @abstractmethod
    def until(self, check: Callable[[], object], *, timeout: float = 30, what: str = "") -> None:
        """Wait until it is true."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until nothing happens any more."""

    @abstractmethod
    def changes(self) -> list[tuple[str, Json]]:
        """Every change of pods so far: ADDED, MODIFIED or DELETED, and the pod."""

    # Made of these

    def get(self, resource: str, name: str) -> Json:
        """One object that is there."""
        found = self.find(resource, name)
        assert found is not None, f"there is no {resource} {name}"
        return found

    def status(self, name: str = "web") -> Json:
        """The status of a StatefulSet."""
        return dict(self.get("statefulsets", name).get("status") or {})

    def ready(self, count: int, name: str = "web") -> None:
        """Wait until so many of a StatefulSet's pods are ready, by its status."""
        self.until(
            lambda: self.status(name).get("readyReplicas", 0) == count,
            what=f"{count} pods of {name} are ready",
        )

    def scale(self, replicas: int, name: str = "web") -> None:
        """Change a StatefulSet's replicas."""
        self.patch("statefulsets", name, {"spec": {"replicas": replicas}})

    def change_template(self, value: str, name: str = "web") -> None:
        """Another template."""
        template = {"metadata": {"annotations": {"test.lws/version": value}}}
        self.patch("statefulsets", name, {"spec": {"template": template}})

    def annotate(self, pod: str, **annotations: str | None) -> None:
        """Annotations of a pod by the short names of `test.lws/…`, None to take one away."""
        named = {f"test.lws/{key.replace('_', '-')}": one for key, one in annotations.items()}
        self.patch("pods", pod, {"metadata": {"annotations": named}})

    def log(self, start: int = 0) -> list[str]:
        """What became of pods, in order: `+web-0` made, `-web-0` to go, `!web-0` gone."""
        told: list[str] = []
        ending: set[str] = set()
        for kind, pod in self.changes()[start:]:
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            if kind == "ADDED":
                told.append(f"+{name}")
            if pod["metadata"].get("deletionTimestamp") and uid not in ending:
                ending.add(uid)
                told.append(f"-{name}")
            if kind == "DELETED":
                if uid not in ending:
                    told.append(f"-{name}")
                told.append(f"!{name}")
        return told

    def mark(self) -> int:
        """For `log`: from now on."""
        self.settle()
        return len(self.changes())

    def pod_versions(self) -> dict[str, str]:
        """Which template each pod is of, by the annotation that `change_template` sets."""
        return {
            pod["metadata"]["name"]: (pod["metadata"].get("annotations") or {}).get(
                "test.lws/version", ""
            )
            for pod in self.items("pods")
        }
