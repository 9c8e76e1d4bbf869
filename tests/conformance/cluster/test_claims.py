"""Claims of StatefulSets: made before the pod, kept or not by the retention policy."""

from typing import Any

import pytest

from tests.conformance.cluster.worlds.objects import claim_template, stateful_set
from tests.conformance.cluster.worlds.world import Json, World

KEEP, DROP = "Retain", "Delete"


def with_claims(deleted: str = KEEP, scaled: str = KEEP, **fields: Any) -> Json:
    """A StatefulSet with a claim for each pod."""
    return stateful_set(
        volumeClaimTemplates=[claim_template()],
        persistentVolumeClaimRetentionPolicy={"whenDeleted": deleted, "whenScaled": scaled},
        **fields,
    )


def test_a_claim_for_each_pod_is_made_and_bound(world: World) -> None:
    world.create(with_claims(replicas=2))
    world.ready(2)
    claims = {one["metadata"]["name"]: one for one in world.items("persistentvolumeclaims")}
    assert sorted(claims) == ["data-web-0", "data-web-1"]
    assert claims["data-web-0"]["metadata"]["labels"] == {"app": "web"}
    assert claims["data-web-0"]["status"]["phase"] == "Bound"
    assert claims["data-web-0"]["status"]["capacity"] == {"storage": "1Gi"}
    volumes = world.get("pods", "web-1")["spec"]["volumes"]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-1"}} in volumes


def test_claims_stay_unless_told_otherwise(world: World) -> None:
    world.create(with_claims(replicas=2))
    world.ready(2)
    world.scale(1)
    world.until(lambda: len(world.items("pods")) == 1, what="one pod")
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("pods"), what="no pods")
    world.settle()
    assert len(world.items("persistentvolumeclaims")) == 2


def test_a_claim_that_stayed_is_used_again(world: World) -> None:
    world.create(with_claims(replicas=1))
    world.ready(1)
    uid = world.get("persistentvolumeclaims", "data-web-0")["metadata"]["uid"]
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("pods"), what="no pods")
    world.create(with_claims(replicas=1))
    world.ready(1)
    assert world.get("persistentvolumeclaims", "data-web-0")["metadata"]["uid"] == uid


def test_claims_that_go_with_the_set(world: World) -> None:
    made = world.create(with_claims(deleted=DROP, replicas=2))
    world.ready(2)
    world.settle()
    assert _owners(world, "data-web-0") == [("StatefulSet", made["metadata"]["uid"])]
    world.scale(1)
    world.until(lambda: len(world.items("pods")) == 1, what="one pod")
    world.settle()
    assert len(world.items("persistentvolumeclaims")) == 2
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("persistentvolumeclaims"), what="no claims")


def test_claims_that_go_with_scaling(world: World) -> None:
    world.create(with_claims(scaled=DROP, replicas=2))
    world.ready(2)
    world.settle()
    assert _owners(world, "data-web-1") == []
    world.scale(1)
    world.until(lambda: len(world.items("persistentvolumeclaims")) == 1, what="one claim")
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("pods"), what="no pods")
    world.settle()
    assert len(world.items("persistentvolumeclaims")) == 1


def test_claims_that_go_with_both(world: World) -> None:
    world.create(with_claims(deleted=DROP, scaled=DROP, replicas=2))
    world.ready(2)
    world.scale(1)
    world.until(lambda: len(world.items("persistentvolumeclaims")) == 1, what="one claim")
    world.delete("statefulsets", "web")
    world.until(lambda: not world.items("persistentvolumeclaims"), what="no claims")


@pytest.mark.parametrize("policy", [KEEP, DROP])
def test_a_policy_that_changes_changes_the_owners(world: World, policy: str) -> None:
    other = DROP if policy == KEEP else KEEP
    made = world.create(with_claims(deleted=other, replicas=1))
    world.ready(1)
    retention = {"whenDeleted": policy, "whenScaled": KEEP}
    change = {"spec": {"persistentVolumeClaimRetentionPolicy": retention}}
    world.patch("statefulsets", "web", change)
    uid = made["metadata"]["uid"]
    wanted = [("StatefulSet", uid)] if policy == DROP else []
    world.until(lambda: _owners(world, "data-web-0") == wanted, what="other owners")


def test_a_claim_is_not_deleted_while_a_pod_uses_it(world: World) -> None:
    world.create(with_claims(replicas=1))
    world.ready(1)
    world.delete("persistentvolumeclaims", "data-web-0")
    world.settle()
    claim = world.get("persistentvolumeclaims", "data-web-0")["metadata"]
    assert claim["finalizers"] == ["kubernetes.io/pvc-protection"]
    world.delete("pods", "web-0")
    world.until(lambda: _uid(world, "data-web-0") not in ("", claim["uid"]), what="another claim")
    world.ready(1)


def test_a_pod_waits_for_a_claim_that_is_missing(world: World) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "none"}}
    made = stateful_set(replicas=1)
    made["spec"]["template"]["spec"]["volumes"] = [volume]
    world.create(made)
    world.until(lambda: _message(world, "web-0"), what="the scheduler says why")
    assert _message(world, "web-0") == (
        '0/8 nodes are available: persistentvolumeclaim "none" not found. not found'
    )
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim_template("none")}
    world.create(claim)
    world.ready(1)


def test_a_pod_waits_for_a_claim_that_nobody_can_bind(world: World) -> None:
    made = with_claims(replicas=1)
    made["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"] = "none"
    world.create(made)
    world.until(lambda: _message(world, "web-0"), what="the scheduler says why")
    assert _message(world, "web-0") == (
        "0/8 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    )


def _owners(world: World, name: str) -> list[tuple[str, str]]:
    owners = world.get("persistentvolumeclaims", name)["metadata"].get("ownerReferences") or ()
    return [(one["kind"], one["uid"]) for one in owners]


def _uid(world: World, name: str) -> str:
    found = world.find("persistentvolumeclaims", name)
    return found["metadata"]["uid"] if found else ""


def _message(world: World, pod: str) -> str:
    found = world.find("pods", pod) or {}
    for condition in found.get("status", {}).get("conditions") or ():
        if condition["type"] == "PodScheduled":
            message: str = condition.get("message") or ""
            return message
    return ""
