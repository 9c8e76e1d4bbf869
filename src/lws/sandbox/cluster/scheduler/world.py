"""What is where: nodes with what their pods take, and topologies with the pods in each part."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lws.sandbox.cluster.objects import labels_of, name_of, status_of
from lws.sandbox.cluster.scheduler.needs import Needs, Term
from lws.sandbox.cluster.scheduler.quantities import milli
from lws.sandbox.server.verbs import JsonObject


@dataclass(slots=True, eq=False)
class NodeInfo:
    """One node."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, Any]] = ()
    is_unschedulable: bool = False
    is_there: bool = False
    """False: pods are said to be on it, but there is no such node."""
    allocatable: Mapping[str, int] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    pods: dict[str, Needs] = field(default_factory=dict)

    def read(self, node: JsonObject) -> None:
        """What the object says."""
        spec = node.get("spec") or {}
        status = status_of(node)
        self.labels = labels_of(node)
        self.taints = spec.get("taints") or ()
        self.is_unschedulable = bool(spec.get("unschedulable"))
        self.is_there = True
        room = status.get("allocatable") or status.get("capacity") or {}
        self.allocatable = {name: milli(str(value)) for name, value in room.items()}


@dataclass(slots=True, eq=False)
class Domain:
    """A part of a topology: all nodes with one value of a label."""

    pods: dict[str, Needs] = field(default_factory=dict)
    values: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """How many pods have which value, by namespace and label key."""
    anti_affinity: Counter[Term] = field(default_factory=Counter)

    def add(self, needs: Needs, key: str) -> None:
        """A pod is in it."""
        self.pods[needs.uid] = needs
        for label, value in needs.labels.items():
            self.values.setdefault((needs.namespace, label), Counter())[value] += 1
        self.anti_affinity.update(one for one in needs.anti_affinity if one.topology_key == key)

    def remove(self, needs: Needs, key: str) -> None:
        """It is not any more."""
        if self.pods.pop(needs.uid, None) is None:
            return
        for label, value in needs.labels.items():
            counter = self.values[needs.namespace, label]
            counter[value] -= 1
            if not counter[value]:
                del counter[value]
        for term in needs.anti_affinity:
            if term.topology_key == key:
                self.anti_affinity[term] -= 1
                if not self.anti_affinity[term]:
                    del self.anti_affinity[term]

    def count(self, term: Term) -> int:
        """How many pods it has that the term is about."""
        if not self.pods or term.requirements is None:
            return 0
        keys = {one.key for one in term.requirements}
        if len(keys) == 1 and term.namespaces is not None and _needs_label(term):
            return self._count_by_value(term, keys.pop())
        return sum(term.matches(one.namespace, one.labels) for one in self.pods.values())

    def _count_by_value(self, term: Term, key: str) -> int:
        total = 0
        for namespace in term.namespaces or ():
            for value, count in self.values.get((namespace, key), {}).items():
                if all(one.holds({key: value}) for one in term.requirements or ()):
                    total += count
        return total


def _needs_label(term: Term) -> bool:
    """Do only pods that have the label at all fulfil it?"""
    return any(one.operator in ("in", "exists") for one in term.requirements or ())


class World:
    """All nodes, and the pods on them. Topologies are kept for the keys that anybody asked for."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self._places: dict[str, tuple[str, Needs]] = {}
        self._topologies: dict[str, dict[str, Domain]] = {}

    def put_node(self, node: JsonObject) -> None:
        """A node is there, or has changed."""
        info = self.nodes.setdefault(name_of(node), NodeInfo(name_of(node)))
        is_moved = info.labels != labels_of(node)
        if is_moved:
            self._leave_topologies(info)
        info.read(node)
        if is_moved:
            self._enter_topologies(info)

    def remove_node(self, name: str) -> None:
        """A node is gone; its pods may still be there."""
        info = self.nodes.get(name)
        if info is None:
            return
        self._leave_topologies(info)
        info.is_there, info.labels = False, {}
        if not info.pods:
            del self.nodes[name]

    def there(self) -> list[NodeInfo]:
        """The nodes that are there."""
        return [info for info in self.nodes.values() if info.is_there]

    def put_pod(self, needs: Needs, node: str) -> None:
        """A pod is on a node."""
        self.remove_pod(needs.uid)
        info = self.nodes.setdefault(node, NodeInfo(node))
        info.pods[needs.uid] = needs
        info.used.update(needs.requests)
        info.owners[needs.owner] += 1
        self._places[needs.uid] = (node, needs)
        for key, domains in self._topologies.items():
            value = info.labels.get(key)
            if value is not None:
                domains.setdefault(value, Domain()).add(needs, key)

    def remove_pod(self, uid: str) -> bool:
        """A pod takes no room any more; False if it took none."""
        node, needs = self._places.pop(uid, ("", None))
        if needs is None:
            return False
        info = self.nodes[node]
        del info.pods[uid]
        info.used.subtract(needs.requests)
        info.owners[needs.owner] -= 1
        for key, domains in self._topologies.items():
            domain = domains.get(info.labels.get(key, ""))
            if domain is not None:
                domain.remove(needs, key)
        if not info.pods and not info.is_there:
            del self.nodes[node]
        return True

    def is_placed(self, uid: str) -> bool:
        """Is the pod on a node?"""
        return uid in self._places

    def topology(self, key: str) -> Mapping[str, Domain]:
        """The parts of a topology that have pods, or had."""
        domains = self._topologies.get(key)
        if domains is None:
            domains = self._topologies[key] = {}
            for node, needs in self._places.values():
                value = self.nodes[node].labels.get(key)
                if value is not None:
                    domains.setdefault(value, Domain()).add(needs, key)
        return domains

    def know(self, needs: Needs) -> None:
        """Keep all topologies that the pod's terms are about."""
        for term in (*needs.affinity, *needs.anti_affinity):
            self.topology(term.topology_key)

    def topologies(self) -> Iterable[tuple[str, Mapping[str, Domain]]]:
        """All that are kept."""
        return self._topologies.items()

    def _enter_topologies(self, info: NodeInfo) -> None:
        for key, domains in self._topologies.items():
            value = info.labels.get(key)
            if value is not None:
                for needs in info.pods.values():
                    domains.setdefault(value, Domain()).add(needs, key)

    def _leave_topologies(self, info: NodeInfo) -> None:
        for key, domains in self._topologies.items():
            domain = domains.get(info.labels.get(key, ""))
            if domain is not None:
                for needs in info.pods.values():
                    domain.remove(needs, key)
