"""Headless Services of roles."""

from harness.waiting import eventually
from tests.integration.disaggregatedset.support import NAME, REVISION, ROLE, SLICE, Fleet, role


def test_a_service_deleted_by_hand_comes_back(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    for name in fleet.services():
        before = fleet.kube.get("services", name, fleet.namespace)["metadata"]["uid"]
        fleet.kube.delete("services", name, fleet.namespace)

        def anew(name: str = name, before: str = before) -> bool:
            found = fleet.kube.find("services", name, fleet.namespace)
            return found is not None and found["metadata"]["uid"] != before

        eventually(anew, what=f"{name} is back")


def test_foreign_services_with_our_labels_are_left_alone(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "theirs",
            "labels": {NAME: "pd", ROLE: "gone", REVISION: "00000000", SLICE: "0"},
        },
        "spec": {"clusterIP": "None", "selector": {"x": "y"}},
    }
    made = fleet.kube.create(foreign, fleet.namespace)
    fleet.change([role("prefill", 1, image="example.com/serve:2"), role("decode", 1)])
    fleet.settled()
    eventually(lambda: len(fleet.services()) == 3, what="the old ones are gone")
    standing = fleet.kube.get("services", "theirs", fleet.namespace)
    assert standing["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_foreign_service_in_our_place_is_told_and_left_alone(fleet: Fleet) -> None:
    fleet.create([role("prefill", 1), role("decode", 1)])
    fleet.settled()
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    fleet.change([role("prefill", 0), role("decode", 0)])
    fleet.settled()
    (name, other) = sorted(fleet.services())
    fleet.kube.delete("services", name, fleet.namespace)
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"clusterIP": "None", "selector": {"x": "y"}},
    }
    made = fleet.kube.create(foreign, fleet.namespace)
    fleet.change([role("prefill", 1), role("decode", 1)])
    fleet.settled()

    def told() -> bool:
        condition = fleet.condition("Conflict")
        return condition is not None and name in condition["message"]

    eventually(told, what="the conflict names it")
    standing = fleet.kube.get("services", name, fleet.namespace)
    assert standing["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    fleet.kube.delete("services", name, fleet.namespace)
    eventually(lambda: fleet.services() == {name, other}, what="ours takes its place")
