"""Is a set available, and if not, why: a set and its groups in, words out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lws.cli.everyday.family import Document, Family, condition, is_true, revision_of, wanted_groups
from lws.cli.everyday.groups import GroupLine, document_of, groups_of

_STOPPED = ("ApplyFailed", "StatefulSetConflict", "ProgressDeadlineExceeded")
"""Reasons for which the spec that stands is not what runs, though all groups may be ready."""
_TOLD = ("Conflict", "Failed", "Paused")


@dataclass(frozen=True, slots=True)
class Status:
    """`reasons` are of the whole set; the groups have their own problems."""

    namespace: str
    name: str
    available: bool
    wanted: int
    ready: int
    updated: int
    revision: str
    state: str
    reasons: tuple[str, ...]
    groups: tuple[GroupLine, ...]

    @property
    def title(self) -> str:
        """The set in one line."""
        extra = self.ready - self.wanted
        surge = f" ({extra} beyond those wanted)" if extra > 0 else ""
        words = f"{self.namespace}/{self.name}: {self.state}, {self.ready}/{self.wanted} groups "
        return f"{words}ready{surge}, {self.updated} at revision {self.revision or '(none yet)'}"

    @property
    def lines(self) -> list[str]:
        """The title, what holds the set up, and what holds each group up."""
        held = [f"  {reason}" for reason in self.reasons]
        return [self.title, *held, *(f"  {one.words}" for one in self.groups if one.problems)]

    @property
    def ready_lines(self) -> list[str]:
        """The groups that have no problem."""
        return [f"  {group.words}" for group in self.groups if not group.problems]

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "namespace": self.namespace,
            "name": self.name,
            "available": self.available,
            "state": self.state,
            "replicas": self.wanted,
            "readyReplicas": self.ready,
            "updatedReplicas": self.updated,
            "revision": self.revision,
            "reasons": list(self.reasons),
            "groups": [document_of(group) for group in self.groups],
        }


def status_of(family: Family) -> Status:
    """What there is to say of a set."""
    lws = family.lws
    status = lws.get("status") or {}
    groups, wanted = tuple(groups_of(family)), wanted_groups(lws)
    # The status lags behind the pods: just after a restart it still tells of the old ones.
    all_ready = not any(group.problems for group in groups if group.index < wanted)
    state = state_of_set(lws)
    if state == "available" and not all_ready:
        state = "progressing"
    return Status(
        namespace=lws["metadata"].get("namespace", ""),
        name=lws["metadata"]["name"],
        available=state == "available",
        wanted=wanted,
        ready=int(status.get("readyReplicas") or 0),
        updated=int(status.get("updatedReplicas") or 0),
        revision=revision_of(family),
        state=state,
        reasons=tuple(reasons_of(lws)),
        groups=groups,
    )


def is_seen(lws: Document) -> bool:
    """Whether the status is of the spec that stands; a controller that does not say is believed."""
    seen = (lws.get("status") or {}).get("observedGeneration")
    return not seen or int(seen) >= int(lws["metadata"].get("generation") or 0)


def is_available(lws: Document) -> bool:
    """Whether all groups of the spec that stands are ready, and it could be put into effect."""
    is_going = bool(lws["metadata"].get("deletionTimestamp"))
    return is_true(lws, "Available") and is_seen(lws) and not is_going and _stopped(lws) is None


def state_of_set(lws: Document) -> str:
    """One word or two: what the set is at."""
    if lws["metadata"].get("deletionTimestamp"):
        return "being deleted"
    if is_available(lws):
        return "available"
    for type_, word in (("Failed", "failed"), ("Conflict", "blocked"), ("Paused", "paused")):
        if is_true(lws, type_):
            return word
    if _stopped(lws) is not None:
        return "stuck"
    if is_seen(lws) and is_true(lws, "UpdateInProgress"):
        return "updating"
    return "progressing" if condition(lws, "Progressing") else "new"


def reasons_of(lws: Document) -> Sequence[str]:
    reasons = [] if is_seen(lws) else ["the operator has not seen the newest spec yet"]
    if not (lws.get("status") or {}).get("conditions"):
        reasons.append("the operator has not looked at it yet: does one run in this cluster?")
    stopped = _stopped(lws)
    if stopped is not None:
        reasons.append(f"{stopped['reason']}: {stopped.get('message', '')}")
    for type_ in _TOLD:
        found = condition(lws, type_)
        if found is not None and found["status"] == "True":
            reasons.append(f"{found['type']}: {found.get('message', '')}")
    return reasons


def _stopped(lws: Document) -> Document | None:
    """The condition that says why nothing moves, if nothing does and should."""
    found = condition(lws, "Progressing")
    if found is None or found["status"] != "False":
        return None
    is_told = found.get("reason") in _STOPPED  # else it is only done with progressing
    return found if is_told or not is_true(lws, "Available") else None
