"""A set is created, scaled, and changed in what rolls nothing."""

import time

import pytest

from harness.audit import WRITES, Request
from harness.kube import ApiError, Kube
from harness.operator import Operator
from harness.plane import OPERATOR, Plane
from harness.waiting import eventually
from tests.integration.disaggregatedset.support import (
    NAME,
    REVISION,
    ROLE,
    SLICE,
    Fleet,
    counting,
    role,
)


def test_a_set_is_made_of_leaderworkersets_and_services_that_the_wire_knows(fleet: Fleet) -> None:
    made = fleet.create([role("prefill", 2, size=2), role("decode", 1)])
    fleet.settled()
    (revision,) = fleet.revisions()
    decode, prefill = fleet.lws()
    assert decode["metadata"]["name"] == f"pd-0-{revision}-decode"
    assert prefill["metadata"]["name"] == f"pd-0-{revision}-prefill"
    ours = {NAME: "pd", ROLE: "prefill", SLICE: "0", REVISION: revision}
    assert prefill["metadata"]["labels"] == {**ours, "app": "pd-0-prefill"}
    template = prefill["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert template["metadata"]["labels"] == {**ours, "app": "pd-0-prefill", "team": "x"}
    (owner,) = prefill["metadata"]["ownerReferences"]
    assert owner["uid"] == made["metadata"]["uid"]
    assert owner["controller"] is True
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    service = fleet.kube.get("services", f"pd-0-{revision}-prefill-prv", fleet.namespace)
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == service["metadata"]["labels"] == ours
    assert "ports" not in service["spec"]


def test_status_sums_the_roles_in_the_order_of_the_spec(fleet: Fleet) -> None:
    fleet.create([role("prefill", 2), role("decode", 1)])
    status = fleet.settled()["status"]
    assert status["roleStatuses"] == [
        {"name": "prefill", "replicas": 2, "readyReplicas": 2, "updatedReplicas": 2},
        {"name": "decode", "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1},
    ]


def test_nothing_is_written_or_listed_at_rest(fleet: Fleet, control_plane: Plane) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    eventually(lambda: len(fleet.services()) == 2, what="the services")

    def asked(seconds: float) -> list[Request]:
        with control_plane.audit.counting(user=OPERATOR) as count:
            # A change that means nothing to us is an event like any other.
            note = {"metadata": {"annotations": {"note": str(time.monotonic())}}}
            fleet.kube.patch("disaggregatedsets", "pd", note, fleet.namespace)
            time.sleep(seconds)
        return [
            one
            for one in count.matching(verbs={*WRITES, "list", "get"})
            if one.namespace == fleet.namespace
        ]

    eventually(lambda: not asked(1.5), every=0, what="counters have come to rest")
    assert asked(3.0) == []


def test_roles_are_scaled_straight_where_nothing_rolls(fleet: Fleet) -> None:
    roles = [role("prefill", 1), role("decode", 1)]
    fleet.create(roles)
    fleet.settled()
    before = {one["metadata"]["uid"] for one in fleet.lws()}
    fleet.change([role("prefill", 3), role("decode", 2)])
    status = fleet.settled()["status"]
    assert [one["readyReplicas"] for one in status["roleStatuses"]] == [3, 2]
    fleet.change([role("prefill", 0), role("decode", 0)])
    fleet.settled()
    assert {one["metadata"]["uid"] for one in fleet.lws()} == before


def test_another_order_of_roles_rolls_nothing(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 1}) as seen:
        fleet.change([role("decode", 1), role("prefill", 1)])
        status = fleet.settled()["status"]
        assert [one["name"] for one in status["roleStatuses"]] == ["decode", "prefill"]
        seen.require_clean()
        assert seen.created() == 0


def test_metadata_and_rollout_strategy_reach_what_exists(fleet: Fleet) -> None:
    metadata = {"labels": {"queue": "a", "old": "x"}, "annotations": {"note": "1"}}
    others = role("decode", 1)
    fleet.create([role("prefill", 1, metadata=metadata), others])
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 1}) as seen:
        changed = {"labels": {"queue": "b"}, "annotations": {}}
        fleet.change([role("prefill", 1, surge=0, unavailable=1, metadata=changed), others])

        def amended() -> bool:
            (_, prefill) = fleet.lws()
            labels = prefill["metadata"]["labels"]
            rolling = prefill["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
            return (
                labels.get("queue") == "b"
                and "old" not in labels
                and "note" not in prefill["metadata"].get("annotations", {})
                and (rolling["maxSurge"], rolling["maxUnavailable"]) == (0, 1)
            )

        eventually(amended, what="metadata and strategy are patched in place")
        fleet.settled()
        seen.require_clean()
        assert seen.created() == 0


def test_a_label_that_somebody_else_set_stays(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    decode = fleet.lws()[0]["metadata"]["name"]
    theirs = {"metadata": {"labels": {"theirs": "1", NAME: None}}}
    fleet.kube.patch("leaderworkersets", decode, theirs, fleet.namespace)

    def mended() -> bool:
        labels = fleet.kube.get("leaderworkersets", decode, fleet.namespace)["metadata"]["labels"]
        return bool(labels.get("theirs") == "1" and labels.get(NAME) == "pd")

    eventually(mended, what="our label is back, theirs is there")


def test_a_name_that_is_too_long_is_refused_with_its_field(fleet: Fleet) -> None:
    with pytest.raises(ApiError) as refused:
        fleet.create([role("prefill", 1), role("d" * 60, 1)])
    assert "spec.roles[1].name" in refused.value.message
    assert "shorten" in refused.value.message


def test_the_longest_name_that_fits_works(kube: Kube, operator: Operator, namespace: str) -> None:
    # <set>-0-<8 of revision>-<role>-prv is 63 long; pod names and label values fit as well.
    fleet = Fleet(kube, namespace, "s" * 24)
    longest = "r" * (63 - len("-prv") - len(f"{fleet.name}-0-12345678-") - 14)
    fleet.create([role(longest, 1), role("b", 1)])
    fleet.settled()


def test_a_set_that_is_half_at_rest_is_refused(fleet: Fleet) -> None:
    with pytest.raises(ApiError) as refused:
        fleet.create([role("prefill", 1), role("decode", 0)])
    assert "spec.roles" in refused.value.message


def test_a_leaderworkerset_of_our_name_that_is_not_ours_is_left_alone(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    prefill = fleet.lws()[1]
    name = prefill["metadata"]["name"]
    fleet.delete()
    eventually(lambda: not fleet.lws(), what="the set's are gone")
    spec = {**prefill["spec"], "replicas": 0}
    foreign = {
        "apiVersion": prefill["apiVersion"],
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "labels": prefill["metadata"]["labels"]},
        "spec": spec,
    }
    made = fleet.kube.create(foreign, fleet.namespace)
    fleet.create([role("prefill", 1), role("decode", 1)])

    def told() -> bool:
        condition = fleet.condition("Conflict")
        return condition is not None and condition["status"] == "True"

    eventually(told, what="the conflict is a condition")
    condition = fleet.condition("Conflict")
    assert condition is not None
    assert name in condition["message"]
    assert "ObjectConflict" in fleet.reasons()
    standing = fleet.kube.get("leaderworkersets", name, fleet.namespace)
    assert standing["metadata"]["uid"] == made["metadata"]["uid"]
    assert standing["spec"]["replicas"] == 0
    fleet.kube.delete("leaderworkersets", name, fleet.namespace)
    fleet.settled()
    cleared = fleet.condition("Conflict")
    assert cleared is not None
    assert cleared["status"] == "False"
