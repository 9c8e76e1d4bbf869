"""What a plan is made of: actions, as data.

The executor has one function for each; nothing else writes. Actions of a plan are performed in
order, and the rest of a plan is dropped when one fails: the next pass starts from what it finds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lws.api.kinds import Kind
from lws.base.ids import UID, ResourceVersion

Document = Mapping[str, Any]
"""A JSON object as the wire has it."""


class EventType(Enum):
    """`type` of an event."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class Reference:
    """The object that an event is about, or that an action touches."""

    kind: Kind
    namespace: str
    name: str
    uid: UID = UID("")
    resource_version: ResourceVersion = ResourceVersion("")


class Telling(Enum):
    """How many of the events tell their own note that differ in their notes alone.

    The rest are counted in the series of the last one.
    """

    EACH = "each"
    """Some ten."""
    FEW = "few"
    """Those that begin: where one group fares as the other."""
    TOGETHER = "together"
    """The first, after a while, with the others counted: what nobody looks for here."""


@dataclass(frozen=True, slots=True)
class Emit:
    """An event on `regarding`; `action` is its machine-readable verb (events.k8s.io/v1)."""

    regarding: Reference
    type: EventType
    reason: str
    action: str
    note: str
    telling: Telling = Telling.EACH


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Create an object; AlreadyExists is normal (names are deterministic)."""

    kind: Kind
    namespace: str
    name: str
    body: Document
    event: Emit | None = None
    """Emitted once the write has succeeded."""
    failure: Emit | None = None
    """Emitted, with the server's message appended to the note, when it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """Server-side apply, field manager `lws`, forced; `uid` guards against a successor."""

    kind: Kind
    namespace: str
    name: str
    body: Document
    uid: UID | None
    """None: it is not expected to exist."""
    resource_version: ResourceVersion | None = None
    """Set where a change since we looked must stop the apply."""
    event: Emit | None = None
    failure: Emit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePatch:
    """JSON merge patch of an object, under preconditions (metadata of the body is filled in)."""

    kind: Kind
    namespace: str
    name: str
    body: Document
    uid: UID
    resource_version: ResourceVersion | None = None
    subresource: str | None = None
    event: Emit | None = None
    failure: Emit | None = None


class Propagation(Enum):
    """`propagationPolicy` of a delete."""

    FOREGROUND = "Foreground"
    BACKGROUND = "Background"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete one life of an object (UID precondition); gone already is normal."""

    kind: Kind
    namespace: str
    name: str
    uid: UID
    resource_version: ResourceVersion | None = None
    """Set where a change since we looked must save the object."""
    propagation: Propagation = Propagation.BACKGROUND
    event: Emit | None = None
    failure: Emit | None = None


@dataclass(frozen=True, slots=True)
class WakeAfter:
    """Look again after so many seconds, should no event come before."""

    seconds: float


Write = Create | Apply | MergePatch | Delete
Action = Write | Emit | WakeAfter
