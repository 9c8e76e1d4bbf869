"""What the tests of DisaggregatedSets share: manifests, waiting, and counting what serves."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness import pods
from harness.kube import Json, Kube
from harness.kwok import UNREADY
from harness.waiting import eventually
from harness.watching import Recorder

PREFIX = "disaggregatedset.x-k8s.io/"
NAME, ROLE, SLICE, REVISION = (PREFIX + word for word in ("name", "role", "slice", "revision"))
INITIAL = PREFIX + "initial-replicas"
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
API_VERSION = "disaggregatedset.x-k8s.io/v1"
SETS, SCALERS, LWS = "disaggregatedsets", "disaggregatedsetrolescalers", "leaderworkersets"


def role(
    name: str,
    replicas: int | None,
    *,
    image: str = "example.com/serve:1",
    surge: int | str = 1,
    unavailable: int | str = 0,
    size: int = 1,
    external: bool = False,
    annotations: Mapping[str, str] | None = None,
    metadata: Json | None = None,
) -> Json:
    """One role; `annotations` are those of its pods."""
    pod: Json = {
        "metadata": {"labels": {"team": "x"}, "annotations": dict(annotations or {})},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "serve",
                    "image": image,
                    "resources": {"requests": {"cpu": "10m", "memory": "1Mi"}},
                }
            ],
        },
    }
    made: Json = {
        "name": name,
        "spec": {
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxSurge": surge, "maxUnavailable": unavailable},
            },
            "leaderWorkerTemplate": {"size": size, "workerTemplate": pod},
        },
    }
    if replicas is not None:
        made["spec"]["replicas"] = replicas
    if external:
        made["scaling"] = {"mode": "External"}
    if metadata is not None:
        made["metadata"] = metadata
    return made


def ds(name: str, roles: Sequence[Json], **spec: Any) -> Json:
    """A DisaggregatedSet."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DisaggregatedSet",
        "metadata": {"name": name},
        "spec": {"roles": list(roles), **spec},
    }


class Fleet:
    """One DisaggregatedSet of a namespace, as a user and an onlooker have it."""

    def __init__(self, kube: Kube, namespace: str, name: str = "pd") -> None:
        self.kube, self.namespace, self.name = kube, namespace, name

    # As a user

    def create(self, roles: Sequence[Json], **spec: Any) -> Json:
        return self.kube.create(ds(self.name, roles, **spec), self.namespace)

    def change(self, roles: Sequence[Json] | None = None, **spec: Any) -> Json:
        """Other roles, or another field of the spec."""
        body = {"spec": {**({} if roles is None else {"roles": list(roles)}), **spec}}
        return self.kube.patch(SETS, self.name, body, self.namespace)

    def delete(self, propagation: str = "Background") -> None:
        self.kube.delete(SETS, self.name, self.namespace, propagation=propagation)

    # As an onlooker

    def get(self) -> Json:
        return self.kube.get(SETS, self.name, self.namespace)

    def condition(self, kind: str) -> Json | None:
        conditions = self.get().get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == kind), None)

    def lws(self) -> list[Json]:
        """Its LeaderWorkerSets by name, those that are being deleted left out."""
        found = self.kube.items(LWS, self.namespace, selector=f"{NAME}={self.name}")
        living = [one for one in found if "deletionTimestamp" not in one["metadata"]]
        return sorted(living, key=lambda one: str(one["metadata"]["name"]))

    def replicas(self) -> dict[tuple[str, str], int]:
        """By (revision, role), summed over slices."""
        counts: Counter[tuple[str, str]] = Counter()
        for one in self.lws():
            labels = one["metadata"]["labels"]
            counts[labels[REVISION], labels[ROLE]] += one["spec"]["replicas"]
        return dict(counts)

    def revisions(self) -> set[str]:
        return {revision for revision, _ in self.replicas()}

    def services(self) -> set[str]:
        """Names of its services."""
        found = self.kube.items("services", self.namespace, selector=f"{NAME}={self.name}")
        return {str(one["metadata"]["name"]) for one in found}

    def scaler(self, role: str) -> Json | None:
        return self.kube.find(SCALERS, f"{self.name}-{role}", self.namespace)

    def events(self) -> list[Json]:
        found = self.kube.items("events.events.k8s.io", self.namespace)
        return [one for one in found if one["regarding"].get("name") == self.name]

    def reasons(self) -> set[str]:
        return {one["reason"] for one in self.events()}

    # Waiting

    def settled(self, *, timeout: float = 60) -> Json:
        """Wait until it is Available for its present generation; one revision is left, served."""

        def check() -> Json:
            item = self.get()
            status = item.get("status", {})
            assert status.get("observedGeneration") == item["metadata"]["generation"], status
            states = {one["type"]: one["status"] for one in status["conditions"]}
            assert states["Available"] == "True", status
            assert states["Progressing"] == "False", status
            assert len(self.revisions()) == 1, self.replicas()
            return item

        return eventually(check, timeout=timeout, what=f"{self.name} is Available")

    def until(
        self, check: Callable[[dict[tuple[str, str], int]], object], *, timeout: float = 30
    ) -> dict[tuple[str, str], int]:
        """Wait for something of the replicas by (revision, role)."""

        def checked() -> dict[tuple[str, str], int]:
            found = self.replicas()
            assert check(found), found
            return found

        return eventually(checked, timeout=timeout, what="the replicas")

    def release(self, selector: str = NAME) -> None:
        """New pods were held unready: let those that are there go."""
        for pod in self.kube.items("pods", self.namespace, selector=selector):
            if UNREADY in pod["metadata"].get("annotations", {}):
                pods.release(self.kube, self.namespace, pod["metadata"]["name"], UNREADY)


def ready_groups(live: Mapping[str, Json], *, key: str = ROLE) -> Counter[str]:
    """Ready leaders by role (or another label); tests that count have groups of one pod."""
    return Counter(
        item["metadata"]["labels"].get(key, "")
        for item in live.values()
        if item["metadata"]["labels"].get(WORKER_INDEX) == "0" and pods.is_ready(item)
    )


def counting(kube: Kube, namespace: str, floors: Mapping[str, int], *, total: int = 0) -> Recorder:
    """A recorder of pods that holds it against us if a role ever has fewer ready than its floor,
    or all of them together fewer than `total`."""

    def invariant(live: Mapping[str, Json]) -> str | None:
        ready = ready_groups(live)
        low = [f"{r}: {ready[r]} < {floor}" for r, floor in floors.items() if ready[r] < floor]
        if sum(ready.values()) < total:
            low.append(f"{sum(ready.values())} ready of {total}")
        return "; ".join(low) or None

    return Recorder(kube, namespace, selector=NAME, invariant=invariant)
