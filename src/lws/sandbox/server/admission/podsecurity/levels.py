"""What the labels of a namespace say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lws.sandbox.schema.errors import FieldError, invalid

PREFIX = "pod-security.kubernetes.io/"
MODES = ("enforce", "audit", "warn")
PRIVILEGED, BASELINE, RESTRICTED = LEVELS = ("privileged", "baseline", "restricted")
LATEST = "latest"
_NEWEST = 10**6
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Policy:
    """What a mode asks for."""

    level: str = PRIVILEGED
    version: str = LATEST

    def __str__(self) -> str:
        """As messages have it."""
        return f"{self.level}:{self.version}"

    @property
    def minor(self) -> int:
        """Of the version; that of the newest is beyond all."""
        match = _VERSION.fullmatch(self.version)
        return int(match[1]) if match else _NEWEST

    def is_looser_than(self, other: "Policy") -> bool:
        """May it allow what the other does not?"""
        return self.level != other.level and LEVELS.index(self.level) < LEVELS.index(other.level)


def policy_of(labels: Mapping[str, str], mode: str) -> Policy:
    """Of a mode; a level that is none is taken for the strictest."""
    level = labels.get(f"{PREFIX}{mode}")
    version = labels.get(f"{PREFIX}{mode}-version", LATEST)
    if not _VERSION.fullmatch(version):
        version = LATEST
    if level is None:
        return Policy(PRIVILEGED, version)
    return Policy(level if level in LEVELS else RESTRICTED, version)


def label_faults(labels: Mapping[str, str]) -> list[FieldError]:
    """Labels that say no level, or no version."""
    found = []
    for mode in MODES:
        key = f"{PREFIX}{mode}"
        level, version = labels.get(key), labels.get(f"{key}-version")
        if level is not None and level not in LEVELS:
            words = f"must be one of {', '.join(LEVELS)}"
            found.append(invalid(f"metadata.labels[{key}]", level, words))
        if version is not None and version != LATEST and not _VERSION.fullmatch(version):
            words = 'must be "latest" or "v1.x"'
            found.append(invalid(f"metadata.labels[{key}-version]", version, words))
    return found
