"""Rules about a request by itself."""

from collections.abc import Iterator
from typing import Any

import orjson

from lws.client.responses import Response
from lws.simulation.acts import Act
from lws.simulation.judge.wire import Json

NOT_LEADING = ("leases", "events", "secrets")
"""Written by whoever lives, leading or not."""
REFUSED = (400, 405, 413, 415, 422)
"""Answers to what should never have been asked."""


def body_of(act: Act) -> Any:
    """What was sent, decoded."""
    return orjson.loads(act.request.body) if act.request.body else {}


def sending(act: Act, *, holder: str) -> Iterator[tuple[str, str]]:
    """Rules at the moment of sending: who may, and with which preconditions."""
    request = act.request
    plural = request.resource.partition("/")[0]
    is_everybodys = plural in NOT_LEADING or plural.endswith("webhookconfigurations")
    if not is_everybodys and holder != act.life:
        yield "one leader", f"{request} by {act.life}, the lease is {holder or 'nobody'}'s"
    if request.method == "DELETE" and not _preconditions(act).get("uid"):
        yield "uid precondition", f"{request} deletes whatever has that name"


def changing(act: Act, old: Json | None) -> Iterator[tuple[str, str]]:
    """An existing object is changed only as the life of it that was meant.

    An apply cannot say "only if it is not there": one that makes an object and comes late changes
    it (docs/limits.md).
    """
    request = act.request
    if (
        act.is_late
        or old is None
        or request.method != "PATCH"
        or request.resource != "statefulsets"
    ):
        return
    if not (body_of(act).get("metadata") or {}).get("uid"):
        yield "uid precondition", f"{request} changes whatever has that name"


def answered(act: Act, response: Response) -> Iterator[tuple[str, str]]:
    """The server refused what it will always refuse."""
    if response.status not in REFUSED:
        return
    text = response.body.decode(errors="replace")
    if "metadata.uid" in text or "denied the request" in text or "simulated" in text:
        return
    yield "sound requests", f"{act.request} was answered {response.status}: {text[:400]}"


def _preconditions(act: Act) -> Json:
    found: Json = body_of(act).get("preconditions") or {}
    return found
