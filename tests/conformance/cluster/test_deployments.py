"""Deployments and ReplicaSets: what they make, change and tell."""

import re
import secrets
from functools import partial
from pathlib import Path

import pytest

from harness.controlplane import ControlPlane
from lws.sandbox.cluster.options import NodeSpec
from lws.sandbox.http.serving import kubeconfig
from tests.conformance.cluster.worlds.objects import (
    Json,
    deployment,
    pod,
    replica_set,
    with_pod_annotations,
)
from tests.conformance.cluster.worlds.world import World
from tests.conformance.test_kubectl import Place, Served

_PREFIX = "deployment.kubernetes.io/"
_COUNTS = ("replicas", "readyReplicas", "availableReplicas")


def rolling(surge: int | str, unavailable: int | str) -> Json:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": bounds}


def roll(world: World, version: str, **annotations: str | None) -> None:
    """Another template."""
    made: dict[str, str | None] = {"test.lws/version": version}
    made |= {f"test.lws/{key.replace('_', '-')}": one for key, one in annotations.items()}
    template = {"metadata": {"annotations": made}}
    world.patch("deployments", "web", {"spec": {"template": template}})


def template(**annotations: str | None) -> Json:
    return {"spec": {"template": {"metadata": {"annotations": annotations}}}}


def status(world: World) -> Json:
    return world.get("deployments", "web").get("status") or {}


def available(world: World, count: int, updated: int | None = None) -> None:
    """Wait until the status says so."""

    def is_so() -> bool:
        found = status(world)
        of_new = found.get("updatedReplicas", 0)
        wanted = count if updated is None else updated
        rest = found.get("replicas", 0) - found.get("availableReplicas", 0)
        is_counted = found.get("availableReplicas", 0) == count and of_new == wanted
        seen = world.get("deployments", "web")["metadata"]["generation"]
        return is_counted and found.get("observedGeneration") == seen and not rest

    world.until(is_so, what=f"{count} pods are available")


def revisions(world: World) -> dict[str, Json]:
    """The ReplicaSets by their revision."""
    return {
        one["metadata"]["annotations"][f"{_PREFIX}revision"]: one
        for one in world.items("replicasets")
    }


def sizes(world: World) -> dict[str, int]:
    return {revision: one["spec"]["replicas"] for revision, one in revisions(world).items()}


def told(world: World, text: str) -> str:
    """With revisions for the names of ReplicaSets."""
    for revision, one in revisions(world).items():
        text = text.replace(one["metadata"]["name"], f"#{revision}")
    return text


def conditions(world: World) -> dict[str, tuple[str, str, str]]:
    return {
        one["type"]: (one["status"], one["reason"], told(world, one["message"]))
        for one in status(world).get("conditions", [])
    }


def events(world: World, kind: str, *reasons: str) -> list[str]:
    """In order of what they say; of those who happen in one second none is earlier."""
    found = [one for one in world.items("events") if one["involvedObject"]["kind"] == kind]
    return [
        told(world, one["message"])
        for one in sorted(found, key=lambda one: one["metadata"]["name"])
        if not reasons or one["reason"] in reasons
    ]


def sized(world: World, **wanted: int) -> None:
    """Wait for the replicas of each revision: `_1=0, _2=3`."""
    expected = {name.removeprefix("_"): count for name, count in wanted.items()}
    world.until(lambda: sizes(world) == expected, what=f"replicas are {expected}")


def scaled(world: World, count: int) -> list[str]:
    """`scalings`, once there are so many."""
    world.until(lambda: len(scalings(world)) == count, what=f"{count} changes are told")
    return scalings(world)


def scalings(world: World) -> list[str]:
    """`+#2 0-1`: who was scaled, from what to what, in order."""
    pattern = re.compile(r"Scaled (up|down) replica set (\S+) from (\d+) to (\d+)")
    found = []
    for text in events(world, "Deployment", "ScalingReplicaSet"):
        match = pattern.fullmatch(text)
        assert match is not None, text
        found.append(f"{match[2]} {match[3]}-{match[4]}")
    return found


def old_and_new_together(world: World, start: int) -> list[str]:
    """New pods that were made while one of before still ran."""
    changes = world.changes()
    running = {one["metadata"]["name"] for _, one in changes[:start]}
    early = []
    for kind, one in changes[start:]:
        name = one["metadata"]["name"]
        if kind == "ADDED" and running:
            early.append(name)
        if kind == "DELETED" or one["status"].get("phase") in ("Failed", "Succeeded"):
            running.discard(name)
    return early


def test_a_deployment_has_a_replica_set_that_has_pods(world: World) -> None:
    world.create(deployment())
    available(world, 3)
    ((revision, made),) = revisions(world).items()
    assert revision == "1"
    metadata, word = made["metadata"], made["metadata"]["labels"]["pod-template-hash"]
    assert metadata["name"] == f"web-{word}"
    assert metadata["labels"] == {"app": "web", "pod-template-hash": word}
    assert metadata["annotations"] == {
        "team": "serving",
        f"{_PREFIX}revision": "1",
        f"{_PREFIX}desired-replicas": "3",
        f"{_PREFIX}max-replicas": "4",
    }
    assert made["spec"]["selector"]["matchLabels"] == metadata["labels"]
    assert made["spec"]["template"]["metadata"]["labels"] == metadata["labels"]
    assert made["status"] == {
        **dict.fromkeys((*_COUNTS, "fullyLabeledReplicas"), 3),
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    for one in world.items("pods"):
        assert one["metadata"]["generateName"] == f"web-{word}-"
        assert one["metadata"]["labels"].items() >= metadata["labels"].items()
    found = status(world)
    counts = {**dict.fromkeys((*_COUNTS, "updatedReplicas"), 3), "terminatingReplicas": 0}
    assert {name: found[name] for name in counts} == counts
    assert "unavailableReplicas" not in found
    assert conditions(world) == {
        "Available": (
            *("True", "MinimumReplicasAvailable"),
            "Deployment has minimum availability.",
        ),
        "Progressing": (
            *("True", "NewReplicaSetAvailable"),
            'ReplicaSet "#1" has successfully progressed.',
        ),
    }
    assert scaled(world, 1) == ["#1 0-3"]
    world.until(lambda: len(events(world, "ReplicaSet", "SuccessfulCreate")) == 3, what="3 told")


def test_an_update_keeps_its_bounds_and_an_undo_is_a_new_revision(world: World) -> None:
    made = deployment(strategy=rolling(1, 0))
    world.create(with_pod_annotations(made, ready_after="300ms"))
    available(world, 3)
    roll(world, "2")
    available(world, 3)
    sized(world, _1=0, _2=3)
    up = ["#2 0-1", "#1 3-2", "#2 1-2", "#1 2-1", "#2 2-3", "#1 1-0"]
    assert scaled(world, 7) == ["#1 0-3", *up]
    world.patch("deployments", "web", template(**{"test.lws/version": None}))
    available(world, 3)
    sized(world, _2=0, _3=3)
    again = revisions(world)["3"]["metadata"]["annotations"]
    assert again[f"{_PREFIX}revision-history"] == "1"
    assert world.get("deployments", "web")["metadata"]["annotations"][f"{_PREFIX}revision"] == "3"


def test_an_update_that_does_not_get_ready_is_told_in_time_and_goes_no_further(
    world: World,
) -> None:
    world.create(deployment(replicas=4, progressDeadlineSeconds=3, strategy=rolling("25%", "25%")))
    available(world, 4)
    roll(world, "2", unready="yes")
    world.until(
        lambda: conditions(world)["Progressing"][0] == "False", what="it is told to be stuck"
    )
    assert sizes(world) == {"1": 3, "2": 2}
    assert conditions(world) == {
        "Available": (
            *("True", "MinimumReplicasAvailable"),
            "Deployment has minimum availability.",
        ),
        "Progressing": (
            *("False", "ProgressDeadlineExceeded"),
            'ReplicaSet "#2" has timed out progressing.',
        ),
    }
    found = status(world)
    assert (found["unavailableReplicas"], found["updatedReplicas"]) == (2, 2)
    roll(world, "3", unready=None)
    available(world, 4)
    sized(world, _1=0, _2=0, _3=4)
    assert conditions(world)["Progressing"][1] == "NewReplicaSetAvailable"


def test_a_change_of_size_in_an_update_is_shared_out(world: World) -> None:
    world.create(deployment(replicas=10, strategy=rolling(3, 2)))
    available(world, 10)
    roll(world, "2", unready="yes")
    world.until(lambda: sizes(world) == {"1": 8, "2": 5}, what="the update is stuck")
    world.patch("deployments", "web", {"spec": {"replicas": 15}})
    world.until(lambda: sum(sizes(world).values()) == 18, what="there are more")
    assert sizes(world) == {"1": 11, "2": 7}
    remembered = revisions(world)["1"]["metadata"]["annotations"]
    assert remembered[f"{_PREFIX}max-replicas"] == "18"
    world.patch("deployments", "web", {"spec": {"replicas": 5}})
    sized(world, _1=3, _2=5)


def test_recreating_waits_for_the_last_old_pod(world: World) -> None:
    made = deployment(replicas=2, strategy={"type": "Recreate"}, revisionHistoryLimit=0)
    world.create(with_pod_annotations(made, terminate_after="300ms"))
    available(world, 2)
    start = world.mark()
    roll(world, "2")
    available(world, 2)
    world.settle()
    assert old_and_new_together(world, start) == []
    assert [one[0] for one in world.log(start)].count("+") == 2
    assert sizes(world) == {"2": 2}, "no old one is kept"
    assert scalings(world)[-1] == "#2 0-2"


def test_a_pause_holds_an_update_and_no_change_of_size(world: World) -> None:
    world.create(deployment(replicas=2, strategy=rolling(1, 0)))
    available(world, 2)
    world.patch("deployments", "web", {"spec": {"paused": True}})
    world.until(lambda: conditions(world)["Progressing"][1] == "DeploymentPaused", what="paused")
    assert conditions(world)["Progressing"][::2] == ("Unknown", "Deployment is paused")
    roll(world, "2")
    world.patch("deployments", "web", {"spec": {"replicas": 3}})
    available(world, 3, updated=0)
    assert sizes(world) == {"1": 3}
    world.patch("deployments", "web", {"spec": {"paused": False}})
    available(world, 3)
    sized(world, _1=0, _2=3)
    assert conditions(world)["Progressing"][1] == "NewReplicaSetAvailable"


def test_replica_sets_that_were_left_are_taken_again(world: World) -> None:
    world.create(deployment(replicas=2))
    available(world, 2)
    before = {one["metadata"]["uid"] for one in world.items("pods")}
    world.delete("deployments", "web", propagation="Orphan")
    world.until(lambda: world.find("deployments", "web") is None, what="it is gone")
    assert not revisions(world)["1"]["metadata"].get("ownerReferences")
    world.create(deployment(replicas=2))
    available(world, 2)
    (owner,) = revisions(world)["1"]["metadata"]["ownerReferences"]
    assert owner["kind"] == "Deployment"
    assert {one["metadata"]["uid"] for one in world.items("pods")} == before
    world.delete("deployments", "web", propagation="Background")
    world.until(lambda: not world.items("replicasets") + world.items("pods"), what="all is gone")


def test_a_pod_that_is_refused_is_told_of_on_both(world: World) -> None:
    made = deployment(replicas=2)
    made["spec"]["template"]["spec"]["priorityClassName"] = "nobody"
    world.create(made)
    world.until(lambda: "ReplicaFailure" in conditions(world), what="the failure is told")
    (word,) = [one["metadata"]["name"] for one in world.items("replicasets")]
    text = f'pods "{word}-" is forbidden: no PriorityClass with name nobody was found'
    assert conditions(world)["ReplicaFailure"] == ("True", "FailedCreate", told(world, text))
    (failure,) = revisions(world)["1"]["status"]["conditions"]
    assert (failure["reason"], failure["message"]) == ("FailedCreate", text)
    assert set(events(world, "ReplicaSet")) == {told(world, f"Error creating: {text}")}
    assert conditions(world)["Available"][0] == "False"


def test_a_replica_set_takes_orphans_and_lets_go_of_others(world: World) -> None:
    world.create(pod("orphan", labels={"app": "web"}))
    world.create(replica_set(replicas=2))
    name = "replicasets"
    world.until(lambda: world.get(name, "web")["status"].get("readyReplicas") == 2, what="2 ready")
    pods = [one["metadata"]["name"] for one in world.items("pods")]
    assert len(pods) == 2
    assert "orphan" in pods
    owners = world.get("pods", "orphan")["metadata"]["ownerReferences"]
    assert [one["kind"] for one in owners] == ["ReplicaSet"]
    world.patch("pods", "orphan", {"metadata": {"labels": {"app": "other"}}})
    world.until(lambda: len(world.items("pods")) == 3, what="it is replaced")
    assert "ownerReferences" not in world.get("pods", "orphan")["metadata"]


def test_pods_that_are_worth_least_go_first(world: World) -> None:
    world.create(replica_set(replicas=5))
    sets = "replicasets"
    world.until(lambda: world.get(sets, "web")["status"].get("readyReplicas") == 5, what="5 ready")
    names = [one["metadata"]["name"] for one in world.items("pods")]
    cost = "controller.kubernetes.io/pod-deletion-cost"
    for worth, one in zip(("30", "-5", "10", "20"), names, strict=False):
        world.patch("pods", one, {"metadata": {"annotations": {cost: worth}}})
    world.annotate(names[3], unready="yes")
    status_of = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    world.patch("pods", names[3], status_of, subresource="status", kind="strategic")
    world.until(lambda: world.get(sets, "web")["status"].get("readyReplicas") == 4, what="4 ready")
    gone: list[str] = []
    for count in (4, 3, 2, 1):
        world.patch(sets, "web", {"spec": {"replicas": count}})
        world.until(partial(_are, world, count), what="one is gone")
        left = {one["metadata"]["name"] for one in world.items("pods")}
        gone += sorted(set(names) - left - set(gone))
    assert gone == [names[3], names[1], names[4], names[2]], "unready, then by cost"


def _are(world: World, count: int) -> bool:
    return len(world.items("pods")) == count


def test_a_pod_counts_when_it_has_been_ready_for_long_enough(world: World) -> None:
    world.create(deployment(replicas=1, minReadySeconds=2))
    world.until(lambda: status(world).get("readyReplicas") == 1, what="it is ready")
    assert "availableReplicas" not in status(world)
    assert conditions(world)["Available"][1] == "MinimumReplicasUnavailable"
    available(world, 1)


_COMMANDS = """
create deployment web --image=nginx:1 --replicas=2 --port=80
rollout status deploy web --timeout=30s
get deploy,rs
get deploy web -o wide
expose deploy web --port=80
set image deploy/web nginx=nginx:2
rollout status deploy web --timeout=30s
describe deploy web
rollout history deploy web
rollout history deploy web --revision=2
rollout undo deploy web
rollout status deploy web --timeout=30s
rollout history deploy web
rollout undo deploy web --to-revision=7
rollout pause deploy web
rollout pause deploy web
rollout restart deploy web
rollout undo deploy web
rollout resume deploy web
rollout restart deploy web
rollout status deploy web --timeout=30s
scale deploy web --replicas=3
wait --for=condition=Available deploy/web --timeout=20s
rollout status deploy web --timeout=30s
delete deploy web
create job work --image=a:1 -- true
wait --for=condition=Complete job/work --timeout=20s
get job
describe job work
delete job work
""".strip()
_NAMES = (
    (re.compile(r"\bwork-[a-z0-9]{5}\b"), "work-<hash>"),
    (re.compile(r"\b(web-[a-z0-9]{6,10})(-[a-z0-9]{5})?\b"), "web-<hash>"),
    (re.compile(r"pod-template-hash[=:] ?[a-z0-9]+"), "pod-template-hash=<hash>"),
    (re.compile(r"Waiting for deployment .*\n"), ""),  # as often as it had to be looked at
    (re.compile(r"\(x\d+ over <age>\)"), ""),
)


@pytest.mark.real
def test_kubectl_prints_the_same_of_deployments_and_jobs(
    plane: ControlPlane, tmp_path: Path
) -> None:
    served = Served([NodeSpec(name="node-0"), NodeSpec(name="node-1")])
    served.start()
    try:
        config = tmp_path / "sandbox.yaml"
        config.write_bytes(kubeconfig(served.url))
        namespace = f"kubectl-{secrets.token_hex(4)}"
        places = [Place(plane.admin_kubeconfig, namespace), Place(config, namespace)]
        for place in places:
            place.run(f"create namespace {namespace}")
        for line in _COMMANDS.splitlines():
            real, ours = (_nameless(place.run(line)) for place in places)
            assert ours == real, line
    finally:
        served.stop()


def _nameless(text: str) -> str:
    for pattern, word in _NAMES:
        text = pattern.sub(word, text)
    return text
