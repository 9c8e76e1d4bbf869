"""What each gang scheduler is given."""

from pathlib import Path
from typing import Any

import pytest

from lws.base.errors import InvalidInput
from lws.client.resources import Resource
from lws.manager.gang import configured_gang
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


THIRD_PARTY = """
from lws.providers import PodGroupKind


class Acme:
    kind = PodGroupKind("acme.example.com", "v2", plural="crews", kind="Crew")

    def pod_group(self, request):
        return {"metadata": {"annotations": {}}, "spec": {"crew": request.min_member}}

    def mark(self, pod, *, pod_group_name):
        metadata = {**pod["metadata"], "labels": {"acme/crew": pod_group_name}}
        return {**pod, "metadata": metadata}
"""


def test_a_provider_of_another_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_scheduler.py").write_text(THIRD_PARTY, encoding="utf-8")
    installed = tmp_path / "acme_scheduler-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-scheduler\nVersion: 1.0")
    (installed / "entry_points.txt").write_text(
        "[lws.scheduler_providers]\nacme = acme_scheduler:Acme\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    gang = configured_gang("acme")
    assert gang is not None
    assert gang.resource == Resource("acme.example.com", "v2", "crews", "Crew")
    body = gang.body(name="vllm-0-abc", min_member=4, min_resources={}, annotations={})
    assert body["spec"] == {"crew": 4}
    marked = gang.provider.mark({"metadata": {}}, pod_group_name="vllm-0-abc")
    assert marked["metadata"]["labels"] == {"acme/crew": "vllm-0-abc"}
    with pytest.raises(InvalidInput, match="known: acme, coscheduling, volcano"):
        find_provider("kueue")
