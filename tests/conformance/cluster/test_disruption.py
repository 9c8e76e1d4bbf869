"""PodDisruptionBudgets: how many pods may be evicted."""

import pytest

from tests.conformance.cluster.worlds.objects import (
    stateful_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import Json, World


def budget(**spec: int | str) -> Json:
    """Of the pods of `web`."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "desired", "allowed", "expected"),
    [
        ({"minAvailable": 2}, 2, 1, 3),
        ({"minAvailable": "50%"}, 2, 1, 3),
        ({"maxUnavailable": 1}, 2, 1, 3),
        ({"maxUnavailable": "34%"}, 1, 2, 3),
        ({"maxUnavailable": 5}, 0, 3, 3),
        ({"minAvailable": 4}, 4, 0, 3),
    ],
)
def test_what_a_budget_allows(
    world: World, spec: dict[str, int | str], desired: int, allowed: int, expected: int
) -> None:
    world.create(stateful_set(parallel=True))
    world.ready(3)
    world.create(budget(**spec))
    world.until(lambda: _status(world).get("currentHealthy") == 3, what="three healthy")
    world.settle()
    status = _status(world)
    (condition,) = status.pop("conditions")
    assert condition.pop("lastTransitionTime")
    is_allowed = "True" if allowed else "False"
    assert condition == {
        "type": "DisruptionAllowed",
        "status": is_allowed,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": 1,
    }
    assert status == {
        "currentHealthy": 3,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": 1,
    }


def test_a_budget_follows_its_pods(world: World) -> None:
    world.create(budget(minAvailable=2))
    world.settle()
    assert _status(world)["disruptionsAllowed"] == 0
    world.create(with_pod_annotations(stateful_set(parallel=True), terminate_after="3s"))
    world.ready(3)
    world.until(lambda: _status(world)["disruptionsAllowed"] == 1, what="one is allowed")
    world.delete("pods", "web-1")
    world.until(lambda: _status(world)["disruptionsAllowed"] == 0, what="none is allowed")
    world.until(lambda: _status(world)["disruptionsAllowed"] == 1, what="one is allowed again")


def _status(world: World) -> Json:
    return dict(world.get("poddisruptionbudgets", "web").get("status") or {})
