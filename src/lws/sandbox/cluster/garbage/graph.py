"""Who owns whom, by UID. An owner that nobody has seen yet is in it too, as a virtual node."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lws.client.resources import Resource
from lws.sandbox.cluster.objects import (
    finalizers_of,
    is_terminating,
    name_of,
    namespace_of,
    owners_of,
    uid_of,
)
from lws.sandbox.server.verbs import JsonObject

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(slots=True, eq=False)
class Node:
    """One object; `resource` is None for a virtual node, which is only known by references."""

    uid: str
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    owners: tuple[JsonObject, ...] = ()
    dependents: dict[str, "Node"] = field(default_factory=dict)
    is_terminating: bool = False
    is_foreground: bool = False
    """Does it wait for the end of its dependents?"""
    is_orphaning: bool = False
    """Does it wait until its dependents are let go?"""

    @property
    def is_virtual(self) -> bool:
        """Has no watch told of it?"""
        return self.resource is None

    def blockers(self) -> list["Node"]:
        """The dependents whose end it waits for, in a foreground deletion."""
        return [
            node
            for node in self.dependents.values()
            if any(one["uid"] == self.uid and one.get("blockOwnerDeletion") for one in node.owners)
        ]


class Graph:
    """All nodes. Its methods return the UIDs of the nodes that have to be looked at."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def put(self, resource: Resource, obj: JsonObject) -> Iterable[str]:
        """An object is there, or has changed."""
        uid = uid_of(obj)
        node = self.nodes.get(uid)
        if node is None:
            node = self.nodes[uid] = Node(uid)
        due: dict[str, None] = {}  # a set that keeps its order: a run can be repeated
        if node.is_virtual:
            node.resource = resource
            node.namespace, node.name = namespace_of(obj), name_of(obj)
            due.update(dict.fromkeys(node.dependents))  # they may mean another place by this UID
        due.update(dict.fromkeys(self._link(node, tuple(owners_of(obj)))))
        due.update(dict.fromkeys(_begin(node, obj)))
        return due

    def remove(self, uid: str) -> Iterable[str]:
        """An object is gone."""
        node = self.nodes.get(uid)
        if node is None:
            return ()
        due = dict.fromkeys(node.dependents)
        due.update(dict.fromkeys(self._unlink(node)))
        if node.dependents:  # as virtual, until they have gone or let it go
            node.resource, node.owners = None, ()
            node.is_terminating = node.is_foreground = node.is_orphaning = False
        else:
            del self.nodes[uid]
        return due

    def _link(self, node: Node, owners: tuple[JsonObject, ...]) -> Iterable[str]:
        """Enter its owners; those that it blocks no more are due, and unknown ones make it due."""
        if owners == node.owners:
            return
        before = {one["uid"]: one for one in node.owners}
        after = {one["uid"]: one for one in owners}
        node.owners = owners
        for uid in [one for one in after if one not in before]:
            owner = self.nodes.get(uid)
            if owner is None:
                owner = self.nodes[uid] = Node(uid)
            owner.dependents[node.uid] = node
            is_elsewhere = owner.namespace not in ("", node.namespace)
            is_other = owner.name != after[uid]["name"]
            if owner.is_virtual or is_elsewhere or is_other or owner.is_foreground:
                yield node.uid
        for uid in [one for one in before if one not in after]:
            yield from self._forget(node, uid)
        for uid in before:
            if uid in after and before[uid] != after[uid]:
                yield uid

    def _unlink(self, node: Node) -> Iterable[str]:
        for owner in node.owners:
            yield from self._forget(node, owner["uid"])

    def _forget(self, node: Node, uid: str) -> Iterable[str]:
        owner = self.nodes.get(uid)
        if owner is None:
            return
        owner.dependents.pop(node.uid, None)
        if owner.is_foreground:
            yield uid
        if owner.is_virtual and not owner.dependents:
            del self.nodes[uid]


def _begin(node: Node, obj: JsonObject) -> Iterable[str]:
    """Whether its deletion has begun, and of which kind."""
    node.is_terminating = is_terminating(obj)
    finalizers = finalizers_of(obj) if node.is_terminating else ()
    was_foreground, was_orphaning = node.is_foreground, node.is_orphaning
    node.is_foreground = FOREGROUND in finalizers
    node.is_orphaning = ORPHAN in finalizers
    if node.is_foreground and not was_foreground:
        yield node.uid
        yield from node.dependents
    if node.is_orphaning and not was_orphaning:
        yield node.uid
