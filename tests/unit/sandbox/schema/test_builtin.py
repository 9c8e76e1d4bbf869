"""Built-in kinds: decoding, defaults, rules."""

import copy
from typing import Any

import pytest

from lws.sandbox.schema.builtin import KINDS, defaulted, schema_of, validated
from lws.sandbox.schema.errors import DecodeError
from lws.sandbox.schema.model import ListType, Schema
from lws.sandbox.schema.unknown import unknown_fields

POD = ("", "v1", "Pod")
SET = ("apps", "v1", "StatefulSet")


def pod(**container: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "x", "image": "y", **container}]},
    }


def schema(*kind: str) -> Schema:
    found = schema_of(*kind)
    assert found is not None
    return found


def test_a_kind_that_nobody_knows_has_no_schema() -> None:
    assert schema_of("example.com", "v1", "Thing") is None


def test_every_kind_has_a_schema_and_can_be_filled_in() -> None:
    for kind in KINDS:
        assert schema(*kind).properties["metadata"].type == "object"
        assert defaulted(*kind, {"metadata": {"name": "a"}})["metadata"]["name"] == "a"


def test_a_schema_tells_how_lists_merge() -> None:
    containers = schema(*POD).properties["spec"].properties["containers"]
    assert (containers.list_type, containers.list_map_keys) == (ListType.MAP, ("name",))
    assert containers.patch_merge_key == "name"
    assert containers.patch_strategies == {"merge"}
    ports = containers.items.properties["ports"]  # type: ignore[union-attr]  # it has items
    assert ports.list_map_keys == ("containerPort", "protocol")


def test_a_type_that_holds_itself_is_a_cycle() -> None:
    crd = schema("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    versions = crd.properties["spec"].properties["versions"].items
    assert versions is not None
    node = versions.properties["schema"].properties["openAPIV3Schema"]
    inner = node.properties["properties"].additional
    assert inner is not None
    assert inner.properties is node.properties


def test_defaulting_leaves_its_argument_alone() -> None:
    given = pod(resources={"limits": {"cpu": "1000m"}})
    before = copy.deepcopy(given)
    defaulted(*POD, given)
    assert given == before


def test_quantities_become_canonical_and_limits_become_requests() -> None:
    made = defaulted(*POD, pod(resources={"limits": {"cpu": "1000m"}}))
    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


def test_what_go_leaves_out_is_gone_and_what_it_always_writes_is_there() -> None:
    made = defaulted(*SET, {"metadata": {}, "spec": {"replicas": 0, "minReadySeconds": 0}})
    assert made["spec"]["replicas"] == 0
    assert "minReadySeconds" not in made["spec"]
    assert made["status"] == {"replicas": 0, "availableReplicas": 0}


def test_a_wrong_type_is_told_with_its_place() -> None:
    with pytest.raises(DecodeError, match=r"Container\.spec\.containers\.image of type string"):
        defaulted(*POD, pod(image=5))


def test_unknown_fields_are_named_by_their_paths() -> None:
    given = pod(imag="z", env=[{"name": "A", "vale": "1"}])
    given["spec"]["nodeSelector"] = {"any": "thing"}
    assert unknown_fields(given, schema(*POD)) == [
        "spec.containers[0].imag",
        "spec.containers[0].env[0].vale",
    ]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1", "IfNotPresent"),
        ("host:5000/nginx", "Always"),
        ("nginx@sha256:00", "IfNotPresent"),
        ("::", "IfNotPresent"),
    ],
)
def test_the_tag_decides_when_an_image_is_pulled(image: str, policy: str) -> None:
    made = defaulted(*POD, pod(image=image))
    assert made["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_good_pod_has_no_faults() -> None:
    assert validated(*POD, defaulted(*POD, pod())) == []


def test_faults_come_with_path_reason_and_words() -> None:
    faults = validated(*POD, defaulted(*POD, pod(ports=[{"containerPort": 0}])))
    assert [(one.field, one.reason, one.message) for one in faults] == [
        ("spec.containers[0].ports[0].containerPort", "FieldValueRequired", "Required value")
    ]


def test_a_pod_may_change_its_image_but_not_its_command() -> None:
    old = defaulted(*POD, pod())
    assert validated(*POD, defaulted(*POD, pod(image="z")), defaulted(*POD, pod())) == []
    (fault,) = validated(*POD, defaulted(*POD, pod(command=["a"])), old)
    assert fault.field == "spec"
    assert fault.message.startswith("Forbidden: pod updates may not change fields other than")


@pytest.mark.parametrize("extra", [{"a": []}, {"a": None}, {"a": ["b"]}])
def test_in_a_map_an_empty_list_and_none_are_kept(extra: dict[str, object]) -> None:
    kind = ("authorization.k8s.io", "v1", "SubjectAccessReview")
    made = defaulted(*kind, {"spec": {"user": "x", "extra": extra}})
    assert made["spec"]["extra"] == extra
    assert defaulted(*kind, made) == made
