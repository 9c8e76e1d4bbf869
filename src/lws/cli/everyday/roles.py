"""Is a DisaggregatedSet available, and if not, why: the set, its LeaderWorkerSets, words. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lws.api import names
from lws.cli.everyday.family import Document, Family, condition, is_true, labels_of, wanted_groups
from lws.cli.everyday.groups import GroupLine, document_of, groups_of
from lws.cli.everyday.status import Status, is_seen, reasons_of, state_of_set

ROLLING = "Not all roles have reached"


@dataclass(frozen=True, slots=True)
class RoleFamily:
    """A DisaggregatedSet, its LeaderWorkerSets and their pods, as the API server gave them."""

    ds: Document
    sets: tuple[Document, ...]
    pods: tuple[Document, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    """By StatefulSet, as of a `Family`."""

    def members(self) -> Iterator[Family]:
        """Its LeaderWorkerSets, each with its own."""
        for lws in self.sets:
            name = lws["metadata"]["name"]
            own = tuple(pod for pod in self.pods if labels_of(pod).get(names.NAME) == name)
            yield Family(lws, None, own, self.refused)


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role at one revision in one slice: a LeaderWorkerSet."""

    name: str
    role: str
    slice_index: str
    revision: str
    wanted: int
    groups: tuple[GroupLine, ...]
    reasons: tuple[str, ...]

    @property
    def ready(self) -> int:
        """Groups without a problem."""
        return sum(not group.problems for group in self.groups)


@dataclass(frozen=True, slots=True)
class RolesStatus:
    """The same questions as a `Status` answers, of a DisaggregatedSet."""

    namespace: str
    name: str
    available: bool
    state: str
    totals: tuple[tuple[str, int, int], ...]
    """Of each role: its name, groups ready, groups wanted."""
    reasons: tuple[str, ...]
    sets: tuple[RoleLine, ...]
    slices: int

    @property
    def title(self) -> str:
        """The set in one line."""
        roles = ", ".join(f"{role} {ready}/{wanted}" for role, ready, wanted in self.totals)
        slices = f" in {self.slices} slices" if self.slices > 1 else ""
        return f"{self.namespace}/{self.name}: {self.state}, {roles or 'no roles'}{slices}"

    @property
    def revisions(self) -> list[str]:
        """Of its LeaderWorkerSets."""
        return sorted({line.revision for line in self.sets})

    def called(self, line: RoleLine) -> str:
        """A role's LeaderWorkerSet, by what tells it from the others."""
        slice_ = f"slice {line.slice_index} " if self.slices > 1 else ""
        revision = f" of revision {line.revision}" if len(self.revisions) > 1 else ""
        return f"{slice_}{line.role}{revision}"

    @property
    def lines(self) -> list[str]:
        """The title, what holds the set up, and what holds each group up."""
        held = [f"  {reason}" for reason in self.reasons]
        for line in self.sets:
            held += [f"  {self.called(line)}: {reason}" for reason in line.reasons]
            held += [f"  {self.called(line)} {one.words}" for one in line.groups if one.problems]
        return [self.title, *held]

    @property
    def ready_lines(self) -> list[str]:
        """The groups that have no problem."""
        return [
            f"  {self.called(line)} {one.words}"
            for line in self.sets
            for one in line.groups
            if not one.problems
        ]

    def as_document(self) -> Mapping[str, Any]:
        """For programs."""
        return {
            "namespace": self.namespace,
            "name": self.name,
            "available": self.available,
            "state": self.state,
            "slices": self.slices,
            "roles": [
                {"name": role, "readyReplicas": ready, "replicas": wanted}
                for role, ready, wanted in self.totals
            ],
            "reasons": list(self.reasons),
            "sets": [
                {
                    "name": line.name,
                    "role": line.role,
                    "slice": line.slice_index,
                    "revision": line.revision,
                    "reasons": list(line.reasons),
                    "groups": [document_of(group) for group in line.groups],
                }
                for line in self.sets
            ],
        }


Found = Status | RolesStatus


def status_of_roles(family: RoleFamily) -> RolesStatus:
    """What there is to say of a set."""
    ds = family.ds
    sets = tuple(sorted(map(_line_of, family.members()), key=_place))
    state = state_of_roles(ds)
    if state == "available" and any(one.problems for line in sets for one in line.groups):
        state = "progressing"  # the status lags behind the pods
    return RolesStatus(
        namespace=ds["metadata"].get("namespace", ""),
        name=ds["metadata"]["name"],
        available=state == "available",
        state=state,
        totals=tuple(totals_of(ds)),
        reasons=tuple(_reasons(ds)),
        sets=sets,
        slices=slices_of(ds),
    )


def slices_of(ds: Document) -> int:
    """Copies of the whole."""
    return int(ds["spec"].get("slices") or 1)


def totals_of(ds: Document) -> Iterator[tuple[str, int, int]]:
    """Of each role over all slices; wanted of an External role is what its sets have."""
    rows = {row["name"]: row for row in (ds.get("status") or {}).get("roleStatuses") or ()}
    for role in ds["spec"].get("roles") or ():
        row = rows.get(role["name"], {})
        is_external = (role.get("scaling") or {}).get("mode") == "External"
        replicas = (role.get("spec") or {}).get("replicas")
        wanted = (1 if replicas is None else int(replicas)) * slices_of(ds)
        if is_external:
            wanted = int(row.get("replicas") or 0)
        yield role["name"], int(row.get("readyReplicas") or 0), wanted


def state_of_roles(ds: Document) -> str:
    """One word or two: what the set is at."""
    if ds["metadata"].get("deletionTimestamp"):
        return "being deleted"
    if is_true(ds, "Conflict"):
        return "blocked"
    if is_true(ds, "Available") and is_seen(ds):
        return "available"
    return "progressing" if condition(ds, "Progressing") else "new"


def _reasons(ds: Document) -> Sequence[str]:
    reasons = [] if is_seen(ds) else ["the operator has not seen the newest spec yet"]
    if not (ds.get("status") or {}).get("conditions"):
        reasons.append("the operator has not looked at it yet: does one run in this cluster?")
    conflict = condition(ds, "Conflict")
    if conflict is not None and conflict["status"] == "True":
        reasons.append(str(conflict.get("message", "")))
    progress = condition(ds, "Progressing")
    if progress is not None and progress["status"] == "True":
        reasons += _waits(str(progress.get("message", "")))
    return reasons


def _waits(message: str) -> list[str]:
    """What the operator waits for; that it waits is no news."""
    parts = [part.strip() for part in message.split("; ")]
    return [part for part in parts if part and not part.startswith(ROLLING)]


def _line_of(family: Family) -> RoleLine:
    lws = family.lws
    labels = labels_of(lws)
    is_stopped = state_of_set(lws) in ("failed", "blocked", "stuck", "paused")
    return RoleLine(
        name=lws["metadata"]["name"],
        role=labels.get(names.DS_ROLE, ""),
        slice_index=labels.get(names.DS_SLICE, "0"),
        revision=labels.get(names.DS_REVISION, ""),
        wanted=wanted_groups(lws),
        groups=tuple(groups_of(family)),
        reasons=tuple(reasons_of(lws)) if is_stopped else (),
    )


def _place(line: RoleLine) -> tuple[int, str, str]:
    index = line.slice_index
    return (int(index) if index.isdigit() else 0, line.role, line.revision)
