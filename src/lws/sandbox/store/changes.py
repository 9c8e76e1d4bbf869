"""What one write did."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

JsonObject = dict[str, Any]


class Key(NamedTuple):
    """Where an object is; `resource` is `group/plural`, the namespace may be empty."""

    resource: str
    namespace: str
    name: str


class ChangeType(StrEnum):
    """What a write did to its object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One revision. A deleted object carries the revision of its deletion."""

    revision: int
    type: ChangeType
    key: Key
    object: JsonObject
    old: JsonObject | None
    """The object before; None if there was none."""


def at_revision(obj: JsonObject, revision: int) -> JsonObject:
    """The same object, said to be of this revision; the parts are shared."""
    metadata = {**obj.get("metadata", {}), "resourceVersion": str(revision)}
    return {**obj, "metadata": metadata}
