"""Updates: availability is counted after every change of any pod."""

import itertools
from functools import partial

import pytest

from harness.kube import Kube
from harness.kwok import UNREADY
from harness.waiting import eventually
from tests.integration.disaggregatedset.support import (
    INITIAL,
    LWS,
    REVISION,
    ROLE,
    Fleet,
    counting,
    role,
)

A, B, C = (f"example.com/serve:{letter}" for letter in "abc")
HELD = {UNREADY: "x"}


def two(image: str, prefill: int = 2, decode: int = 3) -> list[dict[str, object]]:
    return [role("prefill", prefill, image=image), role("decode", decode, image=image)]


def new_key(fleet: Fleet, old: set[str]) -> str:
    """The key of the revision that an update has begun with."""

    def found() -> str | None:
        return next(iter(fleet.revisions() - old), None)

    return str(eventually(found, what="a new revision"))


def test_two_roles_go_to_the_next_revision_together(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (old,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change(two(B))
        fleet.settled()
        seen.require_clean()
    (new,) = fleet.revisions()
    assert new != old
    eventually(
        lambda: fleet.services() == {f"pd-0-{new}-{name}-prv" for name in ("prefill", "decode")},
        what="only the new revision's services",
    )
    assert {"RollingUpdateStarted", "ScalingUp", "ScalingDown", "RollingUpdateCompleted"} <= (
        fleet.reasons()
    )


def test_three_roles_with_budgets_of_their_own(fleet: Fleet) -> None:
    def roles(image: str) -> list[dict[str, object]]:
        return [
            role("encode", 1, image=image),
            role("prefill", 4, image=image, surge=2),
            role("decode", 3, image=image, surge=0, unavailable=1),
        ]

    fleet.create(roles(A))
    fleet.settled()
    floors = {"encode": 1, "prefill": 4, "decode": 2}
    with counting(fleet.kube, fleet.namespace, floors) as seen:
        fleet.change(roles(B))
        fleet.settled()
        seen.require_clean()


def test_a_role_added_starts_from_nothing_and_the_serving_revision_keeps_its_services(
    fleet: Fleet,
) -> None:
    fleet.create(two(A))
    fleet.settled()
    (old,) = fleet.revisions()
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    serving = fleet.services()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change([*two(A), role("encode", 2, annotations=HELD)])
        new_key(fleet, {old})
        fleet.until(lambda found: any(r == "encode" and n for (_, r), n in found.items()))
        assert serving <= fleet.services()
        while not _is_settled(fleet):
            # Read in this order: services go only once nothing of the revision runs.
            assert serving <= fleet.services() or not _runs(fleet, old)
            fleet.release()
        seen.require_clean()


def _runs(fleet: Fleet, revision: str) -> bool:
    return any(count for (key, _), count in fleet.replicas().items() if key == revision)


def _is_settled(fleet: Fleet) -> bool:
    try:
        fleet.settled(timeout=0.3)
    except AssertionError:
        return False
    return True


def test_a_role_removed_drains_with_the_others(fleet: Fleet) -> None:
    fleet.create([*two(A), role("encode", 2)])
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change(two(A))
        fleet.settled()
        seen.require_clean()
    assert {name for _, name in fleet.replicas()} == {"prefill", "decode"}


def test_all_roles_renamed_leak_nothing_and_keep_what_serves(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    # Whatever they are called, five replicas serve: the old ones stay until the new ones do.
    with counting(fleet.kube, fleet.namespace, {}, total=5) as seen:
        fleet.change([role("fill", 2, image=A), role("code", 3, image=A)])
        fleet.settled()
        seen.require_clean()
    assert {name for _, name in fleet.replicas()} == {"fill", "code"}
    assert {one["metadata"]["labels"][ROLE] for one in fleet.lws()} == {"fill", "code"}
    eventually(lambda: len(fleet.services()) == 2, what="old services are gone")
    eventually(
        lambda: len(fleet.kube.items("pods", fleet.namespace)) == 5, what="only the new pods"
    )


def test_an_update_that_is_superseded_ends_in_the_last_one(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change([role("prefill", 2, image=B), role("decode", 3, image=B, annotations=HELD)])
        second = new_key(fleet, {first})
        fleet.until(lambda found: found.get((second, "decode"), 0) > 0)  # never gets ready
        fleet.change(two(C))
        fleet.settled()
        seen.require_clean()
    assert not fleet.revisions() & {first, second}


def test_going_back_in_mid_update_ends_in_the_old_revision(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    uids = {one["metadata"]["uid"] for one in fleet.lws()}
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change(two(B))
        second = new_key(fleet, {first})
        fleet.until(
            lambda found: (
                found.get((second, "decode"), 0) >= 1 and found.get((first, "decode"), 3) < 3
            )
        )
        fleet.change(two(A))
        fleet.settled()
        seen.require_clean()
    assert fleet.revisions() == {first}
    assert {one["metadata"]["uid"] for one in fleet.lws()} == uids


def test_back_and_forth_and_back_again(fleet: Fleet) -> None:
    """A note of an earlier update never misleads a later one."""
    fleet.create(two(A))
    fleet.settled()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        for image in itertools.islice(itertools.cycle((B, A)), 5):
            before = fleet.get()["metadata"]["generation"]
            fleet.change(two(image))
            eventually(partial(_has_seen_more, fleet, before), what="the change is seen")
        fleet.settled()
        seen.require_clean()
    image = fleet.lws()[0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    assert image[0]["image"] == B


def _has_seen_more(fleet: Fleet, generation: int) -> bool:
    status = fleet.get().get("status", {})
    return bool(status.get("observedGeneration", 0) > generation)


def test_targets_that_change_in_mid_update_are_met(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 1, "decode": 3}) as seen:
        fleet.change(two(B))
        new_key(fleet, {first})
        fleet.change(two(B, prefill=1, decode=5))
        status = fleet.settled()["status"]
        seen.require_clean()
    assert [one["replicas"] for one in status["roleStatuses"]] == [1, 5]


def test_a_refused_create_of_the_second_role_holds_the_update_up_and_no_longer(
    fleet: Fleet,
) -> None:
    fleet.create(two(A))
    fleet.settled()
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "three", "namespace": fleet.namespace},
        "spec": {"hard": {"count/leaderworkersets.leaderworkerset.x-k8s.io": "3"}},
    }
    fleet.kube.create(quota)
    eventually(
        lambda: (
            fleet.kube.get("resourcequotas", "three", fleet.namespace)
            .get("status", {})
            .get("used", {})
            .get("count/leaderworkersets.leaderworkerset.x-k8s.io")
            == "2"
        ),
        what="the quota counts",
    )
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        fleet.change(two(B))
        eventually(lambda: "FailedCreate" in fleet.reasons(), what="the refusal is told")

        def told() -> bool:
            condition = fleet.condition("Progressing")
            return condition is not None and "exceeded quota" in condition["message"]

        eventually(told, what="the condition says what is refused")
        assert sum(fleet.replicas().values()) == 5  # nothing has moved
        fleet.kube.delete("resourcequotas", "three", fleet.namespace)
        fleet.settled()
        seen.require_clean()


def test_a_new_leaderworkerset_deleted_in_mid_update_is_made_again(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    with counting(fleet.kube, fleet.namespace, {"prefill": 2, "decode": 3}) as seen:
        held = [role("prefill", 2, image=B), role("decode", 3, image=B, annotations=HELD)]
        fleet.change(held)
        second = new_key(fleet, {first})
        name = f"pd-0-{second}-decode"
        fleet.until(lambda found: found.get((second, "decode"), 0) > 0)
        uid = fleet.kube.get(LWS, name, fleet.namespace)["metadata"]["uid"]
        fleet.kube.delete(LWS, name, fleet.namespace)

        def anew() -> bool:
            found = fleet.kube.find(LWS, name, fleet.namespace)
            return found is not None and found["metadata"]["uid"] != uid

        eventually(anew, what="it is made again")
        while not _is_settled(fleet):
            fleet.release()
        seen.require_clean()


def test_while_an_update_waits_the_set_says_for_what(fleet: Fleet) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    initial = {one["metadata"]["labels"][ROLE]: one["spec"]["replicas"] for one in fleet.lws()}
    fleet.change([role("prefill", 2, image=B), role("decode", 3, image=B, annotations=HELD)])
    second = new_key(fleet, {first})
    wanted = f"waiting for role decode of revision {second}: 0 of 1 replicas ready, for more than"

    def told() -> bool:
        condition = fleet.condition("Progressing")
        return condition is not None and wanted in condition["message"]

    eventually(told, timeout=30, what="role, ready of wanted, and for how long")
    for one in fleet.lws():
        labels = one["metadata"]["labels"]
        noted = one["metadata"].get("annotations", {}).get(INITIAL)
        assert noted == (str(initial[labels[ROLE]]) if labels[REVISION] == first else None)


@pytest.mark.parametrize("victim", ["prefill", "decode"])
def test_an_old_leaderworkerset_deleted_in_mid_update_does_not_stop_it(
    fleet: Fleet, victim: str
) -> None:
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    fleet.change(two(B))
    new_key(fleet, {first})
    fleet.kube.delete(LWS, f"pd-0-{first}-{victim}", fleet.namespace)
    fleet.settled()


def test_pods_serve_from_one_revision_after_another(kube: Kube, fleet: Fleet) -> None:
    """Services of the old revision stay while it carries replicas, and go with it."""
    fleet.create(two(A))
    fleet.settled()
    (first,) = fleet.revisions()
    eventually(lambda: len(fleet.services()) == 2, what="the services")
    fleet.change([role("prefill", 2, image=B), role("decode", 3, image=B, annotations=HELD)])
    second = new_key(fleet, {first})
    fleet.until(lambda found: found.get((second, "decode"), 0) > 0)
    assert fleet.services() == {f"pd-0-{first}-{name}-prv" for name in ("prefill", "decode")}
    while not _is_settled(fleet):
        fleet.release()
    eventually(
        lambda: fleet.services() == {f"pd-0-{second}-{name}-prv" for name in ("prefill", "decode")},
        what="the new services alone",
    )
