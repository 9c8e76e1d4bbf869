"""One endpoint of one pod, and the ports of a Service. Pure."""

from collections.abc import Mapping
from typing import Any

from lws.sandbox.cluster.objects import (
    TERMINAL,
    is_ready,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    phase_of,
    status_of,
    uid_of,
)
from lws.sandbox.server.verbs import JsonObject

ZONE = "topology.kubernetes.io/zone"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
HEADLESS = "service.kubernetes.io/headless"
MANAGER = "endpointslice-controller.k8s.io"


def is_headless(service: JsonObject) -> bool:
    """Has it no address of its own?"""
    return bool(service["spec"].get("clusterIP") == "None")


def selector_of(service: JsonObject) -> Mapping[str, str]:
    """Its selector; empty if somebody else makes its endpoints."""
    if service["spec"].get("type") == "ExternalName":
        return {}
    selector: Mapping[str, str] = service["spec"].get("selector") or {}
    return selector


def selects(service: JsonObject, pod: JsonObject) -> bool:
    """Does the Service select the pod?"""
    selector = selector_of(service)
    labels = labels_of(pod)
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def endpoint_of(service: JsonObject, pod: JsonObject, node: JsonObject | None) -> JsonObject | None:
    """The pod as an endpoint; None if it is none (no address yet, or over)."""
    address = status_of(pod).get("podIP")
    if not address or phase_of(pod) in TERMINAL:
        return None
    ready, terminating = is_ready(pod), is_terminating(pod)
    publishes = bool(service["spec"].get("publishNotReadyAddresses"))
    endpoint: JsonObject = {
        "addresses": [address],
        "conditions": {
            "ready": publishes or (ready and not terminating),
            "serving": ready,
            "terminating": terminating,
        },
        "targetRef": {
            "kind": "Pod",
            "namespace": namespace_of(pod),
            "name": name_of(pod),
            "uid": uid_of(pod),
        },
    }
    spec = pod["spec"]
    if spec.get("hostname") and spec.get("subdomain") == name_of(service):
        endpoint["hostname"] = spec["hostname"]
    if spec.get("nodeName"):
        endpoint["nodeName"] = spec["nodeName"]
    zone = labels_of(node).get(ZONE) if node is not None else None
    if zone:
        endpoint["zone"] = zone
    return endpoint


def ports_of(service: JsonObject, pod: JsonObject) -> list[JsonObject]:
    """The Service's ports as they are on this pod; a port's name may mean another number there."""
    ports = []
    for port in service["spec"].get("ports") or ():
        number = _number(port.get("targetPort") or port["port"], pod, port)
        if number is None:
            continue
        entry: JsonObject = {
            "name": port.get("name") or "",
            "protocol": port.get("protocol") or "TCP",
            "port": number,
        }
        if port.get("appProtocol"):
            entry["appProtocol"] = port["appProtocol"]
        ports.append(entry)
    return ports


def _number(target: Any, pod: JsonObject, port: JsonObject) -> int | None:
    if isinstance(target, int):
        return target
    for container in pod["spec"]["containers"]:
        for one in container.get("ports") or ():
            same = (one.get("protocol") or "TCP") == (port.get("protocol") or "TCP")
            if one.get("name") == target and same:
                number: int = one["containerPort"]
                return number
    return None


def slice_labels(service: JsonObject) -> dict[str, str]:
    """What a slice of the Service is labelled with."""
    labels = {**labels_of(service), SERVICE_NAME: name_of(service), MANAGED_BY: MANAGER}
    if is_headless(service):
        labels[HEADLESS] = ""
    else:
        labels.pop(HEADLESS, None)
    return labels
