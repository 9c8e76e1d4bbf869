"""Jobs: how many pods they make, what they count, and how they end."""

from typing import Any

from tests.conformance.cluster.worlds.objects import Json
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import World

_HOLD = {"test.lws/hold": "yes"}
_ENDS = {"Succeeded": ("Completed", 0), "Failed": ("Error", 1)}


def job(*, held: bool = False, policy: str = "Never", **spec: Any) -> Json:
    """`held`: its pods stay Pending, until the test says what becomes of them."""
    pod = {
        "restartPolicy": policy,
        "terminationGracePeriodSeconds": 5,
        "containers": [{"name": "main", "image": "app:1"}],
    }
    template: Json = {"metadata": {"annotations": _HOLD if held else {}}, "spec": pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "work"},
        "spec": {"template": template, **spec},
    }


def status(world: World) -> Json:
    return world.get("jobs", "work").get("status") or {}


def conditions(world: World) -> list[tuple[str, str]]:
    found = status(world).get("conditions", [])
    return [(one["type"], one["reason"]) for one in found if one["status"] == "True"]


def over(world: World, kind: str = "Complete") -> None:
    world.until(lambda: kind in dict(conditions(world)), what=f"the job is {kind}")


def active(world: World) -> list[str]:
    return [
        one["metadata"]["name"]
        for one in world.items("pods")
        if one["status"].get("phase") not in _ENDS and not one["metadata"].get("deletionTimestamp")
    ]


def are_active(world: World, count: int) -> None:
    world.until(lambda: status(world).get("active", 0) == count, what=f"{count} are active")
    world.until(lambda: len(active(world)) == count, what=f"{count} pods are active")


def end(world: World, pod: str, phase: str) -> None:
    """The pod ends so, though it is held."""
    reason, code = _ENDS[phase]
    state = {"terminated": {"exitCode": code, "reason": reason}}
    entry = {"name": "main", "image": "app:1", "imageID": "", "ready": False, "restartCount": 0}
    change = {"status": {"phase": phase, "containerStatuses": [{**entry, "state": state}]}}
    world.patch("pods", pod, change, subresource="status", kind="strategic")


def events(world: World) -> list[str]:
    return [
        one["reason"] for one in world.items("events") if one["involvedObject"]["kind"] == "Job"
    ]


def test_a_job_runs_its_pods_a_few_at_a_time_and_is_complete(world: World) -> None:
    world.create(job(held=True, completions=3, parallelism=2))
    are_active(world, 2)
    found = status(world)
    assert {name: found[name] for name in ("active", "ready", "terminating")} == {
        "active": 2,
        "ready": 0,
        "terminating": 0,
    }
    uid = world.get("jobs", "work")["metadata"]["uid"]
    for one in world.items("pods"):
        assert one["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]
        assert one["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] == uid
    end(world, active(world)[0], "Succeeded")
    world.until(lambda: status(world).get("succeeded") == 1, what="one has succeeded")
    are_active(world, 2)
    for name in active(world):
        end(world, name, "Succeeded")
    over(world)
    found = status(world)
    counts = ("succeeded", "ready", "terminating", "uncountedTerminatedPods", "active", "failed")
    assert [found.get(name) for name in counts] == [3, 0, 0, {}, None, None]
    assert found["completionTime"] >= found["startTime"]
    assert conditions(world) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert all("finalizers" not in one["metadata"] for one in world.items("pods"))
    world.until(lambda: "Completed" in events(world), what="it is told")
    assert sorted(set(events(world))) == ["Completed", "SuccessfulCreate"]


def test_pods_of_a_job_end_by_themselves_and_go_with_it(world: World) -> None:
    world.create(job(ttlSecondsAfterFinished=2))
    over(world)
    ((pod,),) = [[one] for one in world.items("pods")]
    assert pod["status"]["phase"] == "Succeeded"
    (container,) = pod["status"]["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 0
    world.until(lambda: not world.items("jobs") + world.items("pods"), what="all is gone")


def test_too_many_failures_end_a_job_and_its_other_pods(world: World) -> None:
    world.create(job(held=True, parallelism=2, completions=5, backoffLimit=0))
    are_active(world, 2)
    end(world, active(world)[0], "Failed")
    over(world, "Failed")
    assert conditions(world) == [
        ("FailureTarget", "BackoffLimitExceeded"),
        ("Failed", "BackoffLimitExceeded"),
    ]
    found = status(world)
    assert (found.get("failed"), found.get("active"), found["terminating"]) == (2, None, 0)
    assert "completionTime" not in found
    world.until(lambda: "BackoffLimitExceeded" in events(world), what="it is told")


def test_a_job_that_takes_too_long_fails(world: World) -> None:
    world.create(job(held=True, activeDeadlineSeconds=1))
    over(world, "Failed")
    assert conditions(world)[-1] == ("Failed", "DeadlineExceeded")
    assert active(world) == []


def test_a_suspended_job_has_no_pods_and_goes_on_later(world: World) -> None:
    world.create(job(held=True, suspend=True))
    world.until(lambda: conditions(world) == [("Suspended", "JobSuspended")], what="suspended")
    world.settle()
    assert "startTime" not in status(world)
    assert world.items("pods") == []
    world.patch("jobs", "work", {"spec": {"suspend": False}})
    are_active(world, 1)
    world.patch("jobs", "work", {"spec": {"suspend": True}})
    world.until(lambda: not world.items("pods"), what="its pods are gone")
    world.until(lambda: conditions(world) == [("Suspended", "JobSuspended")], what="suspended")
    assert status(world).get("failed") is None
    world.patch("jobs", "work", {"spec": {"suspend": False}})
    are_active(world, 1)
    end(world, active(world)[0], "Succeeded")
    over(world)


def test_a_job_is_deleted_with_its_pods_or_leaves_them(world: World) -> None:
    world.create(job(held=True, parallelism=2, completions=2))
    are_active(world, 2)
    world.delete("jobs", "work", propagation="Foreground")
    world.until(lambda: not world.items("jobs") + world.items("pods"), what="all is gone")
    world.create(job(held=True))
    are_active(world, 1)
    world.delete("jobs", "work", propagation="Orphan")
    world.until(lambda: not world.items("jobs"), what="the job is gone")
    world.until(lambda: "finalizers" not in world.items("pods")[0]["metadata"], what="let go")
    assert "ownerReferences" not in world.items("pods")[0]["metadata"]


def test_a_pod_that_failed_is_replaced_later_each_time(sandbox: SandboxWorld) -> None:
    world = sandbox
    world.create(job(held=True))
    waits = []
    for _ in range(3):
        are_active(world, 1)
        end(world, active(world)[0], "Failed")
        failed = world.clock.now()
        are_active(world, 0)
        are_active_after(world)
        waits.append(world.clock.now() - failed)
    assert [round(seconds, -1) for seconds in waits] == [10, 20, 40]
    end(world, active(world)[0], "Succeeded")
    over(world)
    assert (status(world)["failed"], status(world)["succeeded"]) == (3, 1)


def are_active_after(world: World) -> None:
    world.until(lambda: len(active(world)) == 1, timeout=60, what="another pod")
