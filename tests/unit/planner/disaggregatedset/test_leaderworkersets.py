"""How a role's LeaderWorkerSet is made and amended."""

from typing import Any

import pytest

from lws.api import names
from lws.planner.actions import Create, MergePatch
from tests.unit.planner.disaggregatedset.worlds import NAME, UID, Json, SliceWorld, a_role

TWO = [a_role("prefill", 2), a_role("decode", 1)]


def made(roles: list[Json], **spec: Any) -> dict[str, Json]:
    """Bodies by role."""
    world = SliceWorld(roles, **spec)
    creates = [a for strand in world.plan().strands for a in strand if isinstance(a, Create)]
    return {one.body["metadata"]["labels"][names.DS_ROLE]: dict(one.body) for one in creates}


def patches(world: SliceWorld) -> list[MergePatch]:
    return [a for strand in world.plan().strands for a in strand if isinstance(a, MergePatch)]


def test_its_labels_are_the_roles_under_those_of_the_wire() -> None:
    metadata = {
        "labels": {"queue": "a", names.DS_ROLE: "nonsense"},
        "annotations": {"note": "x", names.LAST_APPLIED: "{}"},
    }
    body = made([a_role("prefill", 2, metadata=metadata), TWO[1]])["prefill"]
    key = body["metadata"]["labels"][names.DS_REVISION]
    assert body["metadata"] == {
        "name": f"pd-0-{key}-prefill",
        "namespace": "default",
        "labels": {
            "queue": "a",
            "app": "pd-0-prefill",
            names.DS_NAME: NAME,
            names.DS_ROLE: "prefill",
            names.DS_SLICE: "0",
            names.DS_REVISION: key,
        },
        "annotations": {"note": "x"},
        "ownerReferences": [
            {
                "apiVersion": names.DS_API_VERSION,
                "kind": names.DS_KIND,
                "name": NAME,
                "uid": UID,
                "controller": True,
            }
        ],
    }
    assert body["spec"]["replicas"] == 2


def test_both_pod_templates_carry_the_labels() -> None:
    role = a_role("prefill")
    template = role["spec"]["leaderWorkerTemplate"]
    template["leaderTemplate"] = {"metadata": {"labels": {"app": "mine", "own": "1"}}}
    body = made([role, TWO[1]])["prefill"]
    ours = body["metadata"]["labels"]
    built = body["spec"]["leaderWorkerTemplate"]
    assert built["leaderTemplate"]["metadata"]["labels"] == {"own": "1", **ours}
    assert built["workerTemplate"]["metadata"]["labels"] == ours
    assert "metadata" not in template["workerTemplate"]


def test_a_role_without_replicas_has_one() -> None:
    assert made([a_role("prefill", None), TWO[1]])["prefill"]["spec"]["replicas"] == 1


def standing(**changes: Any) -> SliceWorld:
    """A slice at rest, whose roles then change in what rolls nothing."""
    world = SliceWorld([a_role("prefill", 2, metadata={"labels": {"queue": "a"}}), TWO[1]])
    world.settle()
    world.change([a_role("prefill", 2, **changes), TWO[1]])
    return world


def test_nothing_is_amended_where_nothing_changed() -> None:
    assert patches(standing(metadata={"labels": {"queue": "a"}})) == []


def test_another_label_is_patched_alone() -> None:
    (patch,) = patches(standing(metadata={"labels": {"queue": "b"}, "annotations": {"n": "1"}}))
    assert patch.body == {"metadata": {"labels": {"queue": "b"}, "annotations": {"n": "1"}}}
    assert patch.resource_version is None
    assert patch.uid


@pytest.mark.parametrize("manager", ["lws", "kubectl-edit"])
def test_a_label_that_is_given_up_goes_if_it_was_ours(manager: str) -> None:
    world = standing(metadata={})
    for item in world.lws.values():
        fields: Json = {"f:metadata": {"f:labels": {"f:queue": {}, f"f:{names.DS_ROLE}": {}}}}
        item["metadata"]["managedFields"] = [
            {"manager": manager, "operation": "Update", "fieldsV1": fields}
        ]
    found = [patch.body for patch in patches(world)]
    assert found == ([{"metadata": {"labels": {"queue": None}}}] if manager == "lws" else [])


def test_a_rollout_strategy_is_compared_with_its_defaults_filled_in() -> None:
    world = standing(metadata={"labels": {"queue": "a"}}, surge=0, unavailable=1)
    (patch,) = patches(world)
    rolling = {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling}
    assert patch.body == {"spec": {"rolloutStrategy": strategy}}
    world.run()
    del world.ds["spec"]["roles"][0]["spec"]["rolloutStrategy"]
    world.change()
    assert patches(world) == []


def test_additions_of_ours_that_roll_nothing_reach_what_exists() -> None:
    world = standing(metadata={"labels": {"queue": "a"}})
    spec = world.ds["spec"]["roles"][0]["spec"]
    spec |= {"paused": True, "progressDeadlineSeconds": 60}
    spec["leaderWorkerTemplate"]["maxGroupRestarts"] = 3
    world.change()
    (patch,) = patches(world)
    assert patch.body["spec"] == {
        "paused": True,
        "progressDeadlineSeconds": 60,
        "leaderWorkerTemplate": {"maxGroupRestarts": 3},
    }


@pytest.mark.parametrize("edit", ["removed", "changed"])
def test_our_labels_come_back_and_the_object_keeps_its_place(edit: str) -> None:
    world = SliceWorld(TWO)
    world.settle()
    name = next(iter(world.lws))
    labels = world.lws[name]["metadata"]["labels"]
    for key in (names.DS_NAME, names.DS_ROLE, names.DS_SLICE, names.DS_REVISION):
        if edit == "removed":
            del labels[key]
        else:
            labels[key] = "7"
    (patch,) = patches(world)
    assert patch.name == name
    assert patch.body["metadata"]["labels"].keys() == {
        names.DS_NAME,
        names.DS_ROLE,
        names.DS_SLICE,
        names.DS_REVISION,
    }
