"""Durations as Go writes them: `1m30s`, `500ms`."""

import re

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float:
    """Seconds of a duration; 0 of what is none."""
    if not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        return 0.0
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
