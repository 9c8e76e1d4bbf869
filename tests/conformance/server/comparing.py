"""Two answers by their meaning: what differs from run to run is taken out first."""

import json
import re
from collections.abc import Iterator
from typing import Any

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VARYING = (
    (_TIME, "<time>"),
    (_UID, "<uid>"),
    (re.compile(r"10\.96\.\d+\.\d+"), "<address>"),
    (re.compile(r"current: \d+"), "current: <revision>"),
    (re.compile(r'(resourceVersion\\*":\\*")\d+'), r"\1<revision>"),
)
_AGE = re.compile(r"\d+[smh]\d*s?")
_UNORDERED = ("managedFields", "causes", "resourceRules", "nonResourceRules")
"""Lists whose order is that of Go's maps."""
_TOKENS = frozenset(("resourceVersion", "continue"))


def meaning(body: str) -> Any:
    """The body, comparable."""
    try:
        return _normal(json.loads(body))
    except ValueError:
        pass
    try:
        return [_normal(json.loads(line)) for line in body.splitlines() if line]
    except ValueError:
        return body


def _normal(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {
            key: _normal(inner, key)
            for key, inner in value.items()
            if not (key == "continue" and inner == "")  # the real server's lists have it at times
        }
    if isinstance(value, list):
        items = [_normal(item, name) for item in value]
        if name in _UNORDERED:
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        return items
    if not isinstance(value, str):
        return value
    if name in _TOKENS:
        return f"<{name}>"
    if name == "cells" and _AGE.fullmatch(value):
        return "<age>"
    for pattern, words in _VARYING:
        value = pattern.sub(words, value)
    return value


def differences(real: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where the two differ."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted(real.keys() | ours.keys()):
            where = f"{path}.{key}"
            if key not in real:
                yield f"{where}: real has none, ours {_short(ours[key])}"
            elif key not in ours:
                yield f"{where}: real {_short(real[key])}, ours has none"
            else:
                yield from differences(real[key], ours[key], where)
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for index, (left, right) in enumerate(zip(real, ours, strict=True)):
            yield from differences(left, right, f"{path}[{index}]")
    elif type(real) is not type(ours) or real != ours:
        yield f"{path}: real {_short(real)}, ours {_short(ours)}"


def _short(value: Any) -> str:
    return json.dumps(value)[:400]
