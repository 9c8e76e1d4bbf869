"""Autoscalers in the older of their two versions, which has a field for the load of CPUs alone.

What it has no field for stands in annotations there, as JSON.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from lws.sandbox.schema.defaults.workloads import OTHER_METRICS

JsonObject = dict[str, Any]

_OTHERS: Mapping[tuple[str, str], str] = {
    ("spec", "metrics"): OTHER_METRICS,
    ("spec", "behavior"): "autoscaling.alpha.kubernetes.io/behavior",
    ("status", "conditions"): "autoscaling.alpha.kubernetes.io/conditions",
    ("status", "currentMetrics"): "autoscaling.alpha.kubernetes.io/current-metrics",
}
_ORDER = (
    *("target", "name", "metricName", "metricSelector"),
    *(f"{word}AverageUtilization" for word in ("target", "current")),
    *(f"{word}{name}" for word in ("target", "current") for name in ("Value", "AverageValue")),
    *("container", "selector", "averageValue"),
)
_METRICS = {"metrics": "target", "currentMetrics": "current"}
_SIDES = (
    ("spec", "metrics", "target", "targetCPUUtilizationPercentage"),
    ("status", "currentMetrics", "current", "currentCPUUtilizationPercentage"),
)


def as_older(obj: JsonObject) -> JsonObject:
    """Version 1 of a stored one."""
    parts = {side: dict(obj.get(side) or {}) for side in ("spec", "status")}
    for side, field, kind, number in _SIDES:
        found = parts[side].get(field) or []
        cpu = next((one for one in found if _is_cpu(one, kind)), None)
        if cpu is not None:
            parts[side][number] = cpu["resource"][kind]["averageUtilization"]
        parts[side][field] = [one for one in found if one is not cpu]
    notes = {}
    for (side, field), note in _OTHERS.items():
        value = parts[side].pop(field, None)
        if value and field in _METRICS:
            value = [_older_metric(one, _METRICS[field]) for one in value]
        if value and field == "behavior":
            value = _in_go(value, _BEHAVIOR)
        if value:
            notes[note] = orjson.dumps(value).decode()
    parts["status"].setdefault("currentReplicas", 0)
    return _remade(obj, "autoscaling/v1", parts, notes, without=())


def as_stored(obj: JsonObject) -> JsonObject:
    """Version 2 of one in version 1."""
    parts = {side: dict(obj.get(side) or {}) for side in ("spec", "status")}
    annotations = obj["metadata"].get("annotations") or {}
    for (side, field), note in _OTHERS.items():
        if note in annotations:
            value = orjson.loads(annotations[note])
            if field in _METRICS:
                value = [_newer_metric(one, _METRICS[field]) for one in value]
            parts[side][field] = _in_json(value) if field == "behavior" else value
    for side, field, kind, number in _SIDES:
        percent = parts[side].pop(number, None)
        if percent is not None:
            load = {"name": "cpu", kind: _load(kind, percent)}
            parts[side][field] = [
                *(parts[side].get(field) or ()),
                {"type": "Resource", "resource": load},
            ]
    if not parts["status"].get("currentReplicas"):
        parts["status"].pop("currentReplicas", None)
    parts["status"].setdefault("currentMetrics", None)
    return _remade(obj, "autoscaling/v2", parts, {}, without=tuple(_OTHERS.values()))


def _older_metric(metric: JsonObject, word: str) -> JsonObject:
    """`{metric: {name}, target: {averageValue}}` was `{metricName, targetAverageValue}`."""
    kind = metric["type"]
    field = _lower(kind)
    source = metric[field]
    older = {key: one for key, one in source.items() if key not in (word, "metric")}
    if "describedObject" in older:
        about = older.pop("describedObject")
        names = ("kind", "name", "apiVersion")
        older["target"] = {name: about[name] for name in names if name in about}
    measured = source.get("metric") or {}
    if measured:
        older["metricName"] = measured["name"]
        if measured.get("selector"):
            older["metricSelector" if kind == "External" else "selector"] = measured["selector"]
    for name in ("averageUtilization", "averageValue", "value"):
        if (source.get(word) or {}).get(name) is not None:
            older[_old_name(kind, word, name)] = source[word][name]
    return {"type": kind, field: {key: older[key] for key in _ORDER if key in older}}


def _old_name(kind: str, word: str, name: str) -> str:
    """Objects' averages alone were called as they are now."""
    is_plain = kind == "Object" and name == "averageValue"
    return name if is_plain else f"{word}{name[0].upper()}{name[1:]}"


def _newer_metric(metric: JsonObject, word: str) -> JsonObject:
    """The way back."""
    kind = metric["type"]
    field = _lower(kind)
    older = dict(metric[field])
    amounts: JsonObject = {}
    for name, label in (
        ("averageUtilization", "Utilization"),
        ("averageValue", "AverageValue"),
        ("value", "Value"),
    ):
        value = older.pop(_old_name(kind, word, name), None)
        if value is not None:
            amounts |= {"type": label, name: value} if word == "target" else {name: value}
    measured = {"name": older.pop("metricName", None)}
    selector = older.pop("metricSelector", None) or older.pop("selector", None)
    if selector:
        measured["selector"] = selector
    if kind == "Object":
        older["describedObject"] = older.pop("target", {})
    newer = {**older, word: amounts}
    return {"type": kind, field: {**newer, "metric": measured} if measured["name"] else newer}


_POLICY = {"Type": None, "Value": None, "PeriodSeconds": None}
_RULES = {
    "StabilizationWindowSeconds": None,
    "SelectPolicy": None,
    "Policies": _POLICY,
    "Tolerance": None,
}
_BEHAVIOR: JsonObject = {"ScaleUp": _RULES, "ScaleDown": _RULES}


def _in_go(value: Any, names: JsonObject | None) -> Any:
    """As Go prints a struct whose fields have no other names, in its order."""
    if isinstance(value, list):
        return [_in_go(one, names) for one in value]
    if names is None or not isinstance(value, dict):
        return value
    return {name: _in_go(value.get(_lower(name)), inner) for name, inner in names.items()}


def _in_json(value: Any) -> Any:
    """The way back."""
    if isinstance(value, list):
        return [_in_json(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {_lower(name): _in_json(one) for name, one in value.items() if one is not None}


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _is_cpu(metric: JsonObject, kind: str) -> bool:
    resource = metric.get("resource") or {}
    is_cpu = metric.get("type") == "Resource" and resource.get("name") == "cpu"
    return is_cpu and (resource.get(kind) or {}).get("averageUtilization") is not None


def _load(kind: str, percent: int) -> JsonObject:
    named = {"type": "Utilization"} if kind == "target" else {}
    return {**named, "averageUtilization": percent}


def _remade(
    obj: JsonObject,
    api_version: str,
    parts: Mapping[str, JsonObject],
    notes: Mapping[str, str],
    *,
    without: tuple[str, ...],
) -> JsonObject:
    present = obj["metadata"].get("annotations") or {}
    annotations = {key: one for key, one in present.items() if key not in without} | dict(notes)
    metadata = {key: one for key, one in obj["metadata"].items() if key != "annotations"}
    if annotations:
        metadata["annotations"] = annotations
    return {**obj, "apiVersion": api_version, "metadata": metadata, **parts}
