"""Old revisions of one slice as the planner sees them, and the roles that an update is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRevision:
    """One old revision: replicas of each role of its own, now and when the update began.

    `created` is that of its newest LeaderWorkerSet, in seconds since the epoch. A role that
    `initial_replicas` lacks (its LeaderWorkerSet has no annotation) began with what it has now.
    """

    name: str
    created: float
    replicas: Mapping[str, int]
    initial_replicas: Mapping[str, int] = field(default_factory=dict)

    def initial(self, role: str) -> int:
        """Replicas of `role` when the update began."""
        return self.initial_replicas.get(role, self.replicas.get(role, 0))


def newest_first(revisions: Iterable[OldRevision]) -> list[OldRevision]:
    """In the order of draining: an update that was superseded goes before the one that served."""
    return sorted(revisions, key=lambda revision: (-revision.created, revision.name))


def merged_roles(spec_roles: Sequence[str], revisions: Iterable[OldRevision]) -> tuple[str, ...]:
    """Roles of the spec in its order, then those that only old revisions have, sorted."""
    present = {role for revision in revisions for role in revision.replicas}
    return (*spec_roles, *sorted(present.difference(spec_roles)))


def old_replicas(role: str, revisions: Iterable[OldRevision]) -> int:
    """Replicas that old revisions have of a role now."""
    return sum(revision.replicas.get(role, 0) for revision in revisions)


def initial_old_replicas(role: str, revisions: Iterable[OldRevision]) -> int:
    """Replicas that old revisions had of a role when the update began."""
    return sum(revision.initial(role) for revision in revisions)
