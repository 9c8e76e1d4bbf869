"""Pod groups: placed together or not at all. A real cluster needs Volcano or a plugin for that."""

import pytest

from tests.conformance.cluster.worlds.objects import pod
from tests.conformance.cluster.worlds.sandbox import SandboxWorld
from tests.conformance.cluster.worlds.world import Json

VOLCANO, COSCHEDULING = "scheduling.volcano.sh/v1beta1", "scheduling.x-k8s.io/v1alpha1"


def definition(api_version: str) -> Json:
    """A PodGroup of that group."""
    group, _, version = api_version.partition("/")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"podgroups.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def group(api_version: str, members: int) -> Json:
    """A PodGroup."""
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": {"name": "gang"},
        "spec": {"minMember": members},
    }


def member(name: str, api_version: str, *, gpus: str = "5000") -> Json:
    """A pod of the group; two fit on a node, sixteen in all."""
    resources = {"requests": {"nvidia.com/gpu": gpus}, "limits": {"nvidia.com/gpu": gpus}}
    made = pod(name, containers=[{"name": "main", "image": "a", "resources": resources}])
    if api_version == VOLCANO:
        made["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "gang"}
        made["spec"]["schedulerName"] = "volcano"
    else:
        made["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "gang"
    return made


@pytest.mark.parametrize("api_version", [VOLCANO, COSCHEDULING])
def test_none_is_placed_before_enough_have_come(sandbox: SandboxWorld, api_version: str) -> None:
    sandbox.create(definition(api_version))
    sandbox.create(group(api_version, 3))
    for number in range(2):
        sandbox.create(member(f"one-{number}", api_version))
    sandbox.settle()
    assert _placed(sandbox) == []
    sandbox.create(member("one-2", api_version))
    sandbox.settle()
    assert len(_placed(sandbox)) == 3


def test_none_is_placed_where_not_all_fit(sandbox: SandboxWorld) -> None:
    sandbox.create(definition(VOLCANO))
    sandbox.create(group(VOLCANO, 17))
    for number in range(17):
        sandbox.create(member(f"one-{number}", VOLCANO))
    sandbox.settle()
    assert _placed(sandbox) == []
    condition = sandbox.get("pods", "one-0")["status"]["conditions"][0]
    assert condition["type"] == "PodScheduled"
    assert condition["message"].startswith(
        "pod group is not ready, 17 pods wait, 17 have to be placed at once."
        " 0/8 nodes are available: 8 Insufficient nvidia.com/gpu."
    )
    sandbox.patch("podgroups", "gang", {"spec": {"minMember": 16}})
    sandbox.settle()
    assert len(_placed(sandbox)) == 16


def test_a_member_that_comes_back_joins_those_that_are_placed(sandbox: SandboxWorld) -> None:
    sandbox.create(definition(VOLCANO))
    sandbox.create(group(VOLCANO, 3))
    for number in range(3):
        sandbox.create(member(f"one-{number}", VOLCANO))
    sandbox.settle()
    sandbox.delete("pods", "one-0")
    sandbox.settle()
    sandbox.create(member("one-0", VOLCANO))
    sandbox.settle()
    assert len(_placed(sandbox)) == 3


def test_a_group_that_is_missing_is_waited_for(sandbox: SandboxWorld) -> None:
    sandbox.create(definition(VOLCANO))
    sandbox.settle()
    sandbox.create(member("one", VOLCANO))
    sandbox.settle()
    condition = sandbox.get("pods", "one")["status"]["conditions"][0]
    assert condition["message"] == 'pod group "gang" not found'
    sandbox.create(group(VOLCANO, 1))
    sandbox.settle()
    assert _placed(sandbox) == ["one"]


def test_where_there_are_no_pod_groups_pods_go_one_by_one(sandbox: SandboxWorld) -> None:
    sandbox.create(member("one", VOLCANO))
    sandbox.settle()
    assert _placed(sandbox) == ["one"]


def _placed(sandbox: SandboxWorld) -> list[str]:
    return [one["metadata"]["name"] for one in sandbox.items("pods") if one["spec"].get("nodeName")]
