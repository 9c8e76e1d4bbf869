"""All LeaderWorkerSets of one set, counted as they come and go.

So that the status of a set with a hundred slices costs no more than that of a set with one: an
event takes what it knew of one LeaderWorkerSet out and puts what it knows now in.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from lws.base.ids import RevisionKey
from lws.planner.disaggregatedset.identity import Templates


class Member(NamedTuple):
    """One LeaderWorkerSet of a role, in numbers."""

    role: str
    revision: RevisionKey
    slice_index: int
    digest: str
    wanted: int
    """spec.replicas."""
    replicas: int
    ready: int
    updated: int


class RoleTotals(NamedTuple):
    """A role over all slices and revisions."""

    members: int = 0
    wanted: int = 0
    replicas: int = 0
    ready: int = 0
    updated: int = 0
    """Of the wanted revision only."""


class Census:
    """Sums by role and revision, and which templates each revision has."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, RevisionKey], RoleTotals] = {}
        self._templates: dict[RevisionKey, dict[str, Counter[str]]] = {}
        self._slices: Counter[int] = Counter()

    def add(self, member: Member) -> None:
        """It is there."""
        self._count(member, 1)
        digests = self._templates.setdefault(member.revision, {}).setdefault(member.role, Counter())
        digests[member.digest] += 1
        self._slices[member.slice_index] += 1

    def remove(self, member: Member) -> None:
        """It is there no more; `member` is what was added."""
        self._count(member, -1)
        roles = self._templates[member.revision]
        roles[member.role] -= Counter([member.digest])
        if not roles[member.role]:
            del roles[member.role]
        if not roles:
            del self._templates[member.revision]
        self._slices -= Counter([member.slice_index])

    @property
    def templates(self) -> Templates:
        """By revision and role."""
        return self._templates

    @property
    def slices(self) -> Mapping[int, int]:
        """How many members each slice has that has any."""
        return self._slices

    def role(self, role: str, *, key: RevisionKey) -> RoleTotals:
        """The totals of one role; `key` is the wanted revision."""
        total = RoleTotals()
        for revision in self._templates:
            one = self._sums.get((role, revision))
            if one is not None:
                total = _sum(total, one if revision == key else one._replace(updated=0))
        return total

    def _count(self, member: Member, sign: int) -> None:
        place = member.role, member.revision
        one = RoleTotals(1, member.wanted, member.replicas, member.ready, member.updated)
        signed = RoleTotals(*(sign * number for number in one))
        total = _sum(self._sums.get(place, RoleTotals()), signed)
        if total.members:
            self._sums[place] = total
        else:
            self._sums.pop(place, None)


def _sum(one: RoleTotals, other: RoleTotals) -> RoleTotals:
    return RoleTotals(*(a + b for a, b in zip(one, other, strict=True)))
