"""Deployments and ReplicaSets."""

from collections.abc import Iterator
from typing import Any

from tests.conformance.schema.base import TEMPLATE, Case, Json, changed, of

_SPEC: Json = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
DEPLOYMENT: Json = of("Deployment", "apps/v1", spec=_SPEC)
REPLICA_SET: Json = of("ReplicaSet", "apps/v1", spec=_SPEC)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _deployments()
    for name, spec in _STRATEGIES:
        yield _deployment(f"strategy {name}", spec__strategy=spec)
    yield from _replica_sets()


def _deployment(name: str, **changes: Any) -> Case:
    return Case(f"deployment: {name}", changed(DEPLOYMENT, **changes))


def _rolling(**bounds: Any) -> Json:
    return {"type": "RollingUpdate", "rollingUpdate": bounds}


_STRATEGIES: tuple[tuple[str, Json], ...] = (
    ("of no type", {}),
    ("unknown", {"type": "BlueGreen"}),
    ("recreate", {"type": "Recreate"}),
    ("recreate with bounds", {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
    ("numbers", _rolling(maxSurge=1, maxUnavailable=0)),
    ("nothing at all", _rolling(maxSurge=0, maxUnavailable=0)),
    ("nothing in percent", _rolling(maxSurge="0%", maxUnavailable="0%")),
    ("nothing at all, mixed", _rolling(maxSurge="0%", maxUnavailable=0)),
    ("no surge", _rolling(maxSurge=0)),
    ("a negative surge", _rolling(maxSurge=-1)),
    ("negative bounds", _rolling(maxSurge=-1, maxUnavailable=-1)),
    ("a surge of words", _rolling(maxSurge="some")),
    ("words without number", _rolling(maxSurge="%", maxUnavailable="ten%")),
    ("a surge of more than all", _rolling(maxSurge="200%")),
    ("more unavailable than all", _rolling(maxUnavailable="101%")),
    ("a bound as a list", _rolling(maxUnavailable=[])),
)


def _deployments() -> Iterator[Case]:
    pod = "spec__template__spec__"
    yield _deployment("plain")
    yield _deployment("nothing", spec=None)
    yield _deployment("no selector", spec__selector=None)
    yield _deployment("an empty selector", spec__selector={})
    yield _deployment("another selector", spec__selector={"matchLabels": {"app": "x"}})
    yield _deployment("no template", spec__template=None)
    yield _deployment("no replicas", spec__replicas=0)
    yield _deployment("negative replicas", spec__replicas=-1)
    yield _deployment("replicas as text", spec__replicas="2")
    yield _deployment("negative seconds", spec__minReadySeconds=-1)
    yield _deployment("a negative history", spec__revisionHistoryLimit=-1)
    yield _deployment("no history", spec__revisionHistoryLimit=0)
    yield _deployment("paused", spec__paused=True)
    yield _deployment("a deadline", spec__progressDeadlineSeconds=30)
    yield _deployment("no deadline", spec__progressDeadlineSeconds=0)
    yield _deployment("a negative deadline", spec__progressDeadlineSeconds=-1)
    yield _deployment(
        "a deadline before readiness", spec__progressDeadlineSeconds=5, spec__minReadySeconds=5
    )
    yield _deployment("pods that never restart", **{f"{pod}restartPolicy": "Never"})
    yield _deployment("pods with a deadline", **{f"{pod}activeDeadlineSeconds": 5})
    yield _deployment("pods with a bad container", **{f"{pod}containers": [{"name": "A"}]})
    yield _deployment(
        "a requirement",
        spec__selector={"matchExpressions": [{"key": "app", "operator": "Is", "values": ["web"]}]},
    )


def _replica_sets() -> Iterator[Case]:
    for name, changes in (
        ("plain", {}),
        ("nothing", {"spec": None}),
        ("no selector", {"spec__selector": None}),
        ("an empty selector", {"spec__selector": {}}),
        ("another selector", {"spec__selector": {"matchLabels": {"app": "x"}}}),
        ("no template", {"spec__template": None}),
        ("negative replicas", {"spec__replicas": -1}),
        ("negative seconds", {"spec__minReadySeconds": -1}),
        ("pods that never restart", {"spec__template__spec__restartPolicy": "Never"}),
        ("pods with a deadline", {"spec__template__spec__activeDeadlineSeconds": 5}),
    ):
        yield Case(f"replica set: {name}", changed(REPLICA_SET, **changes))
