"""Slices: whole copies, placed apart, updated on their own."""

from collections import defaultdict
from collections.abc import Callable

from harness.kube import Json
from harness.kwok import UNREADY
from harness.waiting import eventually
from tests.integration.disaggregatedset.support import (
    LWS,
    NAME,
    REVISION,
    ROLE,
    SLICE,
    Fleet,
    counting,
    role,
)

HOSTNAME = "kubernetes.io/hostname"


def two(image: str = "example.com/serve:1") -> list[Json]:
    return [role("prefill", 1, image=image), role("decode", 1, image=image)]


def slices(fleet: Fleet) -> set[str]:
    return {one["metadata"]["labels"].get(SLICE, "") for one in fleet.lws()}


def nodes(fleet: Fleet) -> dict[str, set[str]]:
    """By slice: the nodes that its pods run on."""
    found: dict[str, set[str]] = defaultdict(set)
    for pod in fleet.kube.items("pods", fleet.namespace, selector=f"{NAME}={fleet.name}"):
        if "deletionTimestamp" not in pod["metadata"]:
            found[pod["metadata"]["labels"][SLICE]].add(pod["spec"].get("nodeName", ""))
    return found


def test_slices_come_and_go_and_are_placed_apart(fleet: Fleet) -> None:
    placement = {"type": "ExclusiveSlice", "topology": HOSTNAME}
    fleet.create(two(), slices=1, placementPolicy=placement)
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 1}) as seen:
        fleet.change(slices=3)
        status = fleet.settled()["status"]
        assert [one["readyReplicas"] for one in status["roleStatuses"]] == [3, 3]
        assert slices(fleet) == {"0", "1", "2"}
        placed = nodes(fleet)
        assert all(len(of_slice) == 1 for of_slice in placed.values()), placed
        assert len(set.union(*placed.values())) == 3, placed
        eventually(lambda: len(fleet.services()) == 6, what="six services")
        fleet.change(slices=1)
        fleet.settled()
        eventually(lambda: slices(fleet) == {"0"}, what="the others go")
        eventually(lambda: len(fleet.services()) == 2, what="and their services")
        seen.require_clean()


def test_each_slice_is_updated_on_its_own(fleet: Fleet) -> None:
    fleet.create(two(), slices=3)
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 3, "decode": 3}) as seen:
        held = [two("example.com/serve:2")[0], role("decode", 1, image="example.com/serve:2")]
        held[1]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"] = {
            UNREADY: "x"
        }
        fleet.change(held)

        def all_wait() -> bool:
            waiting = {
                one["metadata"]["labels"][SLICE]
                for one in fleet.lws()
                if one["metadata"]["labels"][REVISION] != first
                and one["metadata"]["labels"][ROLE] == "decode"
                and one["spec"]["replicas"] == 1
            }
            return waiting == {"0", "1", "2"}

        eventually(all_wait, what="every slice waits for its own")

        def one_is_done() -> bool:
            fleet.release(selector=f"{SLICE}=1")
            of_slice: dict[str, set[str]] = defaultdict(set)
            for one in fleet.lws():
                labels = one["metadata"]["labels"]
                of_slice[labels[SLICE]].add(labels[REVISION])
            return len(of_slice["1"]) == 1 and len(of_slice["0"]) == len(of_slice["2"]) == 2

        eventually(one_is_done, what="slice 1 is done, the others wait")

        def told() -> bool:
            condition = fleet.condition("Progressing")
            return condition is not None and "and 1 other slice" in condition["message"]

        eventually(told, what="the set says that two slices wait")
        eventually(_released_and_settled(fleet), every=0, what="the others go on")
        seen.require_clean()
    assert fleet.revisions() != {first}


def _released_and_settled(fleet: Fleet) -> Callable[[], bool]:
    def check() -> bool:
        fleet.release()
        fleet.settled(timeout=0.3)
        return True

    return check


def test_objects_of_releases_before_slices_are_taken_over(fleet: Fleet) -> None:
    made = fleet.create(two())
    fleet.settled()
    (revision,) = fleet.revisions()
    # As such a release left them: no slice in names and labels.
    old = fleet.lws()
    for one in old:
        fleet.kube.delete(LWS, one["metadata"]["name"], fleet.namespace)
        one["metadata"] = {
            "name": f"pd-{revision}-{one['metadata']['labels'][ROLE]}",
            "labels": {k: v for k, v in one["metadata"]["labels"].items() if k != SLICE},
            "ownerReferences": one["metadata"]["ownerReferences"],
        }
        labels = one["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]
        del labels[SLICE]
        del one["status"]
        fleet.kube.create(one, fleet.namespace)
    made = fleet.get()
    assert made["spec"]["slices"] == 1

    def taken_over() -> bool:
        names = {one["metadata"]["name"] for one in fleet.lws()}
        return len(names) == 2 and len(fleet.revisions()) == 1

    # Those that had a slice were deleted by hand; whichever is there serves, and nothing twice.
    eventually(taken_over, what="one LeaderWorkerSet a role")
    fleet.settled()
    fleet.change(slices=2)
    fleet.settled()
    assert {one["metadata"]["name"] for one in fleet.lws()} == {
        f"pd-{index}-{revision}-{name}" for index in (0, 1) for name in ("prefill", "decode")
    }


def test_a_slice_zero_from_before_slices_serves_on_and_drains_in_an_update(fleet: Fleet) -> None:
    """Nothing is restarted by taking it over; the next update moves it as any other."""
    fleet.kube.create(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": fleet.namespace},
            "spec": {"hard": {"count/leaderworkersets.leaderworkerset.x-k8s.io": "0"}},
        }
    )
    eventually(
        lambda: (
            fleet.kube.get("resourcequotas", "none", fleet.namespace).get("status", {}).get("hard")
        ),
        what="the quota counts",
    )
    made = fleet.create(two())
    eventually(lambda: "FailedCreate" in fleet.reasons(), what="nothing can be made yet")
    key = _computed_key(fleet)
    fleet.kube.delete("resourcequotas", "none", fleet.namespace)
    owner = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "name": "pd",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    for one in made["spec"]["roles"]:
        labels = {NAME: "pd", ROLE: one["name"], REVISION: key}
        item = {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {
                "name": f"pd-{key}-{one['name']}",
                "labels": labels,
                "ownerReferences": [owner],
            },
            "spec": one["spec"],
        }
        template = item["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        template["metadata"]["labels"].update(labels)
        fleet.kube.create(item, fleet.namespace)
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 1}) as seen:
        fleet.change(two("example.com/serve:2"))
        fleet.settled()
        seen.require_clean()
    assert slices(fleet) == {"0"}
    assert f"pd-{key}-decode-prv" not in fleet.services()


def _computed_key(fleet: Fleet) -> str:
    """The revision of the name that could not be made."""
    (failed, *_) = [one for one in fleet.events() if one["reason"] == "FailedCreate"]
    words = failed["note"].split()
    name = next(word for word in words if word.startswith("pd-0-"))
    return str(name.split("-")[2])
