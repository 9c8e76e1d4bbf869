"""The webhook configurations, with a URL of this machine in the place of a Service."""

import base64
from collections.abc import Callable
from pathlib import Path

from harness.kube import Json, Kube

MUTATING = "lws-mutating-webhook-configuration"
VALIDATING = "lws-validating-webhook-configuration"
Client = Callable[[str], Json]
"""From a webhook's path to how it is reached."""

_NAME_LABEL = "leaderworkerset.sigs.k8s.io/name"


def install_webhooks(kube: Kube, *, port: int, ca_file: Path) -> None:
    """Make the API server ask the operator at this port of this machine."""
    bundle = base64.b64encode(ca_file.read_bytes()).decode("ascii")

    def client(path: str) -> Json:
        return {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}

    for item in (_mutating(client), _validating(client)):
        kube.apply(item, manager="harness")


def remove_webhooks(kube: Kube) -> None:
    """Take the configurations away; that they are gone already is fine."""
    kube.delete("mutatingwebhookconfigurations.admissionregistration.k8s.io", MUTATING)
    kube.delete("validatingwebhookconfigurations.admissionregistration.k8s.io", VALIDATING)


def _mutating(client: Client) -> Json:
    pods = _webhook(
        "mpod.kb.io",
        client("/mutate--v1-pod"),
        _rule("", "v1", "pods", ["CREATE"]),
        objectSelector={"matchExpressions": [{"key": _NAME_LABEL, "operator": "Exists"}]},
    )
    sets = _webhook(
        "mleaderworkerset.kb.io",
        client("/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"),
        _rule("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", ["CREATE", "UPDATE"]),
    )
    return _configuration("MutatingWebhookConfiguration", MUTATING, [sets, pods])


def _validating(client: Client) -> Json:
    sets = _webhook(
        "vleaderworkerset.kb.io",
        client("/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"),
        _rule("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", ["CREATE", "UPDATE"]),
    )
    disaggregated = _webhook(
        "vdisaggregatedset.kb.io",
        client("/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset"),
        _rule("disaggregatedset.x-k8s.io", "v1", "disaggregatedsets", ["CREATE", "UPDATE"]),
    )
    return _configuration("ValidatingWebhookConfiguration", VALIDATING, [sets, disaggregated])


def _configuration(kind: str, name: str, webhooks: list[Json]) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": webhooks,
    }


def _webhook(name: str, client: Json, rule: Json, **more: Json) -> Json:
    return {
        "name": name,
        "clientConfig": client,
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 10,
        **more,
    }


def _rule(group: str, version: str, resource: str, operations: list[str]) -> Json:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "operations": operations,
    }
