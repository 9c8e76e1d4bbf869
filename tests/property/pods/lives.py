"""A model of one group through its lives: what happens to its objects, and what was lost.

It knows nothing of the planner: a life is a leader, a StatefulSet and the workers that this made.
"""

from dataclasses import dataclass, field
from typing import Any

from lws.api.apps import StatefulSet
from lws.api.core import Pod
from tests.unit.planner.pods.worlds import a_pod, a_statefulset, a_worker, at, container

SIZE = 3


@dataclass
class Change:
    """One change of one watch, as an informer hands it on."""

    old: Any
    new: Any


@dataclass
class Lives:
    """Objects by name; each step appends the changes that the watches would tell."""

    life: int = 0
    leader: Pod | None = None
    workers: dict[int, Pod] = field(default_factory=dict)
    statefulset: StatefulSet | None = None
    lost: bool = False
    """Whether the life that is now has lost a member."""
    pods_made: int = 0
    changes: list[Change] = field(default_factory=list)

    def step(self, what: str, index: int) -> None:
        """Something happens, if it can."""
        getattr(self, what)(index)

    def leader_comes(self, _: int) -> None:
        if self.leader is not None:
            return
        self.life += 1
        self.lost = False
        self._put_leader(a_pod(uid=f"leader-{self.life}"))

    def leader_is_replaced(self, _: int) -> None:
        """Deletion and creation in one change: a force delete."""
        if self.leader is None:
            return
        self.life += 1
        self.lost = False
        self._put_leader(a_pod(uid=f"leader-{self.life}"))

    def leader_goes(self, _: int) -> None:
        if self.leader is not None:
            self._put_leader(None)

    def leader_crashes(self, _: int) -> None:
        if self.leader is not None:
            self.lost = True
            status = [container(restarted=1, finished=at(60))]
            self._put_leader(a_pod(uid=self.leader.metadata.uid, containers=status))

    def statefulset_comes(self, _: int) -> None:
        if self.leader is None or self.statefulset is not None:
            return
        owner = self.leader.metadata.uid
        new = a_statefulset(uid=f"sts-{self.life}-{len(self.changes)}", owner=owner)
        self._put_statefulset(new)

    def statefulset_goes(self, _: int) -> None:
        if self.statefulset is not None:
            self.lost = self.lost or self._is_living(self.statefulset)
            self._put_statefulset(None)

    def worker_comes(self, index: int) -> None:
        if self.statefulset is not None and index not in self.workers:
            self._put_worker(index, self._worker(index, self.statefulset.metadata.uid))

    def worker_is_replaced(self, index: int) -> None:
        if self.statefulset is not None and index in self.workers:
            self._lose(index)
            self._put_worker(index, self._worker(index, self.statefulset.metadata.uid))

    def worker_goes(self, index: int) -> None:
        if index in self.workers:
            self._lose(index)
            self._put_worker(index, None)

    def worker_is_deleted(self, index: int) -> None:
        self._change(index, deleted=at(60))

    def worker_crashes(self, index: int) -> None:
        self._change(index, containers=[container(restarted=1, finished=at(60))])

    def worker_fails(self, index: int) -> None:
        self._change(index, phase="Failed")

    def worker_is_touched(self, index: int) -> None:
        """A change that is none to us."""
        if index in self.workers:
            self._put_worker(index, self.workers[index])

    def _change(self, index: int, **changes: Any) -> None:
        if index not in self.workers:
            return
        self._lose(index)
        metadata = self.workers[index].metadata
        [owner] = metadata.owner_references
        self._put_worker(index, a_worker(index, uid=metadata.uid, owner=owner.uid, **changes))

    def _lose(self, index: int) -> None:
        [owner] = self.workers[index].metadata.owner_references
        if self.leader is not None and owner.uid.startswith(f"sts-{self.life}-"):
            self.lost = True

    def _is_living(self, statefulset: StatefulSet) -> bool:
        return self.leader is not None and statefulset.metadata.uid.startswith(f"sts-{self.life}-")

    def _worker(self, index: int, owner: str) -> Pod:
        self.pods_made += 1
        return a_worker(index, uid=f"pod-{self.pods_made}", owner=owner)

    def _put_leader(self, new: Pod | None) -> None:
        self.changes.append(Change(self.leader, new))
        self.leader = new

    def _put_worker(self, index: int, new: Pod | None) -> None:
        self.changes.append(Change(self.workers.get(index), new))
        if new is None:
            del self.workers[index]
        else:
            self.workers[index] = new

    def _put_statefulset(self, new: StatefulSet | None) -> None:
        self.changes.append(Change(self.statefulset, new))
        self.statefulset = new


STEPS = sorted(
    name for name in vars(Lives) if name.startswith(("leader_", "statefulset_", "worker_"))
)
