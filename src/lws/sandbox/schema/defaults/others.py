"""The small kinds."""

from base64 import b64encode
from collections.abc import Mapping

from lws.sandbox.schema.defaults.words import (
    CORE,
    JsonObject,
    Setter,
    absent_filler,
    amounts_rounder,
    filler,
)

_RBAC = "io.k8s.api.rbac.v1."
_RBAC_GROUP = "rbac.authorization.k8s.io"


def _namespace(namespace: JsonObject) -> None:
    name = namespace["metadata"].get("name")
    if name:
        labels = namespace["metadata"].get("labels") or {}
        namespace["metadata"]["labels"] = {**labels, "kubernetes.io/metadata.name": name}
    namespace["status"].setdefault("phase", "Active")


def _node_status(status: JsonObject) -> None:
    if status.get("allocatable") is None and status.get("capacity"):
        status["allocatable"] = dict(status["capacity"])
    _round_node(status)


_round_node = amounts_rounder("capacity", "allocatable")


def _limit_range_item(item: JsonObject) -> None:
    if item.get("type") == "Container":
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        if limits:
            item["default"] = limits
        if requests:
            item["defaultRequest"] = requests
    _round_range(item)


_round_range = amounts_rounder("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def _subject(subject: JsonObject) -> None:
    if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
        subject["apiGroup"] = _RBAC_GROUP


def _binding(binding: JsonObject) -> None:
    if not binding["roleRef"].get("apiGroup"):
        binding["roleRef"]["apiGroup"] = _RBAC_GROUP


def _secret(secret: JsonObject) -> None:
    secret.setdefault("type", "Opaque")
    text = secret.pop("stringData", None)
    if text:
        coded = {key: b64encode(value.encode()).decode() for key, value in text.items()}
        secret["data"] = {**(secret.get("data") or {}), **coded}


SETTERS: Mapping[str, Setter] = {
    f"{CORE}Namespace": _namespace,
    f"{CORE}NodeStatus": _node_status,
    f"{CORE}LimitRangeItem": _limit_range_item,
    f"{CORE}Secret": _secret,
    f"{CORE}EndpointPort": filler(protocol="TCP"),
    f"{CORE}ResourceQuotaSpec": amounts_rounder("hard"),
    f"{CORE}ResourceQuotaStatus": amounts_rounder("hard", "used"),
    f"{_RBAC}RoleBinding": _binding,
    f"{_RBAC}ClusterRoleBinding": _binding,
    f"{_RBAC}Subject": _subject,
    "io.k8s.api.storage.v1.StorageClass": absent_filler(
        reclaimPolicy="Delete", volumeBindingMode="Immediate"
    ),
    "io.k8s.api.scheduling.v1.PriorityClass": absent_filler(
        preemptionPolicy="PreemptLowerPriority"
    ),
    "io.k8s.api.discovery.v1.EndpointPort": absent_filler(name="", protocol="TCP"),
}
