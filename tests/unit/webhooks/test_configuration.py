"""What the API server is told of our webhooks."""

import base64
from typing import Any

import pytest

from lws.webhooks import configuration, paths
from lws.webhooks.configuration import (
    ServiceAddress,
    UrlAddress,
    mutating_configuration,
    validating_configuration,
)

SERVICE = ServiceAddress(name="lws-webhook-service", namespace="lws-system")


def all_webhooks() -> dict[str, dict[str, Any]]:
    both = (mutating_configuration(SERVICE), validating_configuration(SERVICE))
    return {webhook["name"]: webhook for made in both for webhook in made["webhooks"]}


def test_the_objects_have_the_names_that_other_installations_know() -> None:
    mutating, validating = mutating_configuration(SERVICE), validating_configuration(SERVICE)
    assert mutating["metadata"]["name"] == "lws-mutating-webhook-configuration"
    assert validating["metadata"]["name"] == "lws-validating-webhook-configuration"
    assert mutating["apiVersion"] == validating["apiVersion"] == "admissionregistration.k8s.io/v1"
    assert mutating["kind"] == "MutatingWebhookConfiguration"
    assert validating["kind"] == "ValidatingWebhookConfiguration"


def test_each_webhook_decides_something_and_is_served() -> None:
    served = {
        name: webhook["clientConfig"]["service"]["path"] for name, webhook in all_webhooks().items()
    }
    assert served == {
        "mleaderworkerset.kb.io": paths.MUTATE_LEADERWORKERSET,
        "mpod.kb.io": paths.MUTATE_POD,
        "vleaderworkerset.kb.io": paths.VALIDATE_LEADERWORKERSET,
        "vdisaggregatedset.kb.io": paths.VALIDATE_DISAGGREGATEDSET,
    }


@pytest.mark.parametrize("webhook", all_webhooks().values(), ids=all_webhooks())
def test_each_webhook_fails_closed_and_soon(webhook: dict[str, Any]) -> None:
    assert webhook["failurePolicy"] == "Fail"
    assert webhook["matchPolicy"] == "Equivalent"
    assert webhook["sideEffects"] == "None"
    assert webhook["timeoutSeconds"] == 10
    assert webhook["admissionReviewVersions"] == ["v1"]


def test_only_pods_of_ours_and_only_their_creation_come_to_us() -> None:
    webhook = all_webhooks()["mpod.kb.io"]
    key = "leaderworkerset.sigs.k8s.io/name"
    assert webhook["objectSelector"] == {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    (rule,) = webhook["rules"]
    assert (rule["apiGroups"], rule["resources"]) == ([""], ["pods"])
    assert rule["operations"] == ["CREATE"]


@pytest.mark.parametrize(
    ("name", "group", "resource"),
    [
        ("mleaderworkerset.kb.io", "leaderworkerset.x-k8s.io", "leaderworkersets"),
        ("vleaderworkerset.kb.io", "leaderworkerset.x-k8s.io", "leaderworkersets"),
        ("vdisaggregatedset.kb.io", "disaggregatedset.x-k8s.io", "disaggregatedsets"),
    ],
)
def test_sets_come_when_they_are_created_and_updated(name: str, group: str, resource: str) -> None:
    webhook = all_webhooks()[name]
    (rule,) = webhook["rules"]
    assert (rule["apiGroups"], rule["resources"]) == ([group], [resource])
    assert rule["operations"] == ["CREATE", "UPDATE"]
    assert "objectSelector" not in webhook


def test_a_service_is_named_with_its_port() -> None:
    client = all_webhooks()["mpod.kb.io"]["clientConfig"]
    assert client == {
        "service": {
            "name": "lws-webhook-service",
            "namespace": "lws-system",
            "port": 443,
            "path": paths.MUTATE_POD,
        }
    }


def test_webhooks_outside_of_the_cluster_are_named_by_url() -> None:
    made = mutating_configuration(UrlAddress(base="https://localhost:9443/"), ca_bundle=b"pem")
    assert made["webhooks"][1]["clientConfig"] == {
        "url": f"https://localhost:9443{paths.MUTATE_POD}",
        "caBundle": base64.b64encode(b"pem").decode(),
    }


def test_every_path_of_the_configurations_is_one_of_ours() -> None:
    known = {value for key, value in vars(paths).items() if key.isupper()}
    hooks = (*configuration._MUTATING, *configuration._VALIDATING)
    assert {hook.path for hook in hooks} == known - {paths.VALIDATE_POD}
