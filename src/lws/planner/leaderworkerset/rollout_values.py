"""What the rolling update reads and what it may do: frozen values, no rules."""

import msgspec


class LeaderStatefulSet(msgspec.Struct, frozen=True, gc=False):
    """The leader StatefulSet as it stands.

    `partition` is the one in force, or the one remembered in an annotation while the strategy
    is OnDelete. `observed`: True if its controller has seen this spec, False if it is behind,
    None if no controller ever reported. `applied_replicas` is spec.replicas of the
    LeaderWorkerSet at our last write.
    """

    replicas: int
    partition: int
    on_delete: bool
    key: str
    observed: bool | None
    applied_replicas: int


class Group(msgspec.Struct, frozen=True, gc=False):
    """One group by its leader: key None if it has no leader or one that is going.

    `long_unready`: not ready for so long that waiting for it is pointless.
    """

    key: str | None
    ready: bool
    long_unready: bool


class SetRollout(msgspec.Struct, frozen=True, gc=False):
    """Apply all of this to the leader StatefulSet, in one write, and record spec.replicas."""

    replicas: int
    partition: int
    on_delete: bool
    key: str


class DeleteLeader(msgspec.Struct, frozen=True, gc=False):
    """Delete this group's leader, so that it comes back at the revision wanted."""

    ordinal: int
