"""What the API server has, and what it had a moment ago."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from lws.api import names
from lws.simulation.judge.past import Past
from lws.simulation.judge.wire import (
    Group,
    Json,
    Place,
    group_of,
    is_leader,
    is_ready,
    is_terminating,
    labels_of,
    owner_of,
    place_of,
    restarts_of,
    size_of,
    uid_of,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a group stands: its leader pod, and whether all of it serves."""

    leader: str
    """UID; empty: it has none."""
    key: str
    is_ready: bool


class Books:
    """Takes in every write, and answers what is and what was."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[Place, Json]] = defaultdict(dict)
        self._members: dict[Group, dict[Place, Json]] = defaultdict(dict)
        self._standings: dict[Group, Past[Standing]] = defaultdict(Past)
        self._specs: dict[str, Past[Json]] = defaultdict(Past)
        self.losses: dict[str, list[str]] = defaultdict(list)
        """By the leader's UID: what its group has lost since it lives."""
        self.taken: set[str] = set()
        """Leaders that went by an update or by the operator's own hand."""
        self.family: set[str] = set()
        """UIDs of all sets and leaders that ever were."""

    def get(self, plural: str, place: Place) -> Json | None:
        """One object."""
        return self._objects[plural].get(place)

    def all(self, plural: str) -> list[Json]:
        """Every object of a kind."""
        return list(self._objects[plural].values())

    def members(self, group: Group) -> Iterable[Json]:
        """The pods of a group, whatever life of it they belong to."""
        return self._members[group].values()

    def groups(self, namespace: str, lws: str) -> dict[int, list[Json]]:
        """The pods of every group of a set."""
        found = {
            group[2]: list(pods.values())
            for group, pods in self._members.items()
            if group[:2] == (namespace, lws) and pods
        }
        return dict(sorted(found.items()))

    def specs_since(self, uid: str, start: float) -> list[Json]:
        """Every spec that a set had at some moment from `start` on."""
        return self._specs[uid].since(start)

    def specs_ever(self, uid: str) -> list[Json]:
        """Every spec that it had."""
        return self._specs[uid].ever()

    def standings_since(self, group: Group, start: float) -> list[Standing]:
        """Every way in which a group stood from `start` on."""
        return self._standings[group].since(start)

    def standing(self, group: Group) -> Standing:
        """How it stands now."""
        place = group[0], names.leader_pod_name(group[1], group[2])
        leader = self._members[group].get(place)
        if leader is None or is_terminating(leader):
            return Standing("", "", False)
        key = labels_of(leader).get(names.REVISION_KEY, "")
        return Standing(uid_of(leader), key, self._serves(leader, group))

    def _serves(self, leader: Json, group: Group) -> bool:
        if not is_ready(leader):
            return False
        size = size_of(leader)
        if size == 1:
            return True
        workers = self.get("statefulsets", place_of(leader))
        if workers is None or owner_of(workers) != uid_of(leader):
            return False
        own = uid_of(workers)
        ready = sum(
            is_ready(pod)
            for pod in self.members(group)
            if owner_of(pod) == own and not is_leader(pod)
        )
        return ready >= size - 1

    # Taking in

    def note(self, now: float, plural: str, new: Json | None, old: Json | None) -> None:
        """A write that is done."""
        obj = new if new is not None else old
        assert obj is not None, "a write has an object"
        self._note_losses(plural, new, old)
        if new is None:
            self._objects[plural].pop(place_of(obj), None)
        else:
            self._objects[plural][place_of(new)] = new
        if plural in ("leaderworkersets", "disaggregatedsets") and new is not None:
            self.family.add(uid_of(new))
            self._specs[uid_of(new)].note(now, new["spec"])
        if plural == "pods":
            self._note_pod(now, new, old)
        if plural == "statefulsets":
            self._note_group_of_workers(now, obj)

    def _note_pod(self, now: float, new: Json | None, old: Json | None) -> None:
        groups = []
        for pod in (old, new):
            group = None if pod is None else group_of(pod)
            if group is not None and pod is not None:
                self._members[group].pop(place_of(pod), None)
                groups.append(group)
        if new is not None and groups and group_of(new) == groups[-1]:
            self._members[groups[-1]][place_of(new)] = new
            if is_leader(new):
                self.family.add(uid_of(new))
        for group in dict.fromkeys(groups):
            self._standings[group].note(now, self.standing(group))

    def _note_group_of_workers(self, now: float, workers: Json) -> None:
        index = labels_of(workers).get(names.GROUP_INDEX, "")
        if index.isdecimal() and names.NAME in labels_of(workers):
            group = (place_of(workers)[0], labels_of(workers)[names.NAME], int(index))
            self._standings[group].note(now, self.standing(group))

    def _note_losses(self, plural: str, new: Json | None, old: Json | None) -> None:
        """What a group lost, by the leader whose life it was a part of."""
        if old is None or plural not in ("pods", "statefulsets"):
            return
        leader, what = self._leader_uid(plural, old), place_of(old)[1]
        if not leader:
            return
        if new is None or (is_terminating(new) and not is_terminating(old)):
            if plural == "statefulsets" or not is_leader(old):
                self.losses[leader].append(f"{what} deleted")
            return
        if plural != "pods":
            return
        phase = (new.get("status") or {}).get("phase", "")
        if phase in ("Failed", "Unknown"):
            self.losses[leader].append(f"{what} {phase}")
        if restarts_of(new) > restarts_of(old):
            self.losses[leader].append(f"{what} restarted")

    def _leader_uid(self, plural: str, obj: Json) -> str:
        """The leader of whose life a pod or a worker StatefulSet is a part; empty: of none."""
        if plural == "statefulsets":
            return owner_of(obj) if names.GROUP_INDEX in labels_of(obj) else ""
        if is_leader(obj):
            return uid_of(obj)
        group = group_of(obj)
        if group is None:
            return ""
        workers = self.get("statefulsets", (group[0], names.leader_pod_name(group[1], group[2])))
        return owner_of(workers) if workers and uid_of(workers) == owner_of(obj) else ""
