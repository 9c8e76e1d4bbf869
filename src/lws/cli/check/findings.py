"""What the check has to say. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much it matters; the first two make the exit code 1."""

    ERROR = "error"
    """In the way: to be solved before."""
    WARNING = "warning"
    """Something would be written or is wrong already: to be understood before."""
    INFO = "info"
    """To be known."""


class Topic(StrEnum):
    """What part of the change-over it is about."""

    DEFINITION = "definition"
    WEBHOOK = "webhook"
    LEASE = "lease"
    RIGHT = "right"
    CHANGE = "change"
    ADMISSION = "admission"
    MANAGER = "field manager"
    GANG = "gang scheduling"
    INSTALLATION = "installation"
    RETURN = "way back"

    def finding(
        self,
        severity: Severity,
        about: "Subject",
        message: str,
        *,
        fields: tuple[str, ...] = (),
        hint: str = "",
    ) -> "Finding":
        """Something found about this part."""
        return Finding(
            severity=severity, topic=self, about=about, message=message, fields=fields, hint=hint
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that a finding is about; the name may be empty: all of the kind."""

    kind: str
    namespace: str = ""
    name: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any], kind: str) -> "Subject":
        """An object as the API server gave it, which need not have a namespace."""
        metadata = document["metadata"]
        return cls(kind, metadata.get("namespace", ""), metadata["name"])

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found."""

    severity: Severity
    topic: Topic
    about: Subject
    message: str
    fields: tuple[str, ...] = ()
    """What differs, one field a line."""
    hint: str = ""
    """What to do about it."""

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "severity": self.severity.value,
            "topic": self.topic.value,
            "kind": self.about.kind,
            "namespace": self.about.namespace,
            "name": self.about.name,
            "message": self.message,
            "fields": list(self.fields),
            "hint": self.hint,
        }


MANY = 20
"""So many findings of one wording are kept of what only has to be known; the rest is counted."""


class Findings:
    """Collects; a cluster in which every pod has something to be known does not fill the memory."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._counts: dict[Finding, int] = {}

    def add(self, found: Iterable[Finding]) -> None:
        """Some more."""
        for one in found:
            if one.severity is Severity.INFO:
                wording = replace(one, about=Subject(one.about.kind), fields=())
                self._counts[wording] = self._counts.get(wording, 0) + 1
                if self._counts[wording] > MANY:
                    continue
            self._kept.append(one)

    def all(self) -> list[Finding]:
        """What was kept, and how many more there were of each wording."""
        more = [
            replace(one, message=f"and {count - MANY} more: {one.message}")
            for one, count in self._counts.items()
            if count > MANY
        ]
        return [*self._kept, *more]


@dataclass(slots=True)
class Inventory:
    """What is there."""

    server: str = ""
    namespaces: tuple[str, ...] = ()
    """Those that were looked at; empty: all."""
    counts: dict[str, int] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    lease: str = ""
    managers: dict[str, dict[str, int]] = field(default_factory=dict)
    """By kind: how many objects a field manager has a hand in."""

    def count(self, kind: str, number: int = 1) -> None:
        """So many more objects of a kind."""
        self.counts[kind] = self.counts.get(kind, 0) + number

    def count_managers(self, kind: str, managers: Iterable[str]) -> None:
        """One object more, and those who wrote to it."""
        known = self.managers.setdefault(kind, {})
        for manager in managers:
            known[manager] = known.get(manager, 0) + 1

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "server": self.server,
            "namespaces": list(self.namespaces),
            "counts": self.counts,
            "definitions": self.definitions,
            "lease": self.lease,
            "fieldManagers": self.managers,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer."""

    inventory: Inventory
    findings: tuple[Finding, ...]

    @property
    def is_clear(self) -> bool:
        """Whether nothing is in the way and nothing would change."""
        return all(one.severity is Severity.INFO for one in self.findings)

    @property
    def changes(self) -> int:
        """How many writes the first pass would make."""
        return sum(one.topic is Topic.CHANGE for one in self.findings)

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "clear": self.is_clear,
            "changes": self.changes,
            "found": self.inventory.as_document(),
            "findings": [one.as_document() for one in self.findings],
        }
