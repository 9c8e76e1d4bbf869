"""Each pod of the golden worlds, admitted by us, is the pod that the public webhook made."""

from typing import Any

import pytest

from lws.admission.pods import mutate_pod
from tests.unit.admission import golden

PODS = golden.pods()


@pytest.mark.parametrize(
    ("name", "pod"), PODS, ids=[f"{name}/{pod['metadata']['name']}" for name, pod in PODS]
)
def test_a_pod_is_admitted_as_the_public_webhook_did(name: str, pod: dict[str, Any]) -> None:
    mutated = mutate_pod(golden.as_created(name, pod), namespace="golden")
    assert mutated["metadata"]["labels"] == pod["metadata"]["labels"]
    assert mutated["metadata"]["annotations"] == pod["metadata"]["annotations"]
    for field in ("subdomain", "hostname", "affinity", "nodeSelector"):
        assert mutated["spec"].get(field) == pod["spec"].get(field)
    containers = {c["name"]: c["env"] for c in mutated["spec"]["containers"]}
    assert containers == {c["name"]: c["env"] for c in pod["spec"]["containers"]}
    assert mutate_pod(mutated, namespace="golden") == mutated


@pytest.mark.parametrize(
    ("name", "pod"), PODS, ids=[f"{name}/{pod['metadata']['name']}" for name, pod in PODS]
)
def test_a_pod_that_is_admitted_again_stays(name: str, pod: dict[str, Any]) -> None:
    assert mutate_pod(pod, namespace="golden") == pod


def test_the_worlds_have_leaders_and_workers_of_every_kind() -> None:
    assert len(PODS) > 40
    assert any("subgroup-key" in key for _, pod in PODS for key in pod["metadata"]["labels"])
    assert any(pod["spec"].get("affinity") for _, pod in PODS)
