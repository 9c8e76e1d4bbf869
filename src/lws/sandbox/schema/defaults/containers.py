"""Containers: image pull policy by tag, messages, ports, probes."""

from collections.abc import Mapping

from lws.sandbox.schema.defaults.words import (
    CORE,
    JsonObject,
    Setter,
    absent_filler,
    amounts_rounder,
    filler,
)


def _container(container: JsonObject) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    _messages(container)


_messages = filler(
    terminationMessagePath="/dev/termination-log",
    terminationMessagePolicy="File",
)


def pull_policy(image: str) -> str:
    """Always for the tag latest, said or meant; images that are no images count as others."""
    name, _, digest = image.partition("@")
    if digest:
        return "IfNotPresent"
    tag = name.rpartition("/")[2].partition(":")[2]
    is_image = bool(image) and image == image.strip() and name == name.lower()
    return "Always" if tag == "latest" or (not tag and is_image) else "IfNotPresent"


SETTERS: Mapping[str, Setter] = {
    f"{CORE}Container": _container,
    f"{CORE}EphemeralContainer": _container,
    f"{CORE}ContainerPort": filler(protocol="TCP"),
    f"{CORE}ResourceRequirements": amounts_rounder("limits", "requests"),
    f"{CORE}ObjectFieldSelector": filler(apiVersion="v1"),
    f"{CORE}FileKeySelector": absent_filler(optional=False),
    f"{CORE}Probe": filler(
        timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3
    ),
    f"{CORE}HTTPGetAction": filler(path="/", scheme="HTTP"),
    f"{CORE}GRPCAction": absent_filler(service=""),
}
