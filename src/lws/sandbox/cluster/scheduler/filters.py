"""Why a node will not do for a pod, in the scheduler's own words and order."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lws.sandbox.cluster.scheduler.needs import ANY_ADDRESS, Needs, Spread, Term
from lws.sandbox.cluster.scheduler.world import Domain, NodeInfo, World

_FORBIDDING = frozenset(("NoSchedule", "NoExecute"))
_UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_EMPTY = Domain()
_ANY_PODS = frozenset(("pods", "companions"))


@dataclass(frozen=True, slots=True)
class Refusal:
    """One node's reasons; could they be helped by ending other pods?"""

    reasons: tuple[str, ...]
    is_resolvable: bool
    causes: frozenset[str]
    """What has to change: node, room, pods (that go), companions (that come)."""


def _final(reason: str, cause: str = "node") -> Refusal:
    return Refusal((reason,), is_resolvable=False, causes=frozenset((cause,)))


def _resolvable(*reasons: str, cause: str = "room") -> Refusal:
    return Refusal(reasons, is_resolvable=True, causes=frozenset((cause,)))


class Filter:
    """Judges all nodes for one pod; counts each part of a topology once."""

    def __init__(self, world: World, needs: Needs) -> None:
        self._world = world
        self._needs = needs
        world.know(needs)
        self._counts: dict[tuple[Term, str], int] = {}
        self._conflicts: dict[tuple[str, str], bool] = {}
        self._has_companions = any(
            domain.count(term)
            for term in needs.affinity
            for domain in world.topology(term.topology_key).values()
        )
        self._matches_itself = all(
            term.matches(needs.namespace, needs.labels) for term in needs.affinity
        )
        self._spreads = [(one, self._spread_counts(one)) for one in needs.spreads]

    def refusal(self, node: NodeInfo) -> Refusal | None:
        """The first that there is."""
        for check in _CHECKS:
            refusal = check(self, node)
            if refusal is not None:
                return refusal
        return None

    def is_chosen(self, node: NodeInfo) -> bool:
        """Do the pod's node selector and node affinity want the node?"""
        needs = self._needs
        if any(node.labels.get(key) != value for key, value in needs.node_selector.items()):
            return False
        if needs.node_terms is None:
            return True
        return any(term.matches(node.name, node.labels) for term in needs.node_terms)

    def _unschedulable(self, node: NodeInfo) -> Refusal | None:
        if node.is_unschedulable and not tolerates(self._needs.tolerations, _UNSCHEDULABLE):
            return _final("node(s) were unschedulable")
        return None

    def _taints(self, node: NodeInfo) -> Refusal | None:
        for taint in node.taints:
            forbids = taint.get("effect") in _FORBIDDING
            if forbids and not tolerates(self._needs.tolerations, taint):
                return _final("node(s) had untolerated taint(s)")
        return None

    def _node_affinity(self, node: NodeInfo) -> Refusal | None:
        if self.is_chosen(node):
            return None
        return _final("node(s) didn't match Pod's node affinity/selector")

    def _ports(self, node: NodeInfo) -> Refusal | None:
        if not self._needs.ports:
            return None
        taken = [port for needs in node.pods.values() for port in needs.ports]
        if any(_collide(one, other) for one in self._needs.ports for other in taken):
            return _resolvable("node(s) didn't have free ports for the requested pod ports")
        return None

    def _room(self, node: NodeInfo) -> Refusal | None:
        reasons, fits_empty = [], True
        for name, needed in sorted(self._needs.requests.items(), key=_resource_order):
            room = node.allocatable.get(name, 0)
            if node.used[name] + needed > room:
                reasons.append("Too many pods" if name == "pods" else f"Insufficient {name}")
                fits_empty = fits_empty and needed <= room
        if not reasons:
            return None
        return Refusal(tuple(reasons), is_resolvable=fits_empty, causes=frozenset(("room",)))

    def _spread(self, node: NodeInfo) -> Refusal | None:
        reason = "node(s) didn't match pod topology spread constraints"
        for spread, counts in self._spreads:
            value = node.labels.get(spread.term.topology_key)
            if value is None:
                return _final(f"{reason} (missing required label)")
            least = min(counts.values(), default=0) if len(counts) >= spread.min_domains else 0
            more = spread.term.matches(self._needs.namespace, self._needs.labels)
            if counts.get(value, 0) + more - least > spread.max_skew:
                return Refusal((reason,), is_resolvable=True, causes=_ANY_PODS)
        return None

    def _affinity(self, node: NodeInfo) -> Refusal | None:
        """With companions; the first of a group that seeks itself goes anywhere."""
        missing = False
        for term in self._needs.affinity:
            value = node.labels.get(term.topology_key)
            if value is None:
                return _final("node(s) didn't match pod affinity rules", "companions")
            missing = missing or not self._count(term, value)
        if missing and (self._has_companions or not self._matches_itself):
            return _final("node(s) didn't match pod affinity rules", "companions")
        return None

    def _anti_affinity(self, node: NodeInfo) -> Refusal | None:
        for term in self._needs.anti_affinity:
            value = node.labels.get(term.topology_key)
            if value is not None and self._count(term, value):
                return _resolvable("node(s) didn't match pod anti-affinity rules", cause="pods")
        return None

    def _others_anti_affinity(self, node: NodeInfo) -> Refusal | None:
        """Other pods do not want this one beside them."""
        reason = "node(s) didn't satisfy existing pods anti-affinity rules"
        for key, domains in self._world.topologies():
            value = node.labels.get(key)
            domain = domains.get(value) if value is not None else None
            if value is None or domain is None or not domain.anti_affinity:
                continue
            if (key, value) not in self._conflicts:
                self._conflicts[key, value] = any(
                    term.matches(self._needs.namespace, self._needs.labels)
                    for term in domain.anti_affinity
                )
            if self._conflicts[key, value]:
                return _resolvable(reason, cause="pods")
        return None

    def _count(self, term: Term, value: str) -> int:
        if (term, value) not in self._counts:
            domain = self._world.topology(term.topology_key).get(value, _EMPTY)
            self._counts[term, value] = domain.count(term)
        return self._counts[term, value]

    def _spread_counts(self, spread: Spread) -> Mapping[str, int]:
        """How many of the pods there are in each part that the pod may go to."""
        domains = self._world.topology(spread.term.topology_key)
        values = {
            value
            for node in self._world.there()
            if (value := node.labels.get(spread.term.topology_key)) is not None
            and self.is_chosen(node)
        }
        return {value: domains.get(value, _EMPTY).count(spread.term) for value in values}


_CHECKS: tuple[Callable[[Filter, NodeInfo], Refusal | None], ...] = (
    Filter._unschedulable,
    Filter._taints,
    Filter._node_affinity,
    Filter._ports,
    Filter._room,
    Filter._spread,
    Filter._affinity,
    Filter._anti_affinity,
    Filter._others_anti_affinity,
)


def tolerates(tolerations: Iterable[Mapping[str, Any]], taint: Mapping[str, Any]) -> bool:
    """Does one of them tolerate the taint?"""
    return any(is_tolerated(one, taint) for one in tolerations)


def is_tolerated(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Does this one?"""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (
        (toleration.get("value") or "") == (taint.get("value") or "")
    )


def _collide(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    same_address = one[0] == other[0] or ANY_ADDRESS in (one[0], other[0])
    return same_address and one[1:] == other[1:]


_FIRST = ("pods", "cpu", "memory", "ephemeral-storage")


def _resource_order(entry: tuple[str, int]) -> tuple[int, str]:
    name = entry[0]
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST)), name
