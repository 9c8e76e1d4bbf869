"""Durations as Go writes them in configuration files and flags: `15s`, `1m30s`, `500ms`."""

import re

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> float:
    """Seconds; ValueError (with what to write instead) for anything else."""
    if text == "0":
        return 0.0
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"must be a duration such as 15s or 1m30s, not {text!r}")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
