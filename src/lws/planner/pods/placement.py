"""`exclusive-topology`: the workers go where the leader went."""

from dataclasses import dataclass

from lws.api.core import Pod
from lws.planner.actions import Action, WakeAfter
from lws.planner.pods import events
from lws.planner.pods.snapshot import GroupSnapshot

# Nodes are not watched: their labels change when a person or a cloud controller sets them.
_MISSING_LABEL_SECONDS = 30.0
_UNREAD_NODE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the workers may run; `waits` is what to do instead while that is not known."""

    node_selector: dict[str, str] | None
    waits: tuple[Action, ...] = ()


def placement(snapshot: GroupSnapshot, leader: Pod) -> Placement:
    """The node selector of the workers: empty where the leader may be anywhere."""
    topology = leader.metadata.annotations.exclusive_topology
    if not topology:
        return Placement(node_selector={})
    if not leader.spec.node_name:
        return Placement(node_selector=None)
    node = snapshot.node
    if node is None or not node.known:
        return Placement(node_selector=None, waits=(WakeAfter(_UNREAD_NODE_SECONDS),))
    if node.topology is None:
        note = (
            f"Node {leader.spec.node_name} of leader pod {leader.metadata.name} has no label "
            f"{topology}, which exclusive placement asks for; its workers wait for it"
        )
        missing = events.warning(
            snapshot.lws, reason=events.MISSING_TOPOLOGY, action=events.CREATE, note=note
        )
        return Placement(node_selector=None, waits=(missing, WakeAfter(_MISSING_LABEL_SECONDS)))
    return Placement(node_selector={topology: node.topology})
