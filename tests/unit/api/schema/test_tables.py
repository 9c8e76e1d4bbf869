"""The generated tables say what Kubernetes says."""

from __future__ import annotations

from lws.api.schema.builtin import pod_template, volume_claim
from lws.api.schema.gotypes import GoType, parse_type, struct_defaults, struct_fields, struct_names
from lws.api.schema.mergekeys import ATOMIC, SET, merges_of
from lws.planner.meaning.rules import DEFAULT_KEYS


def test_types_are_read_from_their_expressions() -> None:
    assert parse_type("*int32") == GoType("int32", pointer=True)
    assert parse_type("[]string") == GoType("list", item=GoType("string"))
    assert parse_type("{}quantity") == GoType("map", item=GoType("quantity"))
    assert parse_type("*core.Probe") == GoType("struct", pointer=True, struct="core.Probe")


def test_fields_are_in_the_order_of_the_go_type() -> None:
    assert list(struct_fields("lws.LeaderWorkerTemplate")) == [
        "leaderTemplate",
        "workerTemplate",
        "size",
        "restartPolicy",
        "subGroupPolicy",
        "volumeClaimTemplates",
        "persistentVolumeClaimRetentionPolicy",
    ]
    assert list(struct_fields("core.EnvVar")) == ["name", "value", "valueFrom"]


def test_what_is_left_out_when_empty() -> None:
    created = struct_fields("meta.ObjectMeta")["creationTimestamp"]
    assert (created.omit_empty, created.omit_zero) == (True, True)
    containers = struct_fields("core.PodSpec")["containers"]
    assert (containers.omit_empty, containers.omit_zero) == (False, False)


def test_defaults_that_reach_a_crd() -> None:
    assert struct_defaults("core.ContainerPort") == {"protocol": "TCP"}
    assert struct_defaults("core.SecretKeySelector") == {"name": ""}
    assert struct_defaults("core.Container") == {}


def test_how_lists_and_maps_merge() -> None:
    assert merges_of("core.Container")["ports"] == ("containerPort", "protocol")
    assert merges_of("core.PodSpec")["nodeSelector"] == ATOMIC
    assert merges_of("meta.ObjectMeta")["finalizers"] == SET
    assert merges_of("core.EnvVar") == {}


def test_each_merge_rule_is_about_a_field_that_there_is() -> None:
    for struct in struct_names():
        assert merges_of(struct).keys() <= struct_fields(struct).keys(), struct


def test_keys_that_may_be_left_out() -> None:
    left_out = {
        (key, defaults[key])
        for struct in struct_names()
        for name, keys in merges_of(struct).items()
        if isinstance(keys, tuple)
        for item in [struct_fields(struct)[name].type.item]
        if item is not None
        for defaults in [struct_defaults(item.struct)]
        for key in keys
        if key in defaults
    }
    assert left_out == set(DEFAULT_KEYS.items())


def test_schemas_are_new_each_time() -> None:
    pod_template()["properties"].clear()
    assert set(pod_template()["properties"]) == {"metadata", "spec"}
    assert "spec" in volume_claim()["properties"]
