"""Leaders beyond the StatefulSet's replicas that keep a group below from coming back.

Beyond leaderworkerset.md section 3. The StatefulSet controller (Kubernetes 1.36) makes what is
missing before it removes what is too many, and ends its pass at the first creation that is
refused. Where a quota fits the groups and the surge took the place of a missing one, it waits for
room that only its own next step would make. These pods are condemned anyway: we do it earlier.
"""

from dataclasses import dataclass

from lws.planner.leaderworkerset.snapshot import LeaderWorkerSetSnapshot
from lws.planner.leaderworkerset.statefulset import applied_at
from lws.planner.pods.snapshot import GroupFacts

PATIENCE_SECONDS = 5.0
"""How long the StatefulSet controller has, from our last apply on; it needs a fraction of this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condemned:
    """Groups to remove in the StatefulSet controller's place, `after` so many seconds."""

    groups: tuple[GroupFacts, ...] = ()
    after: float = 0.0

    @property
    def due(self) -> tuple[GroupFacts, ...]:
        """Those whose time has come."""
        return () if self.after > 0 else self.groups


NOBODY = Condemned()


def condemned(snapshot: LeaderWorkerSetSnapshot) -> Condemned:
    """Groups that live beyond the replicas while one below has no leader at all."""
    statefulset = snapshot.statefulset
    if statefulset is None:
        return NOBODY
    replicas = statefulset.spec.replicas
    led = sum(facts.index < replicas for facts in snapshot.groups if facts.leader_uid is not None)
    beyond = (facts for facts in snapshot.groups if facts.index >= replicas)
    groups = tuple(facts for facts in beyond if facts.key is not None)
    if led == replicas or not groups:
        return NOBODY
    since = applied_at(snapshot)
    after = 0.0 if since is None else max(0.0, since + PATIENCE_SECONDS - snapshot.now)
    return Condemned(groups=groups, after=after)
