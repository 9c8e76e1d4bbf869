"""What each gang scheduler is given."""

from typing import Any

import pytest

from lws.base.errors import InvalidInput
from lws.providers import PodGroupRequest, find_provider


def request(**changes: Any) -> PodGroupRequest:
    values: dict[str, Any] = {
        "name": "vllm-0-abc",
        "min_member": 4,
        "min_resources": {"nvidia.com/gpu": "32"},
        "annotations": {},
    }
    return PodGroupRequest(**values | changes)


def test_volcano_gets_the_sets_queue_and_its_own_annotations() -> None:
    annotations = {
        "scheduling.volcano.sh/queue-name": "training",
        "volcano.sh/preemptable": "true",
        "team": "a",
    }
    made = find_provider("volcano").pod_group(request(annotations=annotations))
    assert made == {
        "metadata": {"annotations": {"volcano.sh/preemptable": "true"}},
        "spec": {
            "minMember": 4,
            "minResources": {"nvidia.com/gpu": "32"},
            "queue": "training",
        },
    }


def test_volcano_without_a_queue_names_none() -> None:
    assert "queue" not in find_provider("volcano").pod_group(request())["spec"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("", 60), ("300", 300), ("-1", 60), ("soon", 60), ("9" * 30, 60)]
)
def test_coscheduling_waits_as_long_as_the_set_says(text: str, seconds: int) -> None:
    annotations = {"scheduling.x-k8s.io/schedule-timeout-seconds": text} if text else {}
    made = find_provider("coscheduling").pod_group(request(annotations=annotations))
    assert made["spec"] == {
        "minMember": 4,
        "minResources": {"nvidia.com/gpu": "32"},
        "scheduleTimeoutSeconds": seconds,
    }


@pytest.mark.parametrize(
    ("name", "part", "key"),
    [
        ("volcano", "annotations", "scheduling.k8s.io/group-name"),
        ("coscheduling", "labels", "scheduling.x-k8s.io/pod-group"),
    ],
)
def test_a_pod_is_marked_and_keeps_what_it_had(name: str, part: str, key: str) -> None:
    pod = {"metadata": {part: {"mine": "x"}}, "spec": {}}
    marked = find_provider(name).mark(pod, pod_group_name="vllm-0-abc")
    assert marked == {"metadata": {part: {"mine": "x", key: "vllm-0-abc"}}, "spec": {}}
    assert pod["metadata"] == {part: {"mine": "x"}}


def test_a_provider_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match="known: coscheduling, volcano"):
        find_provider("kueue")
