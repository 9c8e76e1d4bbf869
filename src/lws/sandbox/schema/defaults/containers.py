"""Containers: image pull policy by tag, messages, ports, probes."""

import re
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


_PATH = re.compile(r"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_TAG = re.compile(r"[\w][\w.-]{0,127}", re.ASCII)


def pull_policy(image: str) -> str:
    """Always for the tag latest, said or meant; what is no image counts as others do."""
    name, _, digest = image.partition("@")
    head, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        head, tag = name, ""
    if not _is_image(head) or (tag and not _TAG.fullmatch(tag)):
        return "IfNotPresent"
    is_newest = tag == "latest" or not (tag or digest)
    return "Always" if is_newest else "IfNotPresent"


def _is_image(name: str) -> bool:
    """A path, with the registry's host before it if that looks like one."""
    host, slash, path = name.partition("/")
    is_host = host != host.lower() or "." in host or ":" in host or host == "localhost"
    return _PATH.fullmatch(path if slash and is_host else name) is not None


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
