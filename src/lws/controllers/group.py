"""The group controller: one pass over one group makes what its leader should have."""

from lws.client import resources
from lws.client.errors import NotFound
from lws.client.kubernetes import KubernetesClient
from lws.controllers.outcomes import next_look
from lws.executor.families import Families, GroupKey
from lws.executor.perform import Family, Performer
from lws.planner.actions import WakeAfter
from lws.planner.pods.gang import Gang
from lws.planner.pods.group import plan_group
from lws.planner.pods.snapshot import GroupSnapshot, LeaderNode

STALE_SECONDS = 1.0
"""Until a cache that lies behind is looked at again, should no event come first."""


class GroupController:
    """Observe, plan, perform."""

    def __init__(
        self,
        *,
        families: Families,
        performer: Performer,
        client: KubernetesClient,
        gang: Gang | None = None,
    ) -> None:
        self._gang = gang
        self._families = families
        self._performer = performer
        self._client = client

    async def reconcile(self, key: GroupKey) -> float | None:
        """One pass; seconds until time alone may bring the next."""
        snapshot = self._families.group(key)
        if snapshot is not None and _asks_for_node(snapshot):
            node = await self._node(snapshot)
            snapshot = self._families.group(key, node=node)
        if snapshot is None:
            return None
        if _may_have_ended(snapshot) and not await self._lives(snapshot):
            return STALE_SECONDS
        actions = plan_group(snapshot, gang=self._gang)
        strands = [(action,) for action in actions]
        failures = await self._performer.strands(group_family_of(key), strands)
        wishes = [action.seconds for action in actions if isinstance(action, WakeAfter)]
        return next_look(failures, wishes)

    async def _lives(self, snapshot: GroupSnapshot) -> bool:
        """Whether the leader that the cache shows is there, asked of the server."""
        assert snapshot.leader is not None, "asked only of a leader that is cached"
        meta = snapshot.leader.metadata
        try:
            pod = await self._client.get(resources.PODS, namespace=meta.namespace, name=meta.name)
        except NotFound:
            return False
        found = pod["metadata"]
        return found["uid"] == meta.uid and not found.get("deletionTimestamp")

    async def _node(self, snapshot: GroupSnapshot) -> LeaderNode:
        """The leader's node, read when the workers are to be made: nodes are not watched."""
        assert snapshot.leader is not None, "asked only of a leader that is scheduled"
        name = snapshot.leader.spec.node_name
        try:
            node = await self._client.get(resources.NODES, name=name)
        except NotFound:
            return LeaderNode(known=False, topology=None)
        labels = node["metadata"].get("labels") or {}
        key = snapshot.leader.metadata.annotations.exclusive_topology
        return LeaderNode(known=True, topology=labels.get(key))


def _may_have_ended(snapshot: GroupSnapshot) -> bool:
    """Its workers went: mostly because the leader did, and the watch of pods lies behind.

    What is made for a leader that is gone is collected at once, and made again for the next.
    """
    leader = snapshot.leader
    return (
        leader is not None
        and leader.metadata.deletion_timestamp is None
        and snapshot.statefulset is None
        and leader.metadata.uid in snapshot.membership.statefulsets.values()
    )


def _asks_for_node(snapshot: GroupSnapshot) -> bool:
    leader = snapshot.leader
    return (
        leader is not None
        and leader.metadata.deletion_timestamp is None
        and snapshot.statefulset is None
        and bool(leader.spec.node_name)
        and bool(leader.metadata.annotations.exclusive_topology)
    )


def group_family_of(key: GroupKey) -> Family:
    """Whose writes a pass makes."""
    return Family(("group", *key), (key.namespace, key.lws))
