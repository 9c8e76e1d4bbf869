"""Roles whose replicas an autoscaler sets."""

import pytest

from harness.kube import ApiError, Json, Kube
from harness.kwok import UNREADY
from harness.operator import Operator
from harness.waiting import eventually
from tests.integration.disaggregatedset.support import (
    NAME,
    ROLE,
    SCALERS,
    WORKER_INDEX,
    Fleet,
    counting,
    role,
)


def mixed(decode: int | None = None, image: str = "example.com/serve:1") -> list[Json]:
    return [
        role("prefill", 1, image=image),
        role("decode", decode, image=image, external=True),
    ]


def ours(fleet: Fleet) -> Json:
    """The scaler of role decode, once it is there and bound."""

    def found() -> Json:
        scaler = fleet.scaler("decode")
        assert scaler is not None
        assert "conditions" in scaler.get("status", {})
        return scaler

    return eventually(found, what="the scaler")


def scale(fleet: Fleet, replicas: int) -> None:
    change = {"spec": {"replicas": replicas}}
    fleet.kube.patch(SCALERS, f"{fleet.name}-decode", change, fleet.namespace, subresource="scale")


def decodes(fleet: Fleet) -> int:
    return sum(n for (_, name), n in fleet.replicas().items() if name == "decode")


def test_an_external_role_starts_with_one_and_follows_its_scaler(fleet: Fleet) -> None:
    made = fleet.create(mixed())
    fleet.settled()
    scaler = ours(fleet)
    assert scaler["metadata"]["labels"] == {NAME: "pd", ROLE: "decode"}
    assert scaler["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert scaler["spec"]["replicas"] == 1
    (ready,) = scaler["status"]["conditions"]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "True", "Bound")
    scale(fleet, 3)

    def followed() -> bool:
        view = fleet.kube.get(SCALERS, "pd-decode", fleet.namespace, subresource="scale")
        return bool(view["status"]["replicas"] == view["spec"]["replicas"] == 3)

    eventually(followed, what="the scaler shows three")
    fleet.settled()
    status = fleet.kube.get(SCALERS, "pd-decode", fleet.namespace, subresource="scale")["status"]
    leaders = fleet.kube.items("pods", fleet.namespace, selector=status["selector"])
    assert len(leaders) == 3
    assert {pod["metadata"]["labels"][WORKER_INDEX] for pod in leaders} == {"0"}
    scale(fleet, 0)
    eventually(lambda: decodes(fleet) == 0, what="scaled to nothing")
    scale(fleet, 1)
    fleet.settled()


def test_a_scaler_that_is_deleted_comes_back_with_what_runs(fleet: Fleet) -> None:
    fleet.create(mixed())
    fleet.settled()
    ours(fleet)
    scale(fleet, 3)
    eventually(lambda: decodes(fleet) == 3, what="three run")
    uid = ours(fleet)["metadata"]["uid"]
    with counting(fleet.kube, fleet.namespace, {}) as seen:
        fleet.settled()
        fleet.kube.delete(SCALERS, "pd-decode", fleet.namespace)
        eventually(lambda: ours(fleet)["metadata"]["uid"] != uid, what="a scaler anew")
        assert ours(fleet)["spec"]["replicas"] == 3
        fleet.settled()
        seen.catch_up()
        assert seen.deleted() == 0


def test_a_scaler_of_another_owner_is_a_conflict_that_resolves_itself(fleet: Fleet) -> None:
    foreign = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSetRoleScaler",
        "metadata": {"name": "pd-decode", "labels": {NAME: "pd", ROLE: "decode"}},
        "spec": {"replicas": 7},
    }
    made = fleet.kube.create(foreign, fleet.namespace)
    fleet.create(mixed())

    def told() -> bool:
        condition = fleet.condition("Conflict")
        return condition is not None and condition["status"] == "True"

    eventually(told, what="the conflict is told")
    condition = fleet.condition("Conflict")
    assert condition is not None
    assert condition["reason"] == "ScalerConflict"
    assert "pd-decode" in condition["message"]
    eventually(lambda: "ScalerConflict" in fleet.reasons(), what="and an event")
    assert decodes(fleet) == 0
    standing = fleet.scaler("decode")
    assert standing is not None
    assert standing["metadata"]["uid"] == made["metadata"]["uid"]
    assert "status" not in standing
    fleet.kube.delete(SCALERS, "pd-decode", fleet.namespace)
    fleet.settled()
    assert ours(fleet)["spec"]["replicas"] == 1
    assert decodes(fleet) == 1
    condition = fleet.condition("Conflict")
    assert condition is not None
    assert condition["status"] == "False"


def test_two_sets_whose_scalers_would_have_one_name(
    kube: Kube, operator: Operator, namespace: str
) -> None:
    """Set `a-b` role `c`, set `a` role `b-c`: the first has it, the second waits for it to go."""
    first, second = Fleet(kube, namespace, "a-b"), Fleet(kube, namespace, "a")
    first.create([role("c", None, external=True), role("d", 1)])
    first.settled()
    second.create([role("b-c", 2), role("d", 1)])
    second.settled()
    second.change([role("b-c", 2, external=True), role("d", 1)])

    def told() -> bool:
        condition = second.condition("Conflict")
        return condition is not None and condition["status"] == "True"

    eventually(told, what="the second is told")
    scaler = first.scaler("c")
    assert scaler is not None
    assert scaler["metadata"]["ownerReferences"][0]["name"] == "a-b"
    assert sum(n for (_, name), n in second.replicas().items() if name == "b-c") == 2
    first.delete()

    def own() -> bool:
        scaler = second.scaler("b-c")
        return (
            scaler is not None
            and scaler["metadata"]["ownerReferences"][0]["name"] == "a"
            and scaler["spec"]["replicas"] == 2
        )

    eventually(own, what="it goes over with what runs")
    second.settled()


def test_a_role_turns_external_and_back_in_mid_update(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 3)])
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 3}) as seen:
        held = [
            role("prefill", 1, image="example.com/serve:2"),
            role("decode", 3, image="example.com/serve:2", annotations={UNREADY: "x"}),
        ]
        fleet.change(held)
        fleet.until(
            lambda found: any(
                key != first and name == "decode" and n for (key, name), n in found.items()
            )
        )
        held[1]["scaling"] = {"mode": "External"}
        fleet.change(held)
        assert ours(fleet)["spec"]["replicas"] >= 3
        held[1]["scaling"] = {"mode": "Static"}
        fleet.change(held)
        eventually(lambda: fleet.scaler("decode") is None, what="the scaler goes")
        held[1]["scaling"] = {"mode": "External"}
        fleet.change(held)
        ours(fleet)
        scale(fleet, 4)
        while not _is_settled(fleet):
            fleet.release()
        seen.require_clean()
    assert decodes(fleet) == 4


def _is_settled(fleet: Fleet) -> bool:
    try:
        fleet.settled(timeout=0.3)
    except AssertionError:
        return False
    return True


def test_a_scaler_lowered_in_mid_update_takes_nothing_new_away_before_its_end(
    fleet: Fleet,
) -> None:
    fleet.create(mixed())
    fleet.settled()
    ours(fleet)
    scale(fleet, 4)
    fleet.settled()
    (first,) = fleet.revisions()
    fleet.change(mixed(image="example.com/serve:2"))
    fleet.until(
        lambda found: any(
            key != first and name == "decode" and n >= 2 for (key, name), n in found.items()
        )
    )
    scale(fleet, 1)
    fleet.settled()
    assert decodes(fleet) == 1


def test_a_foreground_deletion_with_an_external_role_ends(fleet: Fleet) -> None:
    fleet.create(mixed())
    fleet.settled()
    ours(fleet)
    fleet.delete("Foreground")
    eventually(
        lambda: fleet.kube.find("disaggregatedsets", "pd", fleet.namespace) is None,
        what="the set is gone",
    )
    eventually(lambda: not fleet.lws() and fleet.scaler("decode") is None, what="and all of it")
    eventually(lambda: not fleet.services(), what="services too")


def test_slices_are_refused_with_an_external_role(fleet: Fleet) -> None:
    with pytest.raises(ApiError) as refused:
        fleet.create(mixed(), slices=2)
    assert "spec.slices" in refused.value.message
