"""Network policies, Ingresses and their classes: defaults, and what is refused."""

from typing import Any

import pytest

from lws.sandbox.schema.builtin import defaulted, validated

_GROUP = "networking.k8s.io"
_BACKEND = {"service": {"name": "web", "port": {"number": 80}}}


def made(kind: str, **spec: Any) -> dict[str, Any]:
    obj = {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": {"name": "one"}, "spec": spec}
    return defaulted(_GROUP, "v1", kind, obj)


def faults(kind: str, **spec: Any) -> list[str]:
    found = validated(_GROUP, "v1", kind, made(kind, **spec))
    return [f"{one.field}: {one.message}" for one in found]


def route(**fields: Any) -> list[dict[str, Any]]:
    path = {"path": "/", "pathType": "Prefix", "backend": _BACKEND, **fields}
    return [{"http": {"paths": [path]}}]


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({}, ["Ingress"]),
        ({"ingress": [{}]}, ["Ingress"]),
        ({"egress": []}, ["Ingress"]),
        ({"egress": [{}]}, ["Ingress", "Egress"]),
        ({"egress": [{}], "policyTypes": ["Egress"]}, ["Egress"]),
    ],
)
def test_a_policy_is_about_what_it_has_rules_for(spec: dict[str, Any], types: list[str]) -> None:
    assert made("NetworkPolicy", **spec)["spec"]["policyTypes"] == types


def test_ports_are_of_tcp_and_parameters_of_the_cluster() -> None:
    policy = made("NetworkPolicy", ingress=[{"ports": [{"port": "web"}]}])
    assert policy["spec"]["ingress"][0]["ports"] == [{"port": "web", "protocol": "TCP"}]
    named = made("IngressClass", controller="a.b/c", parameters={"kind": "K", "name": "n"})
    assert named["spec"]["parameters"]["scope"] == "Cluster"


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({"from": [{}]}, "from[0]: Required value: must specify a peer"),
        (
            {"from": [{"ipBlock": {"cidr": "fd::/8", "except": ["fd::/8"]}}]},
            'from[0].ipBlock.except[0]: Invalid value: "fd::/8": must be a strict subset of `cidr`',
        ),
        (
            {"ports": [{"port": "web", "endPort": 3}]},
            "ports[0].endPort: Invalid value: 3: may not be specified when `port` is non-numeric",
        ),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(rule: dict[str, Any], fault: str) -> None:
    assert faults("NetworkPolicy", ingress=[rule]) == [f"spec.ingress[0].{fault}"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"pathType": None}, "pathType: Required value: pathType must be specified"),
        ({"path": "a"}, 'path: Invalid value: "a": must be an absolute path'),
        ({"path": "/a//b"}, "path: Invalid value: \"/a//b\": must not contain '//'"),
        ({"backend": {}}, 'backend: Invalid value: "": resource or service backend is required'),
        (
            {"backend": {"service": {"name": "web"}}},
            "backend: Required value: port name or number is required",
        ),
    ],
)
def test_a_route_that_leads_nowhere_is_refused(fields: dict[str, Any], fault: str) -> None:
    assert faults("Ingress", rules=route(**fields)) == [f"spec.rules[0].http.paths[0].{fault}"]


def test_what_is_right_is_taken() -> None:
    assert faults("Ingress", rules=route()) == []
    assert faults("IngressClass", controller="example.com/router") == []
    assert faults("NetworkPolicy", podSelector={}, egress=[{"to": [{"podSelector": {}}]}]) == []
