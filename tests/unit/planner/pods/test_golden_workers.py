"""What we create is what the public controller creates, and on its worlds we do nothing."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lws.api import names
from lws.api.apps import decode_statefulset
from lws.api.kinds import Kind
from lws.planner.actions import Create, Document, Emit
from lws.planner.pods.facts import group_facts
from lws.planner.pods.group import plan_group
from lws.planner.pods.snapshot import GroupSnapshot
from tests.unit.planner.pods.worlds import GOLDEN, encoded, golden, golden_groups

GROUPS = [(world, group) for world in GOLDEN for group in golden_groups(world)]
IDS = [f"{world}-{group.index}" for world, group in GROUPS]

# What the API server adds to a StatefulSet and its pod template when it is created.
DEFAULTED = {
    ("spec", "revisionHistoryLimit"),
    ("spec", "persistentVolumeClaimRetentionPolicy"),
    ("spec", "updateStrategy"),
    ("spec", "template", "spec", "dnsPolicy"),
    ("spec", "template", "spec", "restartPolicy"),
    ("spec", "template", "spec", "schedulerName"),
    ("spec", "template", "spec", "securityContext"),
    ("spec", "template", "spec", "containers", "serve", "imagePullPolicy"),
    ("spec", "template", "spec", "containers", "serve", "terminationMessagePath"),
    ("spec", "template", "spec", "containers", "serve", "terminationMessagePolicy"),
}
# Copied there, and never by us: `kubectl apply --prune` deletes what carries it.
LEFT_OUT = {("metadata", "annotations", names.LAST_APPLIED)}


def created(group: GroupSnapshot, kind: Kind) -> Document:
    """What we create of that kind where nothing is yet."""
    bare = replace(group, statefulset=None, service=None)
    [body] = [
        action.body
        for action in plan_group(bare, differing=lambda *_: ())
        if isinstance(action, Create) and action.kind is kind
    ]
    return body


def written_fields(fields: Mapping[str, Any], *path: str) -> Iterator[tuple[str, ...]]:
    """Paths of the leaves of a FieldsV1 tree; an item of a list by its name."""
    inner = {key: below for key, below in fields.items() if key != "."}
    if not inner:
        yield path
    for key, below in inner.items():
        if key.startswith("k:") and '"uid"' in key:
            continue
        name = key[2:] if key.startswith("f:") else key.split('"')[3] if "name" in key else key
        yield from written_fields(below, *path, name)


def value_at(body: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if isinstance(body, list):
            if name.startswith("k:"):
                return body[0]
            body = next((item for item in body if item["name"] == name), None)
        elif body is not None:
            body = body.get(name)
    return body


def assert_part_of(ours: Any, live: Any, path: str = "") -> None:
    if isinstance(ours, Mapping):
        for key, value in ours.items():
            assert key in live, f"{path}.{key} does not stand there"
            assert_part_of(value, live[key], f"{path}.{key}")
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(live), path
        for one, other in zip(ours, live, strict=True):
            assert_part_of(one, other, path)
    else:
        assert ours == live, path


@pytest.mark.parametrize(("world", "group"), GROUPS, ids=IDS)
def test_all_that_we_write_stands_in_the_worker_statefulset(
    world: str, group: GroupSnapshot
) -> None:
    live = golden(world)["statefulsets"][group.index]
    ours = dict(created(group, Kind.STATEFUL_SET))
    assert (ours.pop("apiVersion"), ours.pop("kind")) == ("apps/v1", "StatefulSet")
    if not ours["metadata"]["annotations"]:
        ours["metadata"] = {k: v for k, v in ours["metadata"].items() if k != "annotations"}
    assert_part_of(ours, live)


@pytest.mark.parametrize(("world", "group"), GROUPS, ids=IDS)
def test_we_write_every_field_that_the_public_controller_wrote(
    world: str, group: GroupSnapshot
) -> None:
    live = golden(world)["statefulsets"][group.index]
    [entry] = [e for e in live["metadata"]["managedFields"] if e["manager"] == names.FIELD_MANAGER]
    ours = created(group, Kind.STATEFUL_SET)
    missing = {
        path
        for path in written_fields(entry["fieldsV1"])
        if not any(path[: len(known)] == known for known in DEFAULTED | LEFT_OUT)
        and value_at(ours, path) is None
    }
    assert missing == set()


@pytest.mark.parametrize(("world", "group"), GROUPS, ids=IDS)
def test_a_golden_group_is_ready_and_needs_nothing(world: str, group: GroupSnapshot) -> None:
    assert plan_group(group, differing=lambda *_: ("never asked",)) == ()
    facts = group_facts(group)
    assert facts.ready
    assert facts.complete
    assert facts.updated_key == facts.key
    assert facts.loss is None
    assert facts.foreign == ()


@pytest.mark.parametrize(("world", "group"), GROUPS, ids=IDS)
def test_a_template_is_told_to_be_changed_just_when_it_was(
    world: str, group: GroupSnapshot
) -> None:
    live = copy.deepcopy(golden(world)["statefulsets"][group.index])
    live["metadata"]["generation"] = 2
    touched = replace(group, statefulset=decode_statefulset(encoded(live)))
    assert plan_group(touched) == ()
    live["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/other:1"
    changed = replace(group, statefulset=decode_statefulset(encoded(live)))
    [event] = plan_group(changed)
    assert isinstance(event, Emit)
    assert "image" in event.note


def test_the_service_of_a_group_is_as_the_public_controller_makes_it() -> None:
    for group in golden_groups("lws-unique-per-replica"):
        live = golden("lws-unique-per-replica")["services"][group.index]
        ours = dict(created(group, Kind.SERVICE))
        assert (ours.pop("apiVersion"), ours.pop("kind")) == ("v1", "Service")
        assert_part_of(ours, live)
        assert ours["metadata"].keys() == {"name", "namespace", "labels", "ownerReferences"}


def test_the_annotation_that_kubectl_prunes_by_is_not_handed_on() -> None:
    [group, _] = golden_groups("lws-leader-template")
    annotations = created(group, Kind.STATEFUL_SET)["metadata"]["annotations"]
    assert annotations == {"owner": "b"}
