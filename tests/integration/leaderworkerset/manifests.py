"""LeaderWorkerSets to apply, as a user would write them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness import kwok
from harness.kube import Json

API_VERSION = "leaderworkerset.x-k8s.io/v1"
PREFIX = "leaderworkerset.sigs.k8s.io/"
NAME = "sample"
IMAGE = "serve:1"
"""What a set serves unless the test says otherwise."""


def leader_worker_set(
    name: str = NAME,
    *,
    replicas: int = 3,
    surge: int | str | None = None,
    unavailable: int | str | None = None,
    partition: int | None = None,
    annotations: dict[str, str] | None = None,
    spec: Json | None = None,
    **template: Any,
) -> Json:
    """`template` is what `pods_of` takes; `spec` are further fields of the spec."""
    budgets = {"maxSurge": surge, "maxUnavailable": unavailable, "partition": partition}
    configuration = {field: value for field, value in budgets.items() if value is not None}
    return {
        "apiVersion": API_VERSION,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "replicas": replicas,
            "rolloutStrategy": {"rollingUpdateConfiguration": configuration},
            "leaderWorkerTemplate": _without_nulls(pods_of(**{"size": 2, **template})),
            **(spec or {}),
        },
    }


def pods_of(
    *,
    image: str = IMAGE,
    size: int | None = None,
    hold: bool = False,
    ready_after: str | None = None,
    claims: bool = False,
) -> Json:
    """A leaderWorkerTemplate.

    `hold`: a leader starts only when a test releases its group; `ready_after`: it runs at once and
    is ready that much later.
    """
    slow = {kwok.HOLD: "yes" if hold else None, kwok.READY_AFTER: ready_after}
    template: Json = {
        "leaderTemplate": _pod(image, slow),
        "workerTemplate": _pod(image, {}),
    }
    if size is not None:
        template["size"] = size
    if claims:
        template["volumeClaimTemplates"] = [claim("1Gi")]
    return template


def pods_in(groups: Iterable[int], *, size: int = 2, name: str = NAME) -> Counter[str]:
    """The names of all pods of these groups; a group that is named twice counts twice."""
    members = ("", *(f"-{worker}" for worker in range(1, size)))
    return Counter(f"{name}-{group}{member}" for group in groups for member in members)


def claim(storage: str) -> Json:
    """A volume claim template of that many bytes."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def _without_nulls(value: Any) -> Any:
    """In a patch a null takes away; in a new object it has no business."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _pod(image: str, annotations: dict[str, str | None]) -> Json:
    return {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "serve", "image": image}]},
    }
