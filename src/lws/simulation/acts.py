"""Who is at work: every write knows whose it is, and when it was decided."""

from contextvars import ContextVar
from dataclasses import dataclass

from lws.client.requests import Request


@dataclass(frozen=True, slots=True)
class Act:
    """One request of the judged program, as it was sent."""

    life: str
    """Machine and life of it, such as `a/3`."""
    request: Request
    sent_at: float
    blind_seconds: float
    """So old may be what the program knew when it decided this."""
    is_late: bool
    """It arrives after the program gave it up, perhaps after its death."""


ACTING: ContextVar[Act | None] = ContextVar("acting", default=None)
"""The act whose request is being answered; None: a user's or the cluster's own work."""
