"""One object in two versions: events, autoscalers, custom kinds (which differ in name alone)."""

from typing import Any

from lws.sandbox.server.autoscalers import as_older, as_stored
from lws.sandbox.server.kinds import Kind

JsonObject = dict[str, Any]

_OLDER = "autoscaling/v1"  # of HorizontalPodAutoscalers
_NEW_GROUP = "events.k8s.io"
_NEW_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_OLD_NAMES = {new: old for old, new in _NEW_NAMES.items()}


def from_stored(kind: Kind, obj: JsonObject) -> JsonObject:
    """As the kind's version shows it; the same object if that is how it is stored."""
    if kind.resource.group == _NEW_GROUP:
        return _renamed(obj, _NEW_NAMES, kind.resource.api_version)
    if kind.resource.api_version == _OLDER and not kind.is_custom:
        return as_older(obj)
    if obj["apiVersion"] != kind.resource.api_version:
        return {**obj, "apiVersion": kind.resource.api_version}
    return obj


def to_stored(kind: Kind, obj: JsonObject) -> JsonObject:
    """As it is kept."""
    if kind.resource.group == _NEW_GROUP:
        return _renamed(obj, _OLD_NAMES, "v1")
    if kind.resource.api_version == _OLDER and not kind.is_custom:
        return as_stored(obj)
    version = kind.storage_version
    if version and version != kind.resource.version:
        return {**obj, "apiVersion": f"{kind.resource.group}/{version}"}
    return obj


def _renamed(obj: JsonObject, names: dict[str, str], api_version: str) -> JsonObject:
    renamed = {
        names.get(name, name): value
        for name, value in obj.items()
        if value or name not in ("reportingComponent", "reportingInstance")
    }
    return {**renamed, "apiVersion": api_version}
