"""The PodGroup of a group, and what its pods ask for together."""

from typing import Any

import msgspec
import pytest

from lws.api import names
from lws.api.core import PodGroup, decode_pod_group
from lws.planner.actions import Create, Document, Emit, EventType
from lws.planner.pods.gang import plan_pod_group
from lws.planner.pods.group import plan_group
from lws.planner.pods.requests import group_requests, pod_requests
from tests.unit.planner.pods.worlds import KEY, a_group, a_pod, a_revision, a_set


class Gang:
    """Says back what it was asked."""

    api_version = "scheduling.test/v1"

    def body(self, *, name: str, annotations: dict[str, str], **asked: Any) -> Document:
        return {"metadata": {"annotations": annotations}, "spec": {"name": name, **asked}}


def planned(**changes: Any) -> tuple[Any, ...]:
    snapshot = a_group(**changes)
    assert snapshot.leader is not None
    return plan_pod_group(snapshot, snapshot.leader, Gang())


def a_pod_group(**metadata: Any) -> PodGroup:
    owner = {"kind": "Pod", "name": "lws-0", "uid": "lws-0-uid", "controller": True}
    document = {"metadata": {"name": f"lws-0-{KEY}", "ownerReferences": [owner]} | metadata}
    return decode_pod_group(msgspec.json.encode(document))


def template(**requests: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}


def test_a_group_without_its_pod_group_gets_one_that_its_leader_owns() -> None:
    revision = a_revision({"size": 4, "workerTemplate": template(cpu="500m", memory="1Gi")})
    (create,) = planned(revision=revision)
    assert isinstance(create, Create)
    assert create.name == f"lws-0-{KEY}"
    assert create.body["apiVersion"] == "scheduling.test/v1"
    assert create.body["kind"] == "PodGroup"
    metadata = create.body["metadata"]
    assert metadata["labels"] == {
        names.NAME: "lws",
        names.GROUP_INDEX: "0",
        names.REVISION_KEY: KEY,
    }
    assert metadata["ownerReferences"][0]["uid"] == "lws-0-uid"
    assert create.body["spec"]["min_member"] == 4
    assert create.body["spec"]["min_resources"] == {"cpu": "2", "memory": "4Gi"}


def test_a_leader_that_must_be_ready_first_is_scheduled_alone() -> None:
    (create,) = planned(lws=a_set(spec={"startupPolicy": "LeaderReady"}))
    assert create.body["spec"]["min_member"] == 1


def test_the_size_is_that_of_the_leaders_own_revision() -> None:
    (create,) = planned(revision=a_revision({"size": 7}), lws=a_set())
    assert create.body["spec"]["min_member"] == 7


def test_nothing_is_made_without_a_gang_scheduler() -> None:
    snapshot = a_group()
    assert snapshot.leader is not None
    assert plan_pod_group(snapshot, snapshot.leader, None) == ()


def test_a_pod_group_that_is_there_is_left_as_it_is() -> None:
    assert planned(pod_group=a_pod_group()) == ()


def test_a_pod_group_of_an_earlier_life_is_waited_out() -> None:
    owner = {"kind": "Pod", "name": "lws-0", "uid": "earlier", "controller": True}
    assert planned(pod_group=a_pod_group(ownerReferences=[owner])) == ()


def test_a_foreign_pod_group_is_told() -> None:
    (event,) = planned(pod_group=a_pod_group(ownerReferences=[]))
    assert isinstance(event, Emit)
    assert event.type is EventType.WARNING
    assert f"PodGroup lws-0-{KEY}" in event.note


def test_without_its_revision_nothing_is_guessed() -> None:
    assert planned(revision=None) == ()


@pytest.mark.parametrize(
    "group",
    [
        {"leader": a_pod(annotations={names.SIZE: "1"}), "statefulset": None},
        {"leader": a_pod(phase="Pending"), "lws": a_set(spec={"startupPolicy": "LeaderReady"})},
    ],
    ids=["a leader alone", "a leader that must be ready first"],
)
def test_a_leader_that_nothing_schedules_is_told_of_with_the_revision_that_is_missing(
    group: dict[str, Any],
) -> None:
    snapshot = a_group(**{"statefulset": None, "workers": (), "revision": None} | group)
    (event,) = plan_group(snapshot, gang=Gang())
    assert isinstance(event, Emit)
    assert event.type is EventType.WARNING
    assert KEY in event.note
    assert plan_group(snapshot) == ()


def test_a_mark_of_another_leader_changes_the_name() -> None:
    (create,) = planned(leader=a_pod(key="other"))
    assert create.name == "lws-0-other"


def container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, "1500m"),
        ({"containers": [container("1")], "initContainers": [container("3")]}, "3"),
        (
            {
                "containers": [container("1")],
                "initContainers": [container("1", restartPolicy="Always"), container("3")],
            },
            "4",
        ),
        (
            {
                "containers": [container("2")],
                "initContainers": [container("3"), container("1", restartPolicy="Always")],
            },
            "3",
        ),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, "1250m"),
        ({"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, "2"),
        (
            {"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]},
            "1",
        ),
        ({"containers": [container("1")], "resources": {"requests": {"cpu": "8"}}}, "8"),
        ({"containers": [container("1"), container("many")]}, "1"),
    ],
    ids=[
        "sum",
        "larger init",
        "sidecar beside init",
        "sidecar after init",
        "overhead",
        "limit only",
        "request wins",
        "pod level",
        "garbage",
    ],
)
def test_a_pod_asks_for_what_the_scheduler_counts(spec: dict[str, Any], cpu: str) -> None:
    assert group_requests(spec, {}, size=1) == {"cpu": cpu}
    assert pod_requests(spec)


def test_a_group_asks_for_its_leader_and_all_its_workers() -> None:
    leader = {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}
    worker = {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "8", "cpu": "2"}}}]}
    assert group_requests(leader, worker, size=3) == {"cpu": "5", "nvidia.com/gpu": "16"}
