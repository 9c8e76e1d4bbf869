"""Why a pod that is missing was not made: events of what the API server refused. Pure.

A quota, an admission plugin or a webhook refuses a pod to whoever would make it: the StatefulSet
controller, whose events stand on the StatefulSet, or the operator, for the StatefulSet of a
group's workers; its events stand on the LeaderWorkerSet. Neither shows in a status.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from lws.api import names
from lws.base.times import parse_time
from lws.cli.everyday.family import Document

REASON = "FailedCreate"
"""Of such an event, whoever tells it."""
FRESH_SECONDS = 20 * 60
"""A refused write is tried again within 1,000 s (StatefulSet controller) or 60 s (operator); what
was not told anew since has been made meanwhile, or is not wanted any more."""

_CONTROLLER = re.compile(r"create (?P<kind>\w+) .*?failed error: (?P<why>.*)", re.I | re.DOTALL)
_FORBIDDEN = re.compile(r'^\S+ "[^"]*" is forbidden: ')
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


def refusals_of(lws: Document, events: Iterable[Document], *, now: float) -> Mapping[str, str]:
    """The newest refusal of each StatefulSet of a set that lacks pods or is not there itself.

    `events` are of the core API; those that are old, or of an earlier set of this name, do not
    count. `now` is in seconds since the epoch.
    """
    metadata = lws["metadata"]
    since = max(now - FRESH_SECONDS, parse_time(metadata["creationTimestamp"]))
    told = sorted((_last(event), *one) for event in events for one in _refusal(metadata, event))
    return {statefulset: why for moment, statefulset, why in told if moment >= since}


def _refusal(metadata: Document, event: Document) -> Iterator[tuple[str, str]]:
    about, message = event["involvedObject"], str(event.get("message") or "")
    name = about.get("name", "")
    if event.get("reason") != REASON:
        return
    if about.get("kind") == "StatefulSet" and _is_of(metadata["name"], name):
        found = _CONTROLLER.search(message)
        is_claim = found is not None and found["kind"].lower() == "claim"
        why = tidy(message if found is None else found["why"])
        yield name, f"a volume claim was refused: {why}" if is_claim else why
    elif about.get("kind") == names.KIND and about.get("uid") == metadata.get("uid"):
        note, _, why = message.partition(": ")
        groups = (word for word in _NAME.findall(note) if _is_of(metadata["name"], word))
        worker_set = next((word for word in groups if word != metadata["name"]), None)
        if worker_set is not None:
            yield worker_set, f"their StatefulSet was refused: {tidy(why)}"


def _is_of(lws: str, statefulset: str) -> bool:
    """The leaders' StatefulSet has the set's name, that of a group's workers its leader's."""
    index = names.ordinal(statefulset)
    is_group = index is not None and statefulset == names.leader_pod_name(lws, index)
    return is_group or statefulset == lws


def tidy(message: str) -> str:
    """Of a refusal what a person must know: its object is named elsewhere."""
    return _FORBIDDEN.sub("", " ".join(message.split())).rstrip(".")


def _last(event: Document) -> float:
    """When it was told last, whichever of the recorders' fields says so."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    said = next((time for time in times if time), event["metadata"].get("creationTimestamp"))
    return parse_time(said) if said else 0.0
