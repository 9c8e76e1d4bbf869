"""The two objects that tell the API server of our webhooks, from one description."""

import base64
from dataclasses import dataclass

from lws.admission.documents import JsonObject
from lws.api import names
from lws.webhooks import paths

MUTATING_NAME = "lws-mutating-webhook-configuration"
VALIDATING_NAME = "lws-validating-webhook-configuration"
_API_VERSION = "admissionregistration.k8s.io/v1"
# Our slowest answer takes milliseconds; this is for a node under pressure.
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """Webhooks inside the cluster."""

    name: str
    namespace: str
    port: int = 443

    def client_config(self, path: str) -> JsonObject:
        """`clientConfig` without the CA."""
        service = {"name": self.name, "namespace": self.namespace, "port": self.port, "path": path}
        return {"service": service}


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlAddress:
    """Webhooks outside of it; `base` is `https://host:port`."""

    base: str

    def client_config(self, path: str) -> JsonObject:
        """`clientConfig` without the CA."""
        return {"url": self.base.rstrip("/") + path}


Address = ServiceAddress | UrlAddress


def mutating_configuration(address: Address, *, ca_bundle: bytes | None = None) -> JsonObject:
    """Defaults of LeaderWorkerSets, and pods of ours when they are created."""
    webhooks = [_webhook(hook, address=address, ca_bundle=ca_bundle) for hook in _MUTATING]
    return _configuration("MutatingWebhookConfiguration", name=MUTATING_NAME, webhooks=webhooks)


def validating_configuration(address: Address, *, ca_bundle: bytes | None = None) -> JsonObject:
    """Rules of LeaderWorkerSets and DisaggregatedSets."""
    webhooks = [_webhook(hook, address=address, ca_bundle=ca_bundle) for hook in _VALIDATING]
    return _configuration("ValidatingWebhookConfiguration", name=VALIDATING_NAME, webhooks=webhooks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    name: str
    path: str
    group: str
    resource: str
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    with_label: str | None = None


_MUTATING = (
    _Hook(
        name="mleaderworkerset.kb.io",
        path=paths.MUTATE_LEADERWORKERSET,
        group=names.GROUP,
        resource="leaderworkersets",
    ),
    _Hook(
        name="mpod.kb.io",
        path=paths.MUTATE_POD,
        group="",
        resource="pods",
        operations=("CREATE",),
        # No other pod of the cluster ever depends on us.
        with_label=names.NAME,
    ),
)
_VALIDATING = (
    _Hook(
        name="vleaderworkerset.kb.io",
        path=paths.VALIDATE_LEADERWORKERSET,
        group=names.GROUP,
        resource="leaderworkersets",
    ),
    _Hook(
        name="vdisaggregatedset.kb.io",
        path=paths.VALIDATE_DISAGGREGATEDSET,
        group=names.DS_GROUP,
        resource="disaggregatedsets",
    ),
)


def _webhook(hook: _Hook, *, address: Address, ca_bundle: bytes | None) -> JsonObject:
    client_config = address.client_config(hook.path)
    if ca_bundle is not None:
        client_config["caBundle"] = base64.b64encode(ca_bundle).decode()
    rule = {
        "apiGroups": [hook.group],
        "apiVersions": ["v1"],
        "operations": list(hook.operations),
        "resources": [hook.resource],
        "scope": "Namespaced",
    }
    webhook: JsonObject = {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config,
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "rules": [rule],
        "sideEffects": "None",
        "timeoutSeconds": _TIMEOUT_SECONDS,
    }
    if hook.with_label is not None:
        requirement = {"key": hook.with_label, "operator": "Exists"}
        webhook["objectSelector"] = {"matchExpressions": [requirement]}
    return webhook


def _configuration(kind: str, *, name: str, webhooks: list[JsonObject]) -> JsonObject:
    return {
        "apiVersion": _API_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": webhooks,
    }
