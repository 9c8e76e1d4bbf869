"""Jobs: what the server adds to them, and which it does not do."""

from typing import Any

import pytest

from lws.client.resources import Resource
from lws.sandbox.server import ApiStatus, Server

JOBS = Resource("batch", "v1", "jobs", "Job")


def job(**spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    return {"metadata": {"name": "j"}, "spec": {"template": {"spec": pod}, **spec}}


async def test_a_job_tells_its_pods_from_others_by_its_uid(server: Server) -> None:
    made = await server.api.create(JOBS, job(), namespace="default")
    uid, spec = made["metadata"]["uid"], made["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ({"completionMode": "Indexed", "completions": 2}, "Jobs whose pods have an index"),
        ({"podFailurePolicy": {"rules": []}}, "podFailurePolicy of Jobs"),
        ({"managedBy": "example.com/other"}, "managedBy of Jobs"),
    ],
)
async def test_what_the_controller_does_not_do_is_refused(
    server: Server, spec: dict[str, Any], what: str
) -> None:
    with pytest.raises(ApiStatus) as refusal:
        await server.api.create(JOBS, job(**spec), namespace="default")
    assert refusal.value.code == 501
    assert refusal.value.message.startswith(f"the sandbox does not implement {what}")
